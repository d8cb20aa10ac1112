package model

// This file is what a job may have to wait for before it begins: others that join it, its reservation and its data.

// collect takes a job in flight and puts it into a batch, or sends it on. It reports whether there are partitions to
// admit at once.
func (c *Core) collect(number int32, kind uint16) bool {
	opened := false
	if c.batch != none && c.jobs.at(c.batch).kind != kind {
		opened = c.closeBatch()
	}
	c.launch(number, kind)
	if !c.traits[kind].batches {
		return c.prepare(c.jobs.take(job{number: number, kind: kind})) || opened
	}
	if c.batch == none {
		c.batch = c.jobs.take(job{number: number, kind: kind})
		c.arm(batchTimer, c.config.Batch.Wait)
	} else {
		j := c.jobs.at(c.batch)
		j.joined = append(j.joined, member{number: number})
	}
	if int(c.jobs.at(c.batch).proofs()) == int(c.config.Batch.Size) {
		return c.closeBatch() || opened
	}
	return opened
}

// closeBatch sends the batch that collects jobs on.
func (c *Core) closeBatch() bool {
	slot := c.batch
	c.batch = none
	c.disarm(batchTimer)
	j := c.jobs.at(slot)
	c.emitJob(Join, j.number, j.kind).Proofs = j.proofs()
	for _, m := range j.joined {
		c.emitJob(Join, m.number, j.kind).Proofs = j.proofs()
	}
	return c.prepare(slot)
}

// prepare sends a job on, if need be into the line of those that wait.
func (c *Core) prepare(slot int32) bool {
	c.jobs.at(slot).phase = acquiring
	if c.acquire(slot) {
		return c.parse(slot)
	}
	c.opening.push(c.jobs.links, slot)
	return false
}

// prepareAll tries again for data that is loaded beside the jobs and for every job that waits.
func (c *Core) prepareAll() bool {
	for i := range c.data.items {
		if d := &c.data.items[i]; d.wanted && d.state == absent {
			c.load(i, nil)
		}
	}
	opened := false
	for slot := c.opening.head; slot != none; {
		next := c.jobs.links[slot]
		if c.acquire(slot) {
			c.opening.remove(c.jobs.links, slot)
			opened = c.parse(slot) || opened
		}
		slot = next
	}
	return opened
}

// acquire gets what a job still lacks of its reservation and its data, as far as it can, and reports whether it has all.
func (c *Core) acquire(slot int32) bool {
	j := c.jobs.at(slot)
	t := &c.traits[j.kind]
	if t.workingFirst && !j.paid {
		if !c.reserveOpening(c.wholeReserve(j), t.needs) {
			return false
		}
		j.paid = true
		c.emitJob(Reserve, j.number, j.kind).Proofs = j.proofs()
	}
	for int(j.acquired) < len(t.needs) {
		if !c.claim(t.needs[j.acquired], t.needs) {
			return false
		}
		j.acquired++
	}
	for _, n := range t.needs {
		if d := &c.data.items[n]; d.state != loaded && !d.background {
			return false
		}
	}
	return true
}

// claim makes sure that data is there or on its way and will stay for as long as the job needs it. It does not evict
// the rest of what the job needs.
func (c *Core) claim(n int, needs []int) bool {
	d := &c.data.items[n]
	d.wanted = d.background
	if d.state == absent && !c.load(n, needs) && !d.background {
		return false
	}
	if d.users++; d.users == 1 {
		d.rested = false
		c.disarm(idleTimer + int32(n))
	}
	return true
}

// disclaim gives up the claims of a job on its data.
func (c *Core) disclaim(j *job) {
	for _, n := range c.traits[j.kind].needs[:j.acquired] {
		d := &c.data.items[n]
		d.users--
		if d.users == 0 {
			d.wanted = false
			if d.state == loaded {
				c.idleData(n)
			}
		}
	}
	j.acquired = 0
}
