package confine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"headroom/backend/probe"
	"headroom/model"
)

// scope is a transient scope of the user's systemd, which owns the cgroup and removes it as soon as it is empty.
type scope struct {
	unit  string
	limit model.Bytes
	run   string       // path of systemd-run
	found *probe.Group // the scope's cgroup once the child was seen in it; the poller's until that has stopped
	last  tally        // last counters that were seen there
}

var scopes atomic.Int64

// scopePatience is how long systemd may take to answer.
const scopePatience = 10 * time.Second

// newScope tries a scope with a small program first, because systemd takes the limit without a word also where it has
// no memory controller to enforce it with.
func newScope(limit model.Bytes) (jail, error) {
	run, err := exec.LookPath("systemd-run")
	if err != nil {
		return nil, err
	}
	s := &scope{run: run, limit: limit, unit: fmt.Sprintf("headroom-%d-%d.scope", os.Getpid(), scopes.Add(1))}
	if err := s.try(); err != nil {
		return nil, err
	}
	return s, nil
}

// try runs cat in a trial scope: when it echoes a line it is inside, and stays until its input is closed.
func (s *scope) try() error {
	ctx, cancel := context.WithTimeout(context.Background(), scopePatience)
	defer cancel()
	args := s.arguments("trial-" + s.unit)
	cmd := exec.CommandContext(ctx, s.run, append(args[1:], "cat")...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		return err
	}
	_, writeErr := in.Write([]byte("\n"))
	_, readErr := bufio.NewReader(out).ReadByte()
	enforced, limitErr := s.enforced(cmd.Process.Pid)
	in.Close()
	if waitErr := cmd.Wait(); waitErr != nil || writeErr != nil || readErr != nil {
		return fmt.Errorf("%w: %s", errors.Join(waitErr, writeErr, readErr), strings.TrimSpace(complaint.String()))
	}
	if limitErr == nil && !enforced {
		limitErr = errors.New("the user's systemd does not enforce MemoryMax: the memory controller is not delegated to it")
	}
	return limitErr
}

// enforced reports whether the process is in a cgroup of its scope that has the limit, rounded to pages.
func (s *scope) enforced(pid int) (bool, error) {
	cgroup, err := probe.Live.Cgroup(pid)
	if err != nil {
		return false, err
	}
	limit, limited, err := cgroup.Groups[0].Limit()
	page := model.Bytes(os.Getpagesize())
	return limited && limit.Bytes/page == s.limit/page, err
}

// arguments is systemd-run's argument list up to the program to run.
func (s *scope) arguments(unit string) []string {
	return []string{
		"systemd-run", "--user", "--scope", "--quiet", "--unit=" + unit,
		"-p", "MemoryMax=" + strconv.FormatInt(int64(s.limit), 10), "-p", "MemorySwapMax=0", "--",
	}
}

func (s *scope) describe() Outcome {
	out := Outcome{Mechanism: SystemdRun, LimitBytes: s.limit}
	if s.found != nil {
		out.LimitFile = s.found.LimitFile()
	}
	return out
}

// enter prefixes the command with systemd-run, which moves itself into the scope and then becomes the program. It finds
// the user's systemd through two variables that the command's environment may lack.
func (s *scope) enter(cmd *exec.Cmd) {
	args := append(s.arguments(s.unit), cmd.Path)
	cmd.Args = append(args, cmd.Args[min(1, len(cmd.Args)):]...)
	cmd.Path = s.run
	if cmd.Env == nil {
		return
	}
	for _, name := range []string{"XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append([]string{name + "=" + value}, cmd.Env...) // of equal names the last counts
		}
	}
}

// observe keeps the counters of the scope's cgroup, since systemd may remove it before they can be read at the end.
func (s *scope) observe(pid int, _ model.Bytes) bool {
	if s.found == nil {
		cgroup, err := probe.Live.Cgroup(pid)
		if err != nil || !strings.HasSuffix(cgroup.Path, "/"+s.unit) || !cgroup.Visible {
			return false
		}
		s.found = &cgroup.Groups[0]
	}
	s.read()
	return false
}

// read takes the counters if they are still there.
func (s *scope) read() bool {
	g := group{Group: *s.found}
	t, err := g.tally()
	if err == nil {
		s.last = t
	}
	return err == nil
}

// tally reads the counters a last time. If systemd has removed them it is asked how the scope ended; it does not tell
// the scope's limit from an ancestor's.
func (s *scope) tally() (tally, error) {
	if s.found != nil && s.read() {
		return s.last, nil
	}
	result, err := s.result()
	if result == "oom-kill" {
		s.last.oomKills = max(s.last.oomKills, 1)
		s.last.limitKilled = true
	}
	return s.last, err
}

// result asks systemd for the scope's result once the scope is over: "success", "oom-kill" or another of its words.
func (s *scope) result() (string, error) {
	for deadline := time.Now().Add(scopePatience); ; time.Sleep(pollPeriod) {
		shown, err := systemctl("show", "--property=ActiveState,Result", s.unit)
		if err != nil {
			return "", err
		}
		properties := parseProperties(shown)
		switch properties["ActiveState"] {
		case "inactive", "failed":
			return properties["Result"], nil
		case "":
			return "", fmt.Errorf("systemctl tells nothing of %s", s.unit)
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("systemd still has %s as %s %s after its end",
				s.unit, properties["ActiveState"], scopePatience)
		}
	}
}

// parseProperties reads lines of "key=value".
func parseProperties(text string) map[string]string {
	properties := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, found := strings.Cut(strings.TrimRight(line, "\n"), "="); found {
			properties[key] = value
		}
	}
	return properties
}

// remove stops what is left in the scope and has systemd forget it. Either command fails when there is nothing to do.
func (s *scope) remove() error {
	_, _ = systemctl("kill", "--signal=KILL", s.unit)
	_, _ = systemctl("stop", s.unit)
	_, _ = systemctl("reset-failed", s.unit)
	if s.found == nil {
		return nil
	}
	if _, err := os.Stat(s.found.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return (&group{Group: *s.found}).remove()
}

func systemctl(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), scopePatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", append([]string{"--user"}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("systemctl --user %s: %w", strings.Join(args, " "), err)
	}
	return string(out), nil
}
