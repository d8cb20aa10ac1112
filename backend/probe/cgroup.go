package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"headroom/model"
)

// ErrNoController says that the memory of a process is not under a cgroup controller that can be seen.
var ErrNoController = errors.New("no cgroup mount has the memory controller")

// Cgroup is the place of a process in the hierarchy of the memory controller.
type Cgroup struct {
	Version int     // of the cgroup interface, 1 or 2; of a hybrid layout, the one that has the memory controller
	Path    string  // as /proc/PID/cgroup has it
	Visible bool    // whether a mount shows the own cgroup; if not, Groups has only the mount's root
	Groups  []Group // own cgroup first, the mount's root last
}

// Cgroup finds the memory cgroups of a process. In a container the path of a process can lie outside of what is
// mounted, or be told from another root than the mount's. If no mounted cgroup lists the process either, the mount's
// root is the nearest that can be looked at. The error is ErrNoController when there is none.
func (r Root) Cgroup(pid int) (Cgroup, error) {
	p, err := r.process(pid)
	if err != nil {
		return Cgroup{}, err
	}
	memberships, err := p.Cgroups()
	if err != nil {
		return Cgroup{}, r.fault(pid, err)
	}
	proc, err := r.proc()
	if err != nil {
		return Cgroup{}, err
	}
	// The mounts of the reader, not of the process: its files are opened from here.
	mounts, err := proc.GetMounts()
	if err != nil {
		return Cgroup{}, fmt.Errorf("probe: cgroup mounts: %w", err)
	}
	for _, version := range []int{1, 2} {
		path, found := membership(memberships, version)
		if !found {
			continue
		}
		if points := hierarchies(mounts, version); len(points) > 0 {
			if c := r.locate(version, pid, path, points); version == 1 || c.controlled() {
				return c, nil
			}
		}
	}
	return Cgroup{}, fmt.Errorf("probe: process %d: %w", pid, ErrNoController)
}

// membership returns the path of the process in the hierarchy of a version.
func membership(memberships []procfs.Cgroup, version int) (string, bool) {
	for _, m := range memberships {
		if version == 1 && slices.Contains(m.Controllers, "memory") || version == 2 && m.HierarchyID == 0 {
			return m.Path, true
		}
	}
	return "", false
}

// hierarchies returns the mounts on which the memory controller of a version may be seen.
func hierarchies(mounts []*procfs.MountInfo, version int) []*procfs.MountInfo {
	var found []*procfs.MountInfo
	for _, m := range mounts {
		_, memory := m.SuperOptions["memory"]
		if version == 1 && m.FSType == "cgroup" && memory || version == 2 && m.FSType == "cgroup2" {
			found = append(found, m)
		}
	}
	return found
}

// locate returns the groups of a process from its own up, on the first mount that shows its path or lists it, or else
// the first mount's root.
func (r Root) locate(version, pid int, path string, mounts []*procfs.MountInfo) Cgroup {
	for _, m := range mounts {
		below, visible := pathBelow(m.Root, path)
		if !visible {
			continue
		}
		if _, err := os.Stat(r.path(m.MountPoint, below)); err == nil {
			return Cgroup{Version: version, Path: path, Visible: true, Groups: r.groups(version, m.MountPoint, below)}
		}
	}
	for _, m := range mounts {
		if below, found := r.search(pid, m.MountPoint); found {
			return Cgroup{Version: version, Path: path, Visible: true, Groups: r.groups(version, m.MountPoint, below)}
		}
	}
	return Cgroup{Version: version, Path: path, Groups: r.groups(version, mounts[0].MountPoint, "/")}
}

// search returns the path below a mount of the cgroup that lists a process. What cannot be looked into is passed over.
func (r Root) search(pid int, mount string) (below string, found bool) {
	top, process := r.path(mount), strconv.Itoa(pid)
	_ = filepath.WalkDir(top, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		procs, err := readText(filepath.Join(dir, "cgroup.procs"))
		if err != nil || !slices.Contains(strings.Fields(procs), process) {
			return nil
		}
		below, found = "/"+filepath.ToSlash(strings.TrimPrefix(dir, top)), true
		return fs.SkipAll
	})
	return below, found
}

// pathBelow returns the part of a cgroup's path below the root of a mount. A path with ".." leads out of the
// reader's cgroup namespace and is below no mount.
func pathBelow(root, path string) (string, bool) {
	if !strings.HasPrefix(path, "/") || slices.Contains(strings.Split(path, "/"), "..") {
		return "", false
	}
	if root == "/" {
		return path, true
	}
	below, found := strings.CutPrefix(path, root)
	if !found || below != "" && below[0] != '/' {
		return "", false
	}
	return "/" + strings.TrimPrefix(below, "/"), true
}

// groups returns the groups from a path below a mount up to the mount's root.
func (r Root) groups(version int, mount, below string) []Group {
	var groups []Group
	for below = path.Clean(below); ; below = path.Dir(below) {
		groups = append(groups, Group{Version: version, Path: below, Dir: r.path(mount, below)})
		if below == "/" {
			return groups
		}
	}
}

// controlled reports whether a version 2 hierarchy has the memory controller: in hybrid layouts version 1 may have it.
func (c Cgroup) controlled() bool {
	controllers, err := readText(c.Groups[len(c.Groups)-1].Dir + "/cgroup.controllers")
	return err == nil && slices.Contains(strings.Fields(controllers), "memory")
}

// Limits returns the limits of every group on the path, own group first. Under version 1 a tighter limit that an unseen
// ancestor sets comes last, since the kernel tells it to all descendants. The error joins what could not be read.
func (c Cgroup) Limits() (Limits, error) {
	var limits Limits
	var faults []error
	for _, g := range c.Groups {
		for _, read := range []func() (Limit, bool, error){g.Limit, g.High} {
			limit, limited, err := read()
			faults = append(faults, err)
			if limited {
				limit.Used = g.used()
				limits = append(limits, limit)
			}
		}
	}
	if c.Version == 1 {
		above, limited, err := c.Groups[0].inherited()
		faults = append(faults, err)
		tighter := func(l Limit) bool { return l.Bytes <= above.Bytes }
		if limited && !slices.ContainsFunc(limits, tighter) {
			limits = append(limits, above)
		}
	}
	return limits, errors.Join(faults...)
}

// Usage is what a cgroup holds.
type Usage struct {
	Current model.Bytes
	Peak    model.Bytes // 0 where the kernel does not tell
}

// Usage reads the nearest group that counts memory: under version 2 the controller need not be enabled all the way
// down. The error wraps fs.ErrNotExist when none on the path does.
func (c Cgroup) Usage() (Usage, error) {
	var u Usage
	for _, g := range c.Groups {
		current, err := g.Current()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return u, err
		}
		u.Current = current
		if u.Peak, err = g.Peak(); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return u, err
	}
	return u, fmt.Errorf("probe: cgroup %s: no group on the path counts memory: %w", c.Path, fs.ErrNotExist)
}
