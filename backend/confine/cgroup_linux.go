package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"headroom/backend/probe"
	"headroom/model"
)

// group is a cgroup made for one child.
type group struct {
	probe.Group
	limit model.Bytes
	dir   *os.File // open for the child to be born into, version 2 only
}

// newGroup makes a cgroup with the limit below the own cgroup, or below the nearest ancestor that takes one. Version 2
// needs an ancestor then, because a cgroup with processes in it cannot have limited children; there the controller is
// enabled for an ancestor's children if it was not, which is left so.
func newGroup(limit model.Bytes) (jail, error) {
	own, err := probe.Live.Cgroup(os.Getpid())
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, above := range own.Groups {
		g, err := makeGroup(above, limit)
		if err == nil {
			return g, nil
		}
		faults = append(faults, err)
	}
	return nil, errors.Join(faults...)
}

// ownPrefix is how the names of this process's cgroups begin, so that one that was left shows whose it is.
func ownPrefix() string { return fmt.Sprintf("headroom-%d-", os.Getpid()) }

func makeGroup(above probe.Group, limit model.Bytes) (_ *group, err error) {
	if above.Version == 2 {
		if err := takesChildren(above.Dir); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp(above.Dir, ownPrefix())
	if err != nil {
		return nil, err
	}
	g := &group{Group: probe.Group{Version: above.Version, Path: filepath.Join(above.Path, filepath.Base(dir)), Dir: dir}}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.remove())
		}
	}()
	if err := g.set(limit); err != nil {
		return nil, err
	}
	if g.Version == 2 {
		if g.dir, err = os.Open(dir); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// takesChildren prepares a version 2 cgroup for a limited child that one of its processes, or of its descendants, is
// born into. The kernel asks that the nearest common ancestor of the old and the new place be writable.
func takesChildren(dir string) error {
	if err := unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK); err != nil {
		return fmt.Errorf("%s/cgroup.procs: %w", dir, err)
	}
	control := filepath.Join(dir, "cgroup.subtree_control")
	enabled, err := os.ReadFile(control)
	if err != nil || slices.Contains(strings.Fields(string(enabled)), "memory") {
		return err
	}
	return os.WriteFile(control, []byte("+memory"), 0)
}

// set writes the limit, without swap to evade it, and reads back what the kernel made of it.
func (g *group) set(limit model.Bytes) error {
	bytes := strconv.FormatInt(int64(limit), 10)
	type setting struct {
		file, value string
		optional    bool // kernels may lack the file: without swap accounting, or before version 2 killed groups
	}
	settings := []setting{
		{"memory.limit_in_bytes", bytes, false},
		{"memory.memsw.limit_in_bytes", bytes, true},
		{"memory.swappiness", "0", true},
	}
	if g.Version == 2 {
		settings = []setting{
			{"memory.max", bytes, false},
			{"memory.swap.max", "0", true},
			{"memory.oom.group", "1", true},
		}
	}
	for _, s := range settings {
		err := os.WriteFile(filepath.Join(g.Dir, s.file), []byte(s.value), 0)
		if err != nil && !(s.optional && errors.Is(err, fs.ErrNotExist)) {
			return err
		}
	}
	set, limited, err := g.Limit()
	if err == nil && !limited {
		err = fmt.Errorf("%s did not keep the limit of %s", g.LimitFile(), limit)
	}
	g.limit = set.Bytes
	return err
}

func (g *group) describe() Outcome {
	return Outcome{Mechanism: Cgroup, LimitBytes: g.limit, LimitFile: g.LimitFile()}
}

// enter has the child born into the group (version 2). Version 1 cannot do that: there a shell moves itself into the
// group and then becomes the child's program, so that this begins inside and keeps the process number.
func (g *group) enter(cmd *exec.Cmd) {
	if g.Version == 2 {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.dir.Fd())
		return
	}
	const script = `echo 0 >"$0/cgroup.procs" && exec "$@"`
	args := []string{"sh", "-c", script, g.Dir, cmd.Path}
	cmd.Args = append(args, cmd.Args[min(1, len(cmd.Args)):]...)
	cmd.Path = "/bin/sh"
}

func (*group) observe(int, model.Bytes) bool { return false }

// tally blames the limit only if the group stood at it: the kernel counts as oom_kill also a kill for want of memory
// of an ancestor or of the machine.
func (g *group) tally() (tally, error) {
	counts, err := g.OOM()
	if err != nil {
		return tally{}, err
	}
	t := tally{oomKills: counts.Kills, limitKilled: counts.Kills > 0 && counts.AtLimit}
	if t.peak, err = g.Peak(); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return t, err
}

// removePatience is how long a killed process may take to leave its cgroup.
const removePatience = 5 * time.Second

// remove kills what is left in the group and removes it. The kernel refuses that with EBUSY until the last process,
// a reparented one included, has been reaped.
func (g *group) remove() error {
	if g.dir != nil {
		g.dir.Close()
	}
	for deadline := time.Now().Add(removePatience); ; time.Sleep(pollPeriod) {
		err := syscall.Rmdir(g.Dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return fmt.Errorf("cgroup %s could not be removed: %w", g.Dir, err)
		}
		g.killAll()
	}
}

func (g *group) killAll() {
	procs, _ := os.ReadFile(filepath.Join(g.Dir, "cgroup.procs")) // a group that is gone has no processes
	for _, field := range strings.Fields(string(procs)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended already
		}
	}
}
