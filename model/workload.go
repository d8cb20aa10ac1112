package model

import "slices"

// GPUSpec is one device of a machine.
type GPUSpec struct {
	VRAM Bytes `json:"vram" yaml:"vram"`
}

// NUMANode is one memory node of a machine.
type NUMANode struct {
	RAM Bytes `json:"ram" yaml:"ram"`
}

// Machine is what a pipeline runs on. Zero means that there is no such limit.
type Machine struct {
	RAM             Bytes     `json:"ram" yaml:"ram"`
	Reserve         Bytes     `json:"reserve,omitempty" yaml:"reserve,omitempty"` // what others on the machine need
	GPUs            []GPUSpec `json:"gpus,omitempty" yaml:"gpus,omitempty"`
	Cores           int       `json:"cores,omitempty" yaml:"cores,omitempty"`
	MemoryBandwidth Bytes     `json:"memory_bandwidth,omitempty" yaml:"memory_bandwidth,omitempty"` // a second
	// NUMA is the memory nodes that memory may come from, if not from all.
	NUMA        []NUMANode `json:"numa,omitempty" yaml:"numa,omitempty"`
	CgroupLimit Bytes      `json:"cgroup_limit,omitempty" yaml:"cgroup_limit,omitempty"`
	Shm         Bytes      `json:"shm,omitempty" yaml:"shm,omitempty"`
	Memlock     Bytes      `json:"memlock,omitempty" yaml:"memlock,omitempty"`
	// Found are bounds of host memory that were read on this very host, for scenarios that say machine: here.
	Found []Limit `json:"found,omitempty" yaml:"-"`
}

// Limit is an upper bound of resident memory and the name of what sets it.
type Limit struct {
	Bytes Bytes  `json:"bytes"`
	Name  string `json:"name"`
	File  string `json:"file,omitempty"` // that it was read from; empty for a machine that a scenario describes
}

// MaxNodes is the largest number of memory nodes of a machine, which is Linux's own.
const MaxNodes = 1024

// HostLimit returns the tightest bound of resident host memory that the machine describes, the first of equal ones and
// those with a file before those without; Bytes is 0 if there is none.
func (m *Machine) HostLimit() Limit {
	var nodes Bytes
	for _, n := range m.NUMA {
		nodes += n.RAM
	}
	described := []Limit{
		{Bytes: m.RAM - m.Reserve, Name: "machine.ram minus machine.reserve"},
		{Bytes: m.CgroupLimit, Name: "machine.cgroup_limit"},
		{Bytes: nodes, Name: "machine.numa"},
	}
	var tightest Limit
	for _, l := range slices.Concat(m.Found, described) {
		if l.Bytes > 0 && (tightest.Bytes == 0 || l.Bytes < tightest.Bytes) {
			tightest = l
		}
	}
	return tightest
}

// ArrivalPattern says when the jobs of a workload arrive.
type ArrivalPattern string

// The arrival patterns.
const (
	Closed  ArrivalPattern = "closed"  // all jobs are there at the start
	Poisson ArrivalPattern = "poisson" // exponential gaps at a mean rate
	Listed  ArrivalPattern = "file"    // at the instants that a file lists
	Backlog ArrivalPattern = "backlog" // as after a restart: a number is there at the start, the rest come at a mean rate
)

// Arrival is a pattern with its parameter.
type Arrival struct {
	Pattern ArrivalPattern `json:"pattern"`
	Rate    float64        `json:"rate,omitempty"`    // jobs a second, for Poisson and Backlog
	File    string         `json:"file,omitempty"`    // for Listed
	Backlog int            `json:"backlog,omitempty"` // jobs, for Backlog
	// Instants are those of File, in order: one for each job at least.
	Instants []Instant `json:"instants,omitempty"`
}

// Share is the jobs of one kind in a workload.
type Share struct {
	Kind string `json:"kind" yaml:"kind"`
	Jobs int    `json:"jobs" yaml:"jobs"`
	// Weight is how often it arrives, relative to the others; 0: as its jobs.
	Weight float64 `json:"weight,omitempty" yaml:"weight,omitempty"`
}

// Workload is the jobs of a run. Several shares arrive interleaved in proportion to their weights, those without
// one in proportion to their jobs, so that they run out together. Either all shares have a weight or none has.
type Workload struct {
	Shares  []Share `json:"shares"`
	Arrival Arrival `json:"arrival"`
}

// Jobs returns the number of jobs.
func (w *Workload) Jobs() int {
	n := 0
	for _, s := range w.Shares {
		n += s.Jobs
	}
	return n
}

// Sequence returns what gives the share of one job after the other, in order of arrival, and -1 when all have arrived.
// The order is the one that keeps every share closest to its part of the jobs that have arrived; of shares that are
// equally far behind the first goes.
func (w *Workload) Sequence() (next func() (share int)) {
	total := 0.0
	for i := range w.Shares {
		total += w.Shares[i].weight()
	}
	sent, arrived := make([]int, len(w.Shares)), 0
	return func() int {
		next, worst := -1, 0.0
		for i, s := range w.Shares {
			if behind := s.weight()*float64(arrived+1) - float64(sent[i])*total; sent[i] < s.Jobs && (next < 0 || behind > worst) {
				next, worst = i, behind
			}
		}
		if next >= 0 {
			sent[next]++
			arrived++
		}
		return next
	}
}

// weight returns the weight in force.
func (s *Share) weight() float64 {
	if s.Weight > 0 {
		return s.Weight
	}
	return float64(s.Jobs)
}
