package model

import "fmt"

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
	c.waiting.push(jobRun{first: in.Job, count: in.Count, kind: in.Kind})
	return nil
}

func (c *Core) drain() {
	c.draining = true
	for !c.waiting.empty() {
		job, kind := c.waiting.pop()
		c.emitJob(JobFailed, job, kind)
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
	for slot := range c.jobs.slots {
		if j := c.jobs.at(int32(slot)); j.live && j.number == number {
			c.doom(int32(slot))
			return nil
		}
	}
	return fmt.Errorf("model: job %d was cancelled: it has already ended", number)
}

// Live reports whether a job has arrived and not ended.
func (c *Core) Live(number int32) bool {
	for _, r := range c.waiting.runs[c.waiting.head:] {
		if number >= r.first && number < r.first+r.count {
			return true
		}
	}
	for i := range c.jobs.slots {
		if j := &c.jobs.slots[i]; j.live && j.number == number {
			return true
		}
	}
	return false
}

// LiveJobs returns the numbers of the jobs in flight, in order of their slots.
func (c *Core) LiveJobs() []int32 {
	var live []int32
	for i := range c.jobs.slots {
		if j := &c.jobs.slots[i]; j.live {
			live = append(live, j.number)
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
	if j.parsing {
		return
	}
	unadmitted := int32(c.kinds[j.kind].Partitions) - j.admitted
	if unadmitted > 0 {
		c.ready.remove(c.jobs.links, jobSlot)
		j.left -= unadmitted
	}
	gen := j.gen
	for i := range c.partitions.slots {
		p := &c.partitions.slots[i]
		if p.jobSlot == jobSlot && p.job == j.number && c.leaveQueue(p) {
			c.emitPartition(Leave, p)
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
	case InSend:
		c.partitions.leave(&c.blocked, p)
	case InChannel:
		c.partitions.leave(&c.channel, p)
	case OnGPU:
		c.partitions.leave(&c.devices[p.device].queue, p)
	case InFinish:
		c.partitions.leave(&c.finishes, p)
	}
	return p.running == 0
}

// abandon takes a partition of a doomed job, of which nothing runs any more, out of the pipeline.
func (c *Core) abandon(p *partition) {
	c.dropPermit(p)
	c.leaveWorker(p)
	c.retire(p)
}
