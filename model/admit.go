package model

import "slices"

// This file is how jobs get into the pipeline and their partitions to synthesis.

// canBegin reports whether a partition waits for its synthesis, or for its admission with a permit free.
func (c *Core) canBegin() bool { return c.ready.n > 0 && c.permits > 0 || c.handoff.n > 0 }

// begin starts the synthesis of what has been admitted and admits what can be.
func (c *Core) begin() {
	for c.handoff.n > 0 && c.synthWorkers > 0 {
		c.startSynth(c.partitions.next(&c.handoff))
	}
	for c.ready.n > 0 && c.permits > 0 && c.hasRoom() {
		slot := c.nextReady()
		if slot == none {
			return
		}
		c.admit(slot)
	}
}

// nextReady returns the job whose partition is to be admitted next, which has its reservation, or none. Jobs that have
// reserved for all their partitions do not wait behind one that is refused: what they hold may be what it waits for.
func (c *Core) nextReady() int32 {
	slot := c.ready.first()
	if !c.policy.reserves || c.jobs.at(slot).paid || c.reserveAdmission(c.jobs.at(slot)) {
		return slot
	}
	if !c.policy.paysAhead {
		return none
	}
	return c.ready.find(c.jobs.links, func(slot int32) bool { return c.jobs.at(slot).paid })
}

// hasRoom reports whether a partition that is admitted finds a synthesis worker or a place to wait for one.
func (c *Core) hasRoom() bool {
	return c.synthWorkers > 0 || c.handoff.n < int32(c.config.Synthesis.Handoff)
}

// admit lets in the next partition of a job.
func (c *Core) admit(slot int32) {
	p := c.partitions.take()
	j := c.jobs.at(slot)
	k := &c.kinds[j.kind]
	p.job, p.jobSlot, p.index, p.kind, p.proofs, p.stages = j.number, slot, j.admitted, j.kind, j.proofs(), k.Stages
	p.set(c.policy.admitted)
	if c.policy.order != inOrderOfArrival {
		p.key = c.key(j)
	}
	j.admitted++
	if last := int(j.admitted) == k.Partitions; last || c.policy.order == inTurn {
		c.ready.remove(c.jobs.links, slot)
		if !last {
			c.ready.push(c.jobs.links, slot, 0)
		}
	}
	c.permits--
	if c.synthWorkers > 0 {
		p.place = InSynth
		c.count(p.kind, InSynth, int32(p.proofs))
		c.startSynth(p)
		return
	}
	p.place = InHandoff
	c.count(p.kind, InHandoff, int32(p.proofs))
	c.emitPartition(Admit, p)
	c.partitions.wait(&c.handoff, p)
}

// startSynth begins a synthesis. With a pool the vectors are held from here on.
func (c *Core) startSynth(p *partition) {
	if p.place != InSynth {
		c.move(p, InSynth)
	}
	if c.policy.limited {
		c.synthWorkers--
		p.set(holdsWorker)
	}
	c.start(p, Synth, c.synthLanes.take())
	if !c.policy.retain {
		return
	}
	p.set(holdsVectors)
	if n := int32(p.proofs); c.census[p.kind][HeldPool] >= n {
		c.count(p.kind, HeldPool, -n)
		c.out[len(c.out)-1].Reused = true
	}
}

// canOpen reports whether a job can be taken in flight, or one in flight may be able to go on.
func (c *Core) canOpen() bool {
	return !c.waiting.empty() && c.inFlight < int32(c.config.JobsInFlight) || c.ledger.retryAdmission || c.ledger.retryOpening
}

// open takes jobs in flight and on their way to synthesis. It reports whether something changed that may let a
// partition be admitted.
func (c *Core) open() bool {
	opened := c.ledger.retryAdmission
	c.ledger.retryAdmission = false
	if c.ledger.retryOpening {
		c.ledger.retryOpening = false
		opened = c.prepareAll() || opened
	}
	if n := min(c.waiting.n, int64(c.config.JobsInFlight)-int64(c.inFlight)); n > 1 {
		c.jobs.expect(int(n))
		c.out = slices.Grow(c.out, int(n))
	}
	for c.inFlight < int32(c.config.JobsInFlight) && !c.waiting.empty() {
		number, kind := c.waiting.pop()
		if c.policy.prepares {
			opened = c.collect(number, kind) || opened
			continue
		}
		c.launch(number, kind)
		opened = c.parse(c.jobs.take(job{number: number, kind: kind})) || opened
	}
	return opened || c.ledger.retryAdmission || c.ledger.retryOpening
}

// launch takes a job in flight.
func (c *Core) launch(number int32, kind uint16) {
	c.inFlight++
	c.count(kind, HeldParse, 1)
	c.emitJob(JobStart, number, kind)
}

// parse begins a job whose data is there, and reports whether it has partitions to admit at once.
func (c *Core) parse(slot int32) bool {
	j := c.jobs.at(slot)
	k := &c.kinds[j.kind]
	j.left = int32(k.Partitions)
	if !k.Stages.Has(Parse) {
		c.makeReady(slot)
		return true
	}
	j.phase = parsing
	j.lane = c.parseLanes.take()
	c.running++
	e := c.emitJob(Start, j.number, j.kind)
	e.Proofs = j.proofs()
	t := &e.Task
	t.Stage, t.Lane, t.Slot, t.Gen = Parse, j.lane, slot, j.gen
	return false
}

func (c *Core) makeReady(slot int32) {
	j := c.jobs.at(slot)
	j.phase = working
	c.ready.push(c.jobs.links, slot, uint64(c.traits[j.kind].rank)<<51|uint64(j.number)<<20)
}

func (c *Core) endParse(slot int32, failed bool) {
	j := c.jobs.at(slot)
	c.parseLanes.put(j.lane)
	if failed || j.doomed {
		c.fail(slot)
		return
	}
	c.makeReady(slot)
}

// fail ends a job that has no partitions.
func (c *Core) fail(slot int32) {
	j := c.jobs.at(slot)
	j.doomed = true
	j.phase = working
	if j.paid {
		c.ledger.release(c.wholeReserve(j))
	}
	j.left = 0
	c.endJob(slot)
}

// wholeReserve is what all partitions of a job reserve together.
func (c *Core) wholeReserve(j *job) Bytes {
	return c.traits[j.kind].reserve().Times(c.kinds[j.kind].Partitions * int(j.proofs()))
}
