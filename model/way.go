package model

// This file is the way of one partition, from the end of its synthesis to its last free. Core.settle and its
// helpers decide when a waiting partition goes on; here is what happens when a stage is over.

// complete takes note that a started stage is over, successfully or not.
func (c *Core) complete(t *Task, failed bool) error {
	stage := t.Stage.alone()
	p := c.runner(t, stage)
	if p == nil {
		return c.completeOther(t, failed)
	}
	c.running--
	p.running &^= stage
	if failed || p.has(doomed) {
		c.endInVain(p, t, failed)
		return nil
	}
	switch t.Stage {
	case Synth:
		c.endSynth(p)
	case Prep:
		c.afterPrep(p)
	case Kernel:
		p.set(kernelOver)
		if !p.running.Has(Prep) {
			c.secondPart(p)
		}
	case Tail:
		c.endKernelRegion(p)
	case Finish:
		c.leaveFinalizer(p)
		c.leaveWorker(p)
		c.endFinish(p)
	}
	return nil
}

// completeOther takes note that a stage is over that does not belong to a partition in the pipeline.
func (c *Core) completeOther(t *Task, failed bool) error {
	if err := c.fits(t, failed); err != nil {
		return err
	}
	c.running--
	switch t.Stage {
	case Load:
		c.endLoad(int(t.Slot), failed)
	case Parse:
		c.endParse(t.Slot, failed)
	case Dealloc:
		c.endDealloc(c.partitions.at(t.Slot), t.Block)
	}
	return nil
}

// endInVain is the end of a stage that failed, or whose job has.
func (c *Core) endInVain(p *partition, t *Task, failed bool) {
	switch t.Stage {
	case Synth:
		c.synthLanes.put(p.lane)
		if !failed {
			p.set(holdsVectors | holdsAssignment)
		}
	case Finish:
		c.leaveFinalizer(p)
	}
	if failed {
		c.doom(p.jobSlot)
	}
	// The doom of its own job may have taken it out already.
	if p.running == 0 && p.gen == t.Gen && p.place != gone {
		c.abandon(p)
	}
}

// endSynth sends a partition on. Between two steps no worker is idle while a partition waits for one, and none is
// blocked while the channel has room, so that the first place that is free is this partition's.
func (c *Core) endSynth(p *partition) {
	c.synthLanes.put(p.lane)
	p.set(holdsVectors | holdsAssignment)
	c.returnPermit(p, atSynthesisEnd)
	switch {
	case c.idle.n > 0:
		c.endSend(p)
		c.take(p, c.idle.pop(c.workers))
	case c.channel.n < c.capacity:
		c.enterChannel(p)
	default:
		c.move(p, InSend)
		c.partitions.wait(&c.blocked, p)
	}
}

// enterChannel ends a partition's send by the channel.
func (c *Core) enterChannel(p *partition) {
	c.endSend(p)
	c.move(p, InChannel)
	c.partitions.enter(&c.channel, p)
}

// leaveFinalizer makes the partition's finalizer free, if its worker does not finish it itself.
func (c *Core) leaveFinalizer(p *partition) {
	if c.policy.split {
		c.finishLanes.put(p.lane)
		c.finalizers++
	}
}

// endSend ends a partition's send: the channel or a worker has taken it.
func (c *Core) endSend(p *partition) {
	c.returnPermit(p, atSendEnd)
	c.returnWorker(p)
	c.emitPartition(Accept, p)
}

// take puts a partition on a worker and begins what comes before the lock.
func (c *Core) take(p *partition, worker int32) {
	p.worker, p.device = worker, c.deviceOf[worker]
	p.set(called)
	c.move(p, OnGPU)
	c.count(p.kind, HeldCall, int32(p.proofs))
	e := c.emitPartition(Take, p)
	e.Device, e.Task.Lane = p.device, worker
	prep := p.stages.Has(Prep)
	if c.policy.lockCall || !prep {
		c.askLock(p)
		return
	}
	c.start(p, Prep, worker)
	if c.policy.prepBeside {
		c.askLock(p)
	}
}

func (c *Core) askLock(p *partition) {
	c.partitions.wait(&c.devices[p.device].queue, p)
	c.lockWaits++
}

// enterLock begins what the lock covers.
func (c *Core) enterLock(p *partition) {
	first := Kernel
	if c.policy.lockCall && p.stages.Has(Prep) {
		first = Prep
	}
	c.start(p, first, p.worker)
}

func (c *Core) afterPrep(p *partition) {
	switch {
	case c.policy.lockCall:
		c.start(p, Kernel, p.worker)
	case !c.policy.prepBeside:
		c.askLock(p)
	case p.has(kernelOver):
		c.secondPart(p)
	}
}

// secondPart begins the part of the kernel region that needs prep.
func (c *Core) secondPart(p *partition) {
	if p.stages.Has(Tail) {
		c.start(p, Tail, p.worker)
		return
	}
	c.endKernelRegion(p)
}

// endKernelRegion gives back what the kernel held. A split partition leaves its worker for a finalizer;
// otherwise the worker finishes it, inside the lock if that covers the call.
func (c *Core) endKernelRegion(p *partition) {
	split := c.policy.split
	if split || !c.policy.lockCall {
		c.unlock(p)
	}
	c.returnPermit(p, atKernelEnd)
	c.releasePart(p, holdsKernelPart)
	if c.policy.freeAfterKernel {
		c.free(p, Vectors)
	}
	if split {
		c.leaveWorker(p)
	}
	c.move(p, InFinish)
	switch {
	case !p.stages.Has(Finish):
		c.leaveWorker(p)
		c.endFinish(p)
	case split:
		c.partitions.wait(&c.finishes, p)
	default:
		c.start(p, Finish, p.worker)
	}
}

// endFinish ends the partition's part in its job. Its permit returns before its blocks are freed.
func (c *Core) endFinish(p *partition) {
	c.returnPermit(p, atFinishEnd)
	c.retire(p)
}

// retire frees what a partition still holds and takes it out of its job.
func (c *Core) retire(p *partition) {
	jobSlot := p.jobSlot
	c.move(p, gone)
	if p.has(holdsKernelPart | holdsRestPart) {
		c.releasePart(p, holdsKernelPart)
		c.releasePart(p, holdsRestPart)
	}
	if p.has(holdsVectors) {
		c.free(p, Vectors)
	}
	if p.has(holdsAssignment) {
		c.free(p, Assignment)
	}
	c.recycle(p)
	j := c.jobs.at(jobSlot)
	if j.left--; j.left == 0 {
		c.endJob(jobSlot)
	}
}

// endJob ends a job, or all that a batch has joined, when its last partition is out.
func (c *Core) endJob(slot int32) {
	j := c.jobs.at(slot)
	c.tellEnd(j.number, j.kind, j.doomed || j.givenUp)
	for _, m := range j.joined {
		c.tellEnd(m.number, j.kind, j.doomed || m.givenUp)
	}
	c.disclaim(j)
	c.jobs.put(slot)
}

// tellEnd takes one job out of flight.
func (c *Core) tellEnd(number int32, kind uint16, failed bool) {
	if failed {
		c.emitJob(JobFailed, number, kind)
	} else {
		c.done++
		c.emitJob(JobDone, number, kind)
	}
	c.count(kind, HeldParse, -1)
	c.emitJob(Freed, number, kind).Task.Block = ParseBuffer
	c.inFlight--
}

// start begins a stage of a partition.
func (c *Core) start(p *partition, s Stage, lane int32) {
	p.running |= s.alone()
	p.lane = lane
	c.running++
	e := c.emitPartition(Start, p)
	e.Device = p.device
	e.Task.Stage, e.Task.Lane, e.Task.Slot, e.Task.Gen = s, lane, p.slot, p.gen
}

// returnPermit gives the permit back if the configuration says so at this point.
func (c *Core) returnPermit(p *partition, at releasePoint) {
	if c.policy.release == at {
		c.dropPermit(p)
	}
}

func (c *Core) dropPermit(p *partition) {
	if p.clear(holdsPermit) {
		c.permits++
	}
}

// returnWorker gives the synthesis worker back.
func (c *Core) returnWorker(p *partition) {
	if p.clear(holdsWorker) {
		c.synthWorkers++
	}
}

func (c *Core) unlock(p *partition) {
	if p.clear(holdsLock) {
		c.devices[p.device].locked = false
		c.locks--
	}
}

// leaveWorker makes the partition's worker idle, if it has one.
func (c *Core) leaveWorker(p *partition) {
	if p.worker == none {
		return
	}
	c.unlock(p)
	c.idle.push(c.workers, p.worker)
	p.worker, p.device = none, 0
}
