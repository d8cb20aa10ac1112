// Package probe reads what Linux tells about the memory of a process, about the cgroups that limit it, and about
// the machine. Begin with Root; Process, Cgroup and Host are the questions most often asked, and Examine asks them all.
//
// It only reads, but for ResetHighWater. Where there is no /proc every question is answered by an error that says so.
package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// Root is the directory under which proc and the cgroup mounts are found: Live, or a copy of such a tree.
type Root string

// Live is the machine that the program runs on.
const Live Root = "/"

// ErrEnded says that a process has no memory to look at: it has ended, or is a kernel thread.
var ErrEnded = errors.New("the process has ended or is a kernel thread")

// path returns the place of an absolute path under the root.
func (r Root) path(elements ...string) string {
	return filepath.Join(string(r), filepath.Join("/", filepath.Join(elements...)))
}

// check returns an error where there is no process file system.
func (r Root) check() error {
	_, err := r.proc()
	return err
}

func (r Root) proc() (procfs.FS, error) {
	proc, err := procfs.NewFS(r.path("proc"))
	if err != nil {
		return proc, fmt.Errorf("probe: no process file system, live memory is read on Linux only: %w", err)
	}
	return proc, nil
}

func (r Root) process(pid int) (procfs.Proc, error) {
	proc, err := r.proc()
	if err != nil {
		return procfs.Proc{}, err
	}
	p, err := proc.Proc(pid)
	if err != nil {
		return p, r.fault(pid, err)
	}
	return p, nil
}

// fault names the process, and makes of the several errors of a process that ended meanwhile the one ErrEnded.
func (r Root) fault(pid int, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		if err := r.check(); err != nil {
			return err
		}
		err = ErrEnded
	}
	return fmt.Errorf("probe: process %d: %w", pid, err)
}

// self returns the id of the calling process as the tree under the root numbers it.
func (r Root) self() (int, error) {
	target, err := os.Readlink(r.path("proc/self"))
	if err != nil {
		return 0, fmt.Errorf("probe: no process file system, live memory is read on Linux only: %w", err)
	}
	pid, err := strconv.Atoi(target)
	if err != nil {
		return 0, fmt.Errorf("probe: %s points to %q, not to a process id", r.path("proc/self"), target)
	}
	return pid, nil
}

// processDir returns the directory of a process, that of the calling one as proc/self, which stays right for whoever
// reads its name later.
func (r Root) processDir(pid int) string {
	if self, err := r.self(); err == nil && self == pid {
		return r.path("proc/self")
	}
	return r.path("proc", strconv.Itoa(pid))
}

// readText returns the content of a small kernel file without its last newline.
func readText(path string) (string, error) {
	content, err := os.ReadFile(path)
	return strings.TrimSuffix(string(content), "\n"), err
}
