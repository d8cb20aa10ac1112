package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"headroom/backend/probe"
	"headroom/model"
)

// jail is one mechanism at work on one child.
type jail interface {
	// describe returns an Outcome with the mechanism, its limit, and the limit's file once that is known.
	describe() Outcome
	// enter changes a command so that its program begins inside.
	enter(cmd *exec.Cmd)
	// observe is told the child's high-water mark every few milliseconds; true asks for the child's death.
	observe(pid int, highWater model.Bytes) bool
	// tally reads the counters when the child is dead.
	tally() (tally, error)
	// remove kills what is left inside and takes the jail away.
	remove() error
}

// tally is what a jail knows at the end.
type tally struct {
	peak        model.Bytes
	oomKills    int64
	limitKilled bool // a process was killed because of this limit
}

type maker struct {
	name Mechanism
	make func(limit model.Bytes) (jail, error)
}

// makers lists the mechanisms in the order in which they are tried.
var makers = []maker{
	{Cgroup, newGroup}, {SystemdRun, newScope}, {Watchdog, newWatchdog},
}

// choose makes the jail for a limit, and says why it passed over the mechanisms before it.
func choose(limit model.Bytes, forced Mechanism) (chosen jail, skipped []error, err error) {
	switch {
	case !slices.Contains([]Mechanism{Auto, Cgroup, SystemdRun, Watchdog}, forced):
		return nil, nil, fmt.Errorf("confine: mechanism %q: it must be %q, %q or %q", forced, Cgroup, SystemdRun, Watchdog)
	case limit == 0 && forced != Auto:
		return nil, nil, fmt.Errorf("confine: mechanism %q without a limit: give a limit of at least a page", forced)
	case limit == 0:
		return newFree(), nil, nil
	}
	for _, m := range makers {
		if forced != Auto && forced != m.name {
			continue
		}
		made, err := m.make(limit)
		if err == nil {
			return made, skipped, nil
		}
		skipped = append(skipped, fmt.Errorf("%s: %w", m.name, err))
	}
	return nil, nil, fmt.Errorf("confine: %w: %w", ErrUnavailable, errors.Join(skipped...))
}

// free is the jail without a limit. The child is in the cgroup of its parent, where the kernel counts whom it kills.
type free struct {
	own   *probe.Group // nil: it does not tell
	kills int64        // before
}

func newFree() free {
	cgroup, err := probe.Live.Cgroup(os.Getpid())
	if err != nil || len(cgroup.Groups) == 0 {
		return free{}
	}
	own := &cgroup.Groups[0]
	counts, err := own.OOM()
	if err != nil {
		return free{}
	}
	return free{own, counts.Kills}
}

func (free) describe() Outcome             { return Outcome{Mechanism: None} }
func (free) enter(*exec.Cmd)               {}
func (free) observe(int, model.Bytes) bool { return false }
func (free) remove() error                 { return nil }

func (f free) tally() (tally, error) {
	if f.own == nil {
		return tally{}, nil
	}
	counts, err := f.own.OOM()
	if err != nil {
		return tally{}, nil // it is not worth an outcome
	}
	return tally{oomKills: counts.Kills - f.kills}, nil
}

// watchdog kills a child whose high-water mark has passed the limit. The mark, unlike a momentary value, shows also
// what was taken and given back between two readings.
type watchdog struct {
	free
	limit model.Bytes
	fired bool // written by the poller, read when it has stopped
}

func newWatchdog(limit model.Bytes) (jail, error) {
	return &watchdog{free: newFree(), limit: limit}, nil
}

func (w *watchdog) describe() Outcome { return Outcome{Mechanism: Watchdog, LimitBytes: w.limit} }

func (w *watchdog) observe(_ int, highWater model.Bytes) bool {
	if highWater > w.limit {
		w.fired = true
	}
	return w.fired
}

func (w *watchdog) tally() (tally, error) {
	t, err := w.free.tally()
	t.limitKilled = w.fired
	return t, err
}
