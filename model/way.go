package model

// This file is the way of one partition, from the end of its synthesis to its last free. Core.settle and its
// helpers decide when a waiting partition goes on; here is what happens when a stage is over.

// complete takes note that a started stage is over, successfully or not.
func (c *Core) complete(t Task, failed bool) error {
	if err := c.fits(t, failed); err != nil {
		return err
	}
	c.running--
	switch t.Stage {
	case Parse:
		c.endParse(t.Slot, failed)
		return nil
	case Dealloc:
		c.endDealloc(t.Slot, t.Block)
		return nil
	}
	p := c.partitions.at(t.Slot)
	p.running &^= 1 << t.Stage
	switch t.Stage {
	case Synth:
		c.synthLanes.put(p.lane)
		if !failed {
			p.set(holdsVectors | holdsAssignment)
		}
	case Finish:
		if c.config.GPU.Split {
			c.finishLanes.put(p.lane)
			c.finalizers++
		}
	}
	if failed {
		c.doom(p.jobSlot)
	}
	if c.jobs.at(p.jobSlot).doomed {
		// The doom of its own job may have taken it out already.
		if p.running == 0 && p.gen == t.Gen && p.place != gone {
			c.abandon(t.Slot)
		}
		return nil
	}
	c.advance(t.Slot, t.Stage)
	return nil
}

// advance sends a partition on after a successful stage.
func (c *Core) advance(slot int32, over Stage) {
	p := c.partitions.at(slot)
	switch over {
	case Synth:
		c.returnPermit(slot, AfterSynthesis)
		c.move(slot, InSend)
		c.partitions.wait(&c.blocked, slot)
	case Prep:
		c.afterPrep(slot)
	case Kernel:
		p.set(kernelOver)
		if !p.running.Has(Prep) {
			c.secondPart(slot)
		}
	case Tail:
		c.endKernelRegion(slot)
	case Finish:
		c.leaveWorker(slot)
		c.endFinish(slot)
	}
}

// endSend ends a partition's send: the channel or a worker has taken it.
func (c *Core) endSend(slot int32) {
	c.returnPermit(slot, AfterSend)
	p := c.partitions.at(slot)
	c.emit(Effect{Op: Accept, Kind: p.kind, Job: p.job, Partition: p.index})
}

// take puts a partition on a worker and begins what comes before the lock.
func (c *Core) take(slot, worker int32) {
	p := c.partitions.at(slot)
	p.worker = worker
	p.set(called)
	c.move(slot, OnGPU)
	c.emit(Effect{Op: Take, Device: c.device(worker), Kind: p.kind, Job: p.job, Partition: p.index, Task: Task{Lane: worker}})
	prep := c.has(slot, Prep)
	if c.config.GPU.Lock == LockCall || !prep {
		c.askLock(slot)
		return
	}
	c.start(slot, Prep, worker)
	if c.config.GPU.Prep == PrepBesideLock {
		c.askLock(slot)
	}
}

func (c *Core) askLock(slot int32) {
	worker := c.partitions.at(slot).worker
	c.partitions.wait(&c.devices[c.device(worker)].queue, slot)
}

// enterLock begins what the lock covers.
func (c *Core) enterLock(slot int32) {
	first := Kernel
	if c.config.GPU.Lock == LockCall && c.has(slot, Prep) {
		first = Prep
	}
	c.start(slot, first, c.partitions.at(slot).worker)
}

func (c *Core) afterPrep(slot int32) {
	p := c.partitions.at(slot)
	switch {
	case c.config.GPU.Lock == LockCall:
		c.start(slot, Kernel, p.worker)
	case c.config.GPU.Prep == PrepBeforeLock:
		c.askLock(slot)
	case p.has(kernelOver):
		c.secondPart(slot)
	}
}

// secondPart begins the part of the kernel region that needs prep.
func (c *Core) secondPart(slot int32) {
	if c.has(slot, Tail) {
		c.start(slot, Tail, c.partitions.at(slot).worker)
		return
	}
	c.endKernelRegion(slot)
}

// endKernelRegion gives back what the kernel held. A split partition leaves its worker for a finalizer;
// otherwise the worker finishes it, inside the lock if that covers the call.
func (c *Core) endKernelRegion(slot int32) {
	p := c.partitions.at(slot)
	split := c.config.GPU.Split
	if split || c.config.GPU.Lock == LockKernel {
		c.unlock(slot)
	}
	c.returnPermit(slot, AfterKernel)
	if c.config.FreeVectors == AfterKernel {
		c.free(slot, Vectors)
	}
	if split {
		c.leaveWorker(slot)
	}
	c.move(slot, InFinish)
	switch {
	case !c.has(slot, Finish):
		c.leaveWorker(slot)
		c.endFinish(slot)
	case split:
		c.partitions.wait(&c.finishes, slot)
	default:
		c.start(slot, Finish, p.worker)
	}
}

// endFinish ends the partition's part in its job. Its permit returns before its blocks are freed.
func (c *Core) endFinish(slot int32) {
	c.returnPermit(slot, AfterFinish)
	c.retire(slot)
}

// retire frees what a partition still holds and takes it out of its job.
func (c *Core) retire(slot int32) {
	p := c.partitions.at(slot)
	jobSlot := p.jobSlot
	c.move(slot, gone)
	c.free(slot, Vectors)
	c.free(slot, Assignment)
	c.recycle(slot)
	j := c.jobs.at(jobSlot)
	j.left--
	c.endJob(jobSlot)
}

// endJob ends a job whose last partition is out.
func (c *Core) endJob(slot int32) {
	j := c.jobs.at(slot)
	if j.left > 0 || j.parsing {
		return
	}
	over := JobDone
	if j.doomed {
		over = JobFailed
	}
	c.emit(Effect{Op: over, Kind: j.kind, Job: j.number})
	c.emit(Effect{Op: Freed, Kind: j.kind, Job: j.number, Task: Task{Block: ParseBuffer}})
	c.inFlight--
	c.jobs.put(slot)
}

func (c *Core) startParse(slot int32) {
	j := c.jobs.at(slot)
	j.parsing = true
	j.lane = c.parseLanes.take()
	c.running++
	c.emit(Effect{Op: Start, Kind: j.kind, Job: j.number, Task: Task{Stage: Parse, Lane: j.lane, Slot: slot, Gen: j.gen}})
}

func (c *Core) endParse(slot int32, failed bool) {
	j := c.jobs.at(slot)
	c.parseLanes.put(j.lane)
	j.parsing = false
	if failed || j.doomed {
		j.doomed = true
		j.left = 0
		c.endJob(slot)
		return
	}
	push(&c.ready, &c.jobs, slot)
}

// start begins a stage of a partition.
func (c *Core) start(slot int32, s Stage, lane int32) {
	p := c.partitions.at(slot)
	p.running |= 1 << s
	if s == Synth || s == Finish {
		p.lane = lane
	}
	c.running++
	c.emit(Effect{
		Op: Start, Device: c.deviceOf(p), Kind: p.kind, Job: p.job, Partition: p.index,
		Task: Task{Stage: s, Lane: lane, Slot: slot, Gen: p.gen},
	})
}

// returnPermit gives the permit back if the configuration says so at this point.
func (c *Core) returnPermit(slot int32, at Release) {
	if c.config.Admission.Release == at {
		c.dropPermit(slot)
	}
}

func (c *Core) dropPermit(slot int32) {
	if c.partitions.at(slot).clear(holdsPermit) {
		c.permits++
	}
}

func (c *Core) unlock(slot int32) {
	p := c.partitions.at(slot)
	if p.clear(holdsLock) {
		c.devices[c.device(p.worker)].locked = false
	}
}

// leaveWorker makes the partition's worker idle, if it has one.
func (c *Core) leaveWorker(slot int32) {
	p := c.partitions.at(slot)
	if p.worker == none {
		return
	}
	c.unlock(slot)
	push(&c.idle, c.workers, p.worker)
	p.worker = none
}

func (c *Core) has(slot int32, s Stage) bool {
	return c.kinds[c.partitions.at(slot).kind].Stages.Has(s)
}

func (c *Core) device(worker int32) uint8 { return uint8(int(worker) % len(c.devices)) }

func (c *Core) deviceOf(p *partition) uint8 {
	if p.worker == none {
		return 0
	}
	return c.device(p.worker)
}
