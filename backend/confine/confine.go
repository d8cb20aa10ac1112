// Package confine runs a child process under a memory limit and tells whether it was the limit that ended it.
//
// Begin with Start. The mechanisms, in the order in which they are tried:
//
//   - Cgroup: a fresh cgroup that the child is in before its program begins. The kernel kills at the limit.
//   - SystemdRun: a scope of the user's systemd, for those who may not make cgroups. The kernel kills at the limit.
//   - Watchdog: the parent reads the child's high-water mark every few milliseconds and kills above the limit, so the
//     child passes the limit by what it takes in that time. It watches the child only, not the child's children.
//
// A cgroup counts more than resident memory: page cache and kernel memory are charged to it too. The kernel takes
// page cache back before it kills, so reading a large file under a small limit is slow but not fatal.
package confine

import (
	"errors"
	"syscall"

	"headroom/model"
)

// Mechanism is a way to hold a child to a limit.
type Mechanism string

// The mechanisms. An Outcome has any but Auto; Options cannot ask for None, since a limit of 0 does.
const (
	Auto       Mechanism = ""            // the first of the others that works here
	Cgroup     Mechanism = "cgroup"      // a cgroup of our own
	SystemdRun Mechanism = "systemd-run" // a scope of systemd --user
	Watchdog   Mechanism = "watchdog"    // polling and SIGKILL
	None       Mechanism = "none"        // no limit was asked for
)

// ErrUnavailable is wrapped when a mechanism that Options force does not work on this machine, with the reason.
var ErrUnavailable = errors.New("this mechanism does not work here")

// Options say how to confine. The zero value takes the best mechanism that works.
type Options struct {
	Mechanism Mechanism
}

// Outcome is how a child ended and what memory it took. Of amounts, 0 means that it could not be told.
type Outcome struct {
	Finished bool // it ended by itself, whatever its exit code
	Killed   bool // the limit ended it; false if it died of another signal or SIGKILL
	// Starved says that the kernel killed it for want of memory, and not for this limit: that of a cgroup above was
	// reached, or the machine's memory was used up.
	Starved  bool
	Signal   syscall.Signal // what ended it, 0 if it finished
	ExitCode int            // -1 unless it finished

	Mechanism  Mechanism
	Skipped    []error     // why each mechanism that comes before this one was not taken
	LimitBytes model.Bytes // as the kernel rounded it; 0 is no limit
	LimitFile  string      // the file that held the limit; empty for the watchdog

	PeakBytes model.Bytes // of the cgroup, page cache included; it can pass the limit by a few pages; 0 without one
	OOMKills  int64       // processes of its cgroup that the kernel killed for want of memory; without one of its own, of its parent's

	// HighWater is the child's peak of resident memory since it called exec: MaxRSS if that exceeds the parent's own
	// peak (and probe.Machine.CounterError), and else the last value that polling every few milliseconds saw. It can
	// pass a cgroup's limit by the pages of files, such as the program's, that are charged to who read them first.
	HighWater model.Bytes
	// MaxRSS is ru_maxrss. The child inherits it from its parent, so it is never below the parent's own peak.
	MaxRSS model.Bytes
}
