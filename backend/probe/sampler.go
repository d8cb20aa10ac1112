package probe

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"headroom/model"
)

// Sample is what was seen of a process at one instant.
type Sample struct {
	At model.Instant

	Resident, Anon, File, Shmem model.Bytes // as in Process

	CgroupCurrent model.Bytes // as in Usage; 0 without a memory cgroup
	CgroupPeak    model.Bytes

	MemorySome, MemoryFull model.Span // as in Pressure, of the whole machine; 0 without PSI
}

// Sampler watches one process. Between two samples a peak can hide: the true one is Process.HighWater.
type Sampler struct {
	// Warnings says which parts of a sample stay 0 on this machine, and why.
	Warnings []error

	root     Root
	pid      int
	now      func() model.Instant
	sink     func(Sample)
	cgroup   *Cgroup // nil without one
	pressure bool
}

// NewSampler prepares to watch a process. The clock now tells pipeline time; sink is called with one sample after the
// other, never twice at once. It is an error when the process itself cannot be read; lesser lacks are Warnings.
// The process must already be in the cgroup that it runs in.
func NewSampler(root Root, pid int, now func() model.Instant, sink func(Sample)) (*Sampler, error) {
	if _, err := root.Process(pid); err != nil {
		return nil, err
	}
	s := &Sampler{root: root, pid: pid, now: now, sink: sink}
	cgroup, err := root.Cgroup(pid)
	if err == nil {
		_, err = cgroup.Usage()
	}
	if err == nil {
		s.cgroup = &cgroup
	} else {
		s.Warnings = append(s.Warnings, fmt.Errorf("samples have no cgroup figures: %w", err))
	}
	if _, err := root.Pressure(Memory); err == nil {
		s.pressure = true
	} else {
		s.Warnings = append(s.Warnings, fmt.Errorf("samples have no memory pressure: %w", err))
	}
	return s, nil
}

// Start samples once before it returns, so that nothing of what the caller does next is in that sample, and then at every
// tick, in a goroutine of its own, until stop is called or a reading fails. Stop takes a last sample, waits for it, and
// returns the first error of a reading, which wraps ErrEnded when the process has ended. Further calls of stop return the
// same.
func (s *Sampler) Start(tick <-chan time.Time) (stop func() error) {
	if err := s.sample(); err != nil {
		return func() error { return err }
	}
	quit, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- s.run(tick, quit) }()
	return sync.OnceValue(func() error {
		close(quit)
		return <-done
	})
}

func (s *Sampler) run(tick <-chan time.Time, quit <-chan struct{}) error {
	for {
		select {
		case <-tick:
		case <-quit:
			return s.sample()
		}
		if err := s.sample(); err != nil {
			return err
		}
	}
}

// sample takes one sample; it gives the sink either all that the machine tells or nothing.
func (s *Sampler) sample() error {
	at := s.now()
	process, err := s.root.Process(s.pid)
	if err != nil {
		return err
	}
	sample := Sample{At: at, Resident: process.Resident, Anon: process.Anon, File: process.File, Shmem: process.Shmem}
	var cgroupErr, pressureErr error
	if s.cgroup != nil {
		var usage Usage
		usage, cgroupErr = s.cgroup.Usage()
		sample.CgroupCurrent, sample.CgroupPeak = usage.Current, usage.Peak
	}
	if s.pressure {
		var pressure Pressure
		pressure, pressureErr = s.root.Pressure(Memory)
		sample.MemorySome, sample.MemoryFull = pressure.Some, pressure.Full
	}
	if err := errors.Join(cgroupErr, pressureErr); err != nil {
		return err
	}
	s.sink(sample)
	return nil
}
