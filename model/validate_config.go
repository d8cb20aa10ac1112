package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Validate reports everything that is wrong with the configuration, each fault with its key, its value and what
// would be right, among them what this version does not support. With a machine it also checks that the devices
// exist; a machine without GPUs has the one device that the CPU stands in for.
func (c *Config) Validate(machine *Machine) error {
	var f Faults
	f.atLeast("config.jobs_in_flight", c.JobsInFlight, 1)
	oneOf(&f, "config.order", c.Order, FIFO, ByPriority, OldestJobFirst, Interleave)
	c.Admission.validate(&f)
	c.Synthesis.validate(&f)
	c.Channel.validate(&f)
	c.GPU.validate(&f, machine)
	f.atLeast("config.finalizers", c.Finalizers, 1)
	if !c.GPU.Split && c.Finalizers != Unbounded {
		f.Add("config.finalizers", "is %s: not to be set with config.gpu.split: false, where the worker does the finish", c.Finalizers)
	}
	oneOf(&f, "config.free_vectors", c.FreeVectors, AfterKernel, AfterFinish)
	f.within("config.dealloc.workers", c.Dealloc.Workers, MaxWorkers)
	oneOf(&f, "config.pool", c.Pool, PoolNone, PoolRetain)
	f.Join(ValidateResident("config.resident", c.Resident))
	c.Batch.validate(&f)
	return f.Err()
}

func (a *Admission) validate(f *Faults) {
	f.atLeast("config.admission.permits", a.Permits, 1)
	oneOf(f, "config.admission.release", a.Release, AfterSynthesis, AfterSend, AfterKernel, AfterFinish)
	if a.Budget != nil {
		a.Budget.validate(f)
	}
}

func (b *Budget) validate(f *Faults) {
	const at = "config.admission.budget"
	f.Size(at+".total", b.Total, 1)
	f.Size(at+".margin", b.Margin, 0)
	if b.Margin > 0 && b.Margin >= b.Total {
		f.Add(at+".margin", "is %s: less than the total, which is %s", b.Margin, b.Total)
	}
	f.Span(at+".eviction_min_idle", b.EvictionMinIdle)
	oneOf(f, at+".retry", cmp.Or(b.Retry, RetryOnRelease), RetryOnRelease, RetryTimed)
	for _, name := range slices.Sorted(maps.Keys(b.Kinds)) {
		d, at := b.Kinds[name], at+".kinds."+name
		f.Size(at+".reserve", d.Reserve, 0)
		if d.ReleaseAfterKernel < 0 || d.ReleaseAfterKernel > d.Reserve {
			f.Add(at+".release_after_kernel", "is %s: from 0B to the reserve, which is %s", d.ReleaseAfterKernel, d.Reserve)
		}
		oneOf(f, at+".acquire_order", cmp.Or(d.AcquireOrder, ResidentFirst), ResidentFirst, WorkingFirst)
	}
}

func (s *Synthesis) validate(f *Faults) {
	f.atLeast("config.synthesis.max_parallel", s.MaxParallel, 1)
	f.atLeast("config.synthesis.handoff", s.Handoff, 0)
}

func (c *Channel) validate(f *Faults) {
	if c.Capacity < 0 && c.Capacity != Auto {
		f.Add("config.channel.capacity", "is %s: at least 0 (a rendezvous), auto or unbounded", c.Capacity)
	}
	f.atLeast("config.channel.lookahead", c.Lookahead, 0)
}

func (g *GPU) validate(f *Faults, machine *Machine) {
	switch {
	case g.Devices < 1 || g.Devices > MaxDevices:
		f.Add("config.gpu.devices", "is %s: at least 1 and at most the number of machine.gpus, which may be %d", g.Devices, MaxDevices)
	case machine != nil && int(g.Devices) > machine.Devices():
		f.Add("config.gpu.devices", "is %s: the machine has %d (machine.gpus lists %d; without any, the CPU stands in for one)",
			g.Devices, machine.Devices(), len(machine.GPUs))
	}
	f.within("config.gpu.workers_per_device", g.WorkersPerDevice, MaxWorkers)
	oneOf(f, "config.gpu.lock", g.Lock, LockKernel, LockCall)
	switch {
	case g.Lock != LockCall:
		oneOf(f, "config.gpu.prep", g.Prep, PrepBesideLock, PrepBeforeLock)
	case g.Prep != "":
		f.Add("config.gpu.prep", "is %q: not to be set with config.gpu.lock: call, whose lock covers prep", string(g.Prep))
	}
	oneOf(f, "config.gpu.b_g2", g.BG2, OnHost, OnDevice)
}

func (b *Batch) validate(f *Faults) {
	if b == nil {
		return
	}
	f.within("config.batch.size", b.Size, MaxBatch)
	f.Span("config.batch.wait", b.Wait)
	if b.Size > 1 && b.Wait == 0 {
		f.Add("config.batch.wait", "is 0s: above it, since the last jobs of a run would never fill a batch")
	}
}

// ValidateResident reports everything that is wrong with a list of resident data that stands at key.
func ValidateResident(key string, list []Resident) error {
	var f Faults
	named := map[string]bool{}
	for i := range list {
		r, at := &list[i], fmt.Sprintf("%s[%d]", key, i)
		switch {
		case r.Name == "":
			f.Add(at+".name", "is missing: each resident needs a name")
		case named[r.Name]:
			f.Add(at+".name", "is %q, which another resident has: each needs a name of its own", r.Name)
		}
		f.Name(at, r.Name)
		named[r.Name] = true
		f.Size(at+".bytes", r.Bytes, 1)
		f.Size(at+".transient", r.Transient, 0)
		f.Span(at+".load_time", r.LoadTime)
		oneOf(&f, at+".acquire", cmp.Or(r.Acquire, AcquireBlocking), AcquireBlocking, AcquirePolling)
		if r.Background && !r.OnDemand {
			f.Add(at+".background", "is true: only with on_demand, since other data is there from the start")
		}
	}
	return f.Err()
}
