package probe

import (
	"errors"
	"fmt"

	"headroom/model"
)

// Limit is a bound on resident memory, and where it was read.
type Limit struct {
	Bytes model.Bytes
	Name  string // what sets it: "RAM", "cgroup /user.slice"
	File  string // the file it was read from
}

// MemoryLimits returns the machine's RAM and the limit of every cgroup on the path of the process, own cgroup first.
// What cannot be seen from inside a container cannot be listed, but for v1's inherited limit (Cgroup.Limits).
func (r Root) MemoryLimits(pid int) ([]Limit, error) {
	proc, err := r.proc()
	if err != nil {
		return nil, err
	}
	file := r.path("proc/meminfo")
	memory, err := proc.Meminfo()
	if err != nil {
		return nil, fmt.Errorf("probe: limits: %w", err)
	}
	if memory.MemTotalBytes == nil {
		return nil, fmt.Errorf("probe: limits: %s has no MemTotal", file)
	}
	limits := []Limit{{Bytes: model.Bytes(*memory.MemTotalBytes), Name: "RAM", File: file}}
	group, err := r.Cgroup(pid)
	if errors.Is(err, ErrNoController) {
		return limits, nil
	}
	if err != nil {
		return nil, err
	}
	ofGroups, err := group.Limits()
	return append(limits, ofGroups...), err
}

// MemoryLimit returns the tightest of MemoryLimits, the first of those that are equal.
func (r Root) MemoryLimit(pid int) (Limit, error) {
	limits, err := r.MemoryLimits(pid)
	if err != nil {
		return Limit{}, err
	}
	tightest := limits[0]
	for _, l := range limits[1:] {
		if l.Bytes < tightest.Bytes {
			tightest = l
		}
	}
	return tightest, nil
}
