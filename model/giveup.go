package model

import (
	"fmt"
	"slices"
)

// This file is how jobs arrive and how they are given up.

func (c *Core) arrive(in *Input) error {
	switch {
	case c.draining:
		return fmt.Errorf("model: job %d arrived after a drain", in.Job)
	case int(in.Kind) >= len(c.kinds):
		return fmt.Errorf("model: job %d is of kind %d: there are %d kinds", in.Job, in.Kind, len(c.kinds))
	case in.Job != c.arrived:
		return fmt.Errorf("model: job %d arrived: the next number is %d", in.Job, c.arrived)
	case in.Count < 1 || in.Count > int32(Unbounded)-c.arrived:
		return fmt.Errorf("model: %d jobs arrived: at least 1 and at most %d can", in.Count, int32(Unbounded)-c.arrived)
	}
	c.arrived += in.Count
	c.waiting.push(c.traits[in.Kind].rank, jobRun{first: in.Job, count: in.Count, kind: in.Kind})
	return nil
}

func (c *Core) drain() {
	c.draining = true
	for !c.waiting.empty() {
		job, kind := c.waiting.pop()
		c.emitJob(JobFailed, job, kind)
	}
	if c.batch != none {
		c.closeBatch()
	}
}

func (c *Core) cancel(number int32) error {
	if number < 0 || number >= c.arrived {
		return fmt.Errorf("model: job %d was cancelled: %d have arrived", number, c.arrived)
	}
	if kind, ok := c.waiting.remove(number); ok {
		c.emitJob(JobFailed, number, kind)
		return nil
	}
	slot, given := c.find(number)
	switch {
	case slot == none:
		return fmt.Errorf("model: job %d was cancelled: it has already ended", number)
	case slot == c.batch:
		c.uncollect(slot, number)
	case c.giveUp(slot, number) && !given:
		c.doom(slot)
	}
	return nil
}

// find returns the slot of a job in flight, or none, and whether it was given up already as a member of a batch.
func (c *Core) find(number int32) (slot int32, givenUp bool) {
	for slot := range c.jobs.slots {
		j := c.jobs.at(int32(slot))
		if !j.live {
			continue
		}
		if j.number == number {
			return int32(slot), j.givenUp
		}
		for _, m := range j.joined {
			if m.number == number {
				return int32(slot), m.givenUp
			}
		}
	}
	return none, false
}

// giveUp marks a job as cancelled and reports whether everything that is joined with it is.
func (c *Core) giveUp(slot, number int32) bool {
	j := c.jobs.at(slot)
	if len(j.joined) == 0 {
		return true
	}
	all := true
	if j.number == number {
		j.givenUp = true
	}
	for i := range j.joined {
		m := &j.joined[i]
		m.givenUp = m.givenUp || m.number == number
		all = all && m.givenUp
	}
	return all && j.givenUp
}

// uncollect takes a job out of the batch that collects jobs.
func (c *Core) uncollect(slot, number int32) {
	j := c.jobs.at(slot)
	c.tellEnd(number, j.kind, true)
	if j.number != number {
		j.joined = slices.DeleteFunc(j.joined, func(m member) bool { return m.number == number })
		return
	}
	if len(j.joined) > 0 {
		j.number, j.joined = j.joined[0].number, j.joined[1:]
		return
	}
	c.batch = none
	c.disarm(batchTimer)
	c.jobs.put(slot)
}

// Live reports whether a job has arrived and neither ended nor, as a member of a batch, been given up.
func (c *Core) Live(number int32) bool {
	if c.waiting.has(number) {
		return true
	}
	slot, given := c.find(number)
	return slot != none && !given
}

// LiveJobs returns the numbers of the jobs in flight, in order of their slots.
func (c *Core) LiveJobs() []int32 {
	var live []int32
	for i := range c.jobs.slots {
		j := &c.jobs.slots[i]
		if !j.live {
			continue
		}
		if !j.givenUp {
			live = append(live, j.number)
		}
		for _, m := range j.joined {
			if !m.givenUp {
				live = append(live, m.number)
			}
		}
	}
	return live
}

// doom marks a job as failed. What runs is never interrupted: its completion gives everything back. What waits
// leaves at once.
func (c *Core) doom(jobSlot int32) {
	j := c.jobs.at(jobSlot)
	if j.doomed {
		return
	}
	j.doomed = true
	switch j.phase {
	case acquiring:
		c.opening.remove(c.jobs.links, jobSlot)
		c.fail(jobSlot)
		return
	case parsing:
		return
	}
	unadmitted := int32(c.kinds[j.kind].Partitions) - j.admitted
	if unadmitted > 0 {
		c.ready.remove(c.jobs.links, jobSlot)
		j.left -= unadmitted
		if j.paid {
			c.ledger.release(Bytes(unadmitted) * Bytes(j.proofs()) * c.traits[j.kind].reserve())
		}
	}
	gen := j.gen
	for i := range c.partitions.slots {
		p := &c.partitions.slots[i]
		if p.place == gone || p.jobSlot != jobSlot {
			continue
		}
		p.set(doomed)
		if c.leaveQueue(p) {
			c.abandon(p)
		}
	}
	if j.gen == gen && j.left == 0 {
		c.endJob(jobSlot)
	}
}

// leaveQueue takes a partition out of the line it stands in and reports whether nothing of it runs, so that it
// can be abandoned now.
func (c *Core) leaveQueue(p *partition) bool {
	if !p.has(queued) {
		return false
	}
	switch p.place {
	case InHandoff:
		c.partitions.leave(&c.handoff, p)
	case InSend:
		c.partitions.leave(&c.blocked, p)
	case InChannel:
		p.clear(queued)
		c.channel.remove(c.partitions.links, p.slot)
	case OnGPU:
		c.partitions.leave(&c.devices[p.device].queue, p)
		c.lockWaits--
	case InFinish:
		c.partitions.leave(&c.finishes, p)
	}
	return p.running == 0
}

// abandon takes a partition of a doomed job, of which nothing runs any more, out of the pipeline.
func (c *Core) abandon(p *partition) {
	e := c.emitPartition(Leave, p)
	e.Device = p.device
	if p.worker != none {
		e.Task.Lane = p.worker
	}
	c.dropPermit(p)
	c.returnWorker(p)
	c.leaveWorker(p)
	c.retire(p)
}
