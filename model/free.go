package model

// dealloc frees blocks in order with a limited number of workers.
type dealloc struct {
	ring       []blockRef // power of two long
	head, tail uint32
	free       int32 // dealloc workers
	lanes      laneSet
}

type blockRef struct {
	slot  int32
	block Block
}

func (d *dealloc) push(r blockRef) {
	if d.tail-d.head == uint32(len(d.ring)) {
		grown := make([]blockRef, max(8, 2*len(d.ring)))
		for i := d.head; i != d.tail; i++ {
			grown[i-d.head] = d.ring[i&uint32(len(d.ring)-1)]
		}
		d.tail -= d.head
		d.head = 0
		d.ring = grown
	}
	d.ring[d.tail&uint32(len(d.ring)-1)] = r
	d.tail++
}

func (d *dealloc) pop() blockRef {
	r := d.ring[d.head&uint32(len(d.ring)-1)]
	d.head++
	return r
}

// free sends a block that the partition holds on its way back to the system. Without a dealloc stage the block is gone
// at once, and vectors go to the pool where there is one.
func (c *Core) free(p *partition, b Block) {
	i := b - Vectors
	p.clear(holdsVectors << i)
	if b == Vectors && c.policy.retain {
		c.count(p.kind, HeldPool, int32(p.proofs))
		c.emitPartition(Pooled, p).Task.Block = Vectors
		return
	}
	if !p.stages.Has(Dealloc) {
		c.freed(p, b)
		return
	}
	p.freeing[i] = freeQueued
	c.count(p.kind, FreeingVectors+Place(i), int32(p.proofs))
	c.deallocs.push(blockRef{p.slot, b})
}

func (c *Core) startDeallocs() {
	d := &c.deallocs
	for d.head != d.tail && d.free > 0 {
		r := d.pop()
		p := c.partitions.at(r.slot)
		i := r.block - Vectors
		d.free--
		p.freeing[i] = freeRunning
		p.freeLane[i] = d.lanes.take()
		c.running++
		t := &c.emitPartition(Start, p).Task
		t.Stage, t.Block, t.Lane, t.Slot, t.Gen = Dealloc, r.block, p.freeLane[i], r.slot, p.gen
	}
}

func (c *Core) endDealloc(p *partition, b Block) {
	i := b - Vectors
	p.freeing[i] = notFreeing
	c.deallocs.lanes.put(p.freeLane[i])
	c.deallocs.free++
	c.count(p.kind, FreeingVectors+Place(i), -int32(p.proofs))
	c.freed(p, b)
	c.recycle(p)
}

func (c *Core) freed(p *partition, b Block) {
	e := c.emitPartition(Freed, p)
	e.Task.Block = b
	if b == Assignment && p.has(called) {
		e.Call = true
		c.count(p.kind, HeldCall, -int32(p.proofs))
	}
}

// recycle makes the slot of a partition free again once it is out of its job and its blocks are freed.
func (c *Core) recycle(p *partition) {
	if p.place == gone && p.freeing == [2]freeState{} && !p.has(holdsVectors|holdsAssignment) {
		c.partitions.put(p)
	}
}
