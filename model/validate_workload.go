package model

import (
	"fmt"
	"math"
)

// Devices returns the number of devices that a pipeline on the machine can use: its GPUs, or without any the one
// that the CPU stands in for.
func (m *Machine) Devices() int { return max(1, len(m.GPUs)) }

// Validate reports everything that is wrong with the machine. Zero is no limit and right everywhere but in a
// memory node.
func (m *Machine) Validate() error {
	var f Faults
	f.Size("machine.ram", m.RAM, 0)
	f.Size("machine.reserve", m.Reserve, 0)
	switch {
	case m.Reserve > 0 && m.RAM == 0:
		f.Add("machine.reserve", "is %s: only with machine.ram, of which it is a part", m.Reserve)
	case m.Reserve > 0 && m.Reserve >= m.RAM:
		f.Add("machine.reserve", "is %s: less than machine.ram, which is %s", m.Reserve, m.RAM)
	}
	if len(m.GPUs) > int(MaxDevices) {
		f.Add("machine.gpus", "lists %d: at most %d", len(m.GPUs), MaxDevices)
	}
	for i, g := range m.GPUs {
		f.Size(fmt.Sprintf("machine.gpus[%d].vram", i), g.VRAM, 0)
	}
	if m.Cores < 0 {
		f.Add("machine.cores", "is %d: at least 1, or 0 for no limit", m.Cores)
	}
	f.Size("machine.memory_bandwidth", m.MemoryBandwidth, 0)
	if len(m.NUMA) > MaxNodes {
		f.Add("machine.numa", "lists %d: at most %d", len(m.NUMA), MaxNodes)
	}
	for i, n := range m.NUMA {
		f.Size(fmt.Sprintf("machine.numa[%d].ram", i), n.RAM, 1)
	}
	f.Size("machine.cgroup_limit", m.CgroupLimit, 0)
	f.Size("machine.shm", m.Shm, 0)
	f.Size("machine.memlock", m.Memlock, 0)
	return f.Err()
}

// Validate reports everything that is wrong with the workload.
func (w *Workload) Validate() error {
	var f Faults
	if len(w.Shares) == 0 {
		f.Add("workload", "has no jobs: give a kind and its number of jobs, or a mix of several")
	}
	seen, total, weighted := map[string]bool{}, 0, 0
	for i, s := range w.Shares {
		at := "workload"
		if len(w.Shares) > 1 {
			at = fmt.Sprintf("workload.mix[%d]", i)
		}
		s.validate(&f, at)
		if seen[s.Kind] && s.Kind != "" {
			f.Add(at+".kind", "is %q, which the mix has already: one share for each kind", s.Kind)
		}
		seen[s.Kind] = true
		if s.Weight > 0 {
			weighted++
		}
		total += min(max(s.Jobs, 0), MaxJobs+1)
	}
	if len(w.Shares) > 1 && total > MaxJobs {
		f.Add("workload", "has %d jobs: at most %d", total, MaxJobs)
	}
	if weighted > 0 && weighted < len(w.Shares) {
		f.Add("workload.mix", "has %d shares, of which %d have a weight: all or none", len(w.Shares), weighted)
	}
	w.Arrival.validate(&f, total)
	return f.Err()
}

func (s *Share) validate(f *Faults, at string) {
	if s.Kind == "" {
		f.Add(at+".kind", "is missing: the kind of the jobs")
	}
	if s.Jobs < 1 || s.Jobs > MaxJobs {
		f.Add(at+".jobs", "is %d: from 1 to %d", s.Jobs, MaxJobs)
	}
	if !(s.Weight >= 0 && s.Weight <= math.MaxFloat32) {
		f.Add(at+".weight", "is %v: a finite number above 0", s.Weight)
	}
}

func (a *Arrival) validate(f *Faults, jobs int) {
	const key = "workload.arrival"
	switch a.Pattern {
	case Closed:
	case Poisson:
		a.validateRate(f, jobs)
	case Listed:
		a.validateInstants(f, jobs)
	case Backlog:
		switch {
		case a.Backlog < 1 || a.Backlog > jobs:
			f.Add(key+".backlog", "is %d jobs: from 1 to the jobs of the workload, which are %d", a.Backlog, jobs)
		case a.Backlog < jobs && a.Rate == 0:
			f.Add(key+".backlog", "is %d of %d jobs: give poisson too, the rate at which the others arrive, or make them equal", a.Backlog, jobs)
		case a.Backlog < jobs:
			a.validateRate(f, jobs-a.Backlog)
		}
	default:
		f.Add(key, "is %q: one of closed, {poisson: rate}, {file: path}, {backlog: n}", string(a.Pattern))
	}
}

func (a *Arrival) validateRate(f *Faults, jobs int) {
	const key = "workload.arrival.poisson"
	switch {
	case !(a.Rate > 0 && a.Rate <= 1e9):
		f.Add(key, "is %v jobs a second: more than 0 and at most 1e9", a.Rate)
	case float64(jobs)/a.Rate > MaxSpan.Seconds():
		f.Add(key, "is %v jobs a second: more, since %d jobs would take longer than %s to arrive", a.Rate, jobs, MaxSpan)
	}
}

func (a *Arrival) validateInstants(f *Faults, jobs int) {
	const key = "workload.arrival.file"
	if len(a.Instants) < jobs {
		f.Add(key, "is %q, which lists %d instants: at least one for each of the %d jobs", a.File, len(a.Instants), jobs)
		return
	}
	before := Instant(0)
	for i, t := range a.Instants[:jobs] {
		if t < before || Span(t) > MaxSpan {
			f.Add(key, "is %q, whose instant %d is %s: from that of the one before (%s) to %s", a.File, i+1, t, before, MaxSpan)
			return
		}
		before = t
	}
}

// DefaultLeaf is the size of a leaf where a file gives a circuit none.
const DefaultLeaf = 4 * KiB

// The bounds of what a partition reads and hashes.
const (
	minLeaf Bytes = 32
	maxData       = TiB
)

// familyLimits bounds log2_constraints, by circuit family.
var familyLimits = []struct {
	family          string
	lowest, highest int
}{{"mimc", 10, 22}, {"sha256", 15, 20}}

// Validate reports everything that is wrong with the circuit of a kind whose description stands at key.
func (c *Circuit) Validate(key string) error {
	var f Faults
	known := false
	for _, l := range familyLimits {
		if c.Family != l.family {
			continue
		}
		known = true
		if c.Log2Constraints < l.lowest || c.Log2Constraints > l.highest {
			f.Add(key+".log2_constraints", "is %d: from %d to %d for circuit %s", c.Log2Constraints, l.lowest, l.highest, l.family)
		}
	}
	if !known {
		f.Add(key+".circuit", "is %q: one of mimc, sha256", c.Family)
	}
	switch {
	case c.Leaf < minLeaf || c.Leaf > maxData:
		f.Add(key+".leaf", "is %s: from %s to %s", c.Leaf, minLeaf, maxData)
	case c.Data < 2*c.Leaf || c.Data > maxData || c.Data%c.Leaf != 0:
		f.Add(key+".data", "is %s: a whole number of leaves of %s, at least two, at most %s", c.Data, c.Leaf, maxData)
	}
	return f.Err()
}
