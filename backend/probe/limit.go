package probe

import (
	"errors"
	"fmt"
	"math"

	"headroom/model"
)

// Kind is what a limit bounds.
type Kind string

// The kinds of memory that a limit can bound.
const (
	HostMemory   Kind = "host_memory"   // what is resident
	SharedMemory Kind = "shared_memory" // files in /dev/shm
	LockedMemory Kind = "locked_memory" // what may not be swapped, as pinned buffers
	DeviceMemory Kind = "device_memory" // of one GPU
)

// NoLimit is the amount of a limit that is not set: more than any machine has.
const NoLimit model.Bytes = math.MaxInt64

// Unknown is the use of a limit of which the kernel does not tell it.
const Unknown model.Bytes = -1

// Limit is a bound of memory, and where it was read.
type Limit struct {
	Of     Kind
	Device int         // of device memory, the number of the GPU
	Bytes  model.Bytes // from 0; NoLimit where the file sets none
	Used   model.Bytes // what counts against it now and cannot be taken back at once; or Unknown
	Name   string      // what sets it: "RAM", "cgroup /user.slice"
	File   string      // what it was read from
}

// Left returns what is left below the limit, never less than 0, and false if that is not known.
func (l *Limit) Left() (model.Bytes, bool) {
	if l.Bytes == NoLimit || l.Used == Unknown {
		return 0, false
	}
	return max(0, l.Bytes-l.Used), true
}

// Limits are the limits of one process.
type Limits []Limit

// Binding returns the tightest limit of a kind, of equal ones the first, and false if none of that kind is set.
func (l Limits) Binding(of Kind) (Limit, bool) {
	tightest := Limit{Bytes: NoLimit}
	for _, limit := range l {
		if limit.Of == of && limit.Bytes < tightest.Bytes {
			tightest = limit
		}
	}
	return tightest, tightest.Bytes != NoLimit
}

// Limits returns every limit of a process: the machine's RAM; CommitLimit where the kernel refuses to promise more; the
// memory nodes where the process is bound to some; every cgroup on its path, own one first; /dev/shm; and memlock.
// What cannot be seen from inside a container cannot be listed, but for what version 1 inherits (Cgroup.Limits).
// The error joins everything that could not be read; the limits are then those that could.
func (r Root) Limits(pid int) (Limits, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var all Limits
	var faults []error
	for _, read := range []func(pid int) (Limits, error){r.ramLimits, r.nodeLimits, r.cgroupLimits, r.sharedLimits, r.lockedLimits} {
		limits, err := read(pid)
		if err != nil {
			faults = append(faults, fmt.Errorf("probe: limits: %w", err))
		}
		all = append(all, limits...)
	}
	return all, errors.Join(faults...)
}

func (r Root) cgroupLimits(pid int) (Limits, error) {
	group, err := r.Cgroup(pid)
	if errors.Is(err, ErrNoController) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return group.Limits()
}
