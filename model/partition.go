package model

// Place is where a partition, or a block that is being freed, is, or what else is held: whoever is counted at a
// place holds its memory.
type Place uint8

// The places, in the order in which a partition goes through them.
const (
	InHandoff         Place = iota // admitted and waiting for a synthesis worker
	InSynth                        // being synthesized
	InSend                         // synthesized and blocked in send
	InChannel                      // in the channel
	OnGPU                          // on a GPU worker, waiting for the lock included
	InFinish                       // finishing or waiting for a finalizer
	FreeingVectors                 // vectors waiting to be freed or being freed
	FreeingAssignment              // the same for the assignment
	HeldCall                       // the memory of a proof call
	HeldParse                      // a job's parse buffer
	HeldPool                       // vectors in the pool, of no partition
	NumPlaces
	gone // finished; at most blocks are still being freed
)

// counts are how many are at each place. There are 16 so that no index needs a check; those from NumPlaces on mean
// nothing.
type counts [16]int32

func (n *counts) at(p Place) *int32 { return &n[p%16] }

// Marks of a partition.
type marks uint32

const (
	holdsPermit     marks = 1 << iota
	holdsWorker           // a synthesis worker
	holdsKernelPart       // the part of its reservation that is released after the kernel
	holdsRestPart         // the rest of its reservation
	holdsLock
	holdsVectors
	holdsAssignment // the bit after that of the vectors, as the blocks follow each other
	kernelOver      // the first part of the kernel region is over
	queued          // stands in a queue
	called          // was on a GPU worker
	doomed          // its job has failed or was cancelled
)

// partition is what the core knows of one partition.
type partition struct {
	key        uint64 // its place in an order that is not first in first out; the least goes first
	job, index int32
	jobSlot    int32
	slot       int32
	gen        uint32 // generation of the slot
	worker     int32  // GPU worker, or none
	lane       int32  // of what runs, Dealloc apart
	freeLane   [2]int32
	kind       uint16
	proofs     uint16   // of its job: 1 without a batch
	stages     StageSet // of its kind
	running    StageSet // stages begun and not over, Dealloc apart
	marks      marks
	place      Place
	freeing    [2]freeState
	device     uint8 // of the worker; 0 without one
}

// freeState is how far a block is on its way back to the system.
type freeState uint8

const (
	notFreeing freeState = iota
	freeQueued
	freeRunning
)

func (p *partition) set(m marks)      { p.marks |= m }
func (p *partition) has(m marks) bool { return p.marks&m != 0 }
func (p *partition) clear(m marks) bool {
	had := p.has(m)
	p.marks &^= m
	return had
}

// partitions is the slots of partitions between admission and the end of their last free.
type partitions struct {
	slots []partition
	links links
	free  queue
}

func (ps *partitions) at(slot int32) *partition { return &ps.slots[slot] }

// take returns a slot that is empty but for its number and generation. It may move all partitions: no pointer to
// one may be kept across it.
func (ps *partitions) take() *partition {
	if ps.free.n == 0 {
		slot := int32(len(ps.slots))
		ps.slots = append(ps.slots, partition{slot: slot, worker: none})
		ps.links = append(ps.links, none)
		return &ps.slots[slot]
	}
	p := &ps.slots[ps.free.pop(ps.links)]
	slot, gen := p.slot, p.gen
	*p = partition{}
	p.slot, p.gen, p.worker = slot, gen, none
	return p
}

func (ps *partitions) put(p *partition) {
	p.gen++
	ps.free.push(ps.links, p.slot)
}

// wait puts a partition at the end of a queue.
func (ps *partitions) wait(q *queue, p *partition) {
	p.set(queued)
	q.push(ps.links, p.slot)
}

// enter puts a partition into a line.
func (ps *partitions) enter(l *line, p *partition) {
	p.set(queued)
	l.push(ps.links, p.slot, p.key)
}

// first takes the next partition out of a line.
func (ps *partitions) first(l *line) *partition {
	p := &ps.slots[l.pop(ps.links)]
	p.clear(queued)
	return p
}

// next takes the first partition out of a queue.
func (ps *partitions) next(q *queue) *partition {
	p := &ps.slots[q.pop(ps.links)]
	p.clear(queued)
	return p
}

// leave takes a partition out of the middle of a queue.
func (ps *partitions) leave(q *queue, p *partition) {
	p.clear(queued)
	q.remove(ps.links, p.slot)
}

// Count returns how many partitions of the kind with that index are at the place; for the Freeing places, how
// many blocks; for the Held places, how many calls, jobs or blocks. Those of a batch count once for each of its proofs.
func (c *Core) Count(kind int, place Place) int {
	return int(*c.census[kind].at(place))
}

// Idle reports whether nothing is left to do: no job waits or is in flight, no block is being freed and no data is
// being loaded. Timers may be under way; nothing depends on them.
func (c *Core) Idle() bool { return c.running == 0 && c.inFlight == 0 && c.waiting.empty() }

// InFlight returns the number of jobs in flight.
func (c *Core) InFlight() int { return int(c.inFlight) }

// FreePermits returns the number of permits that nobody holds.
func (c *Core) FreePermits() Count { return Count(c.permits) }

// Census copies the counts of all kinds and places into the slice, which it returns: that of kind k and place p
// is at k*NumPlaces+p.
func (c *Core) Census(into []int32) []int32 {
	into = into[:0]
	for k := range c.census {
		into = append(into, c.census[k][:NumPlaces]...)
	}
	return into
}

// State returns how full the pipeline is.
func (c *Core) State() State {
	s := State{Permits: Count(c.permits), Channel: c.channel.n, Blocked: c.blocked.n, Ledger: c.ledger.used}
	if c.config.Admission.Permits == Unbounded {
		s.Permits = Unbounded
	}
	return s
}

// Reserved returns the bytes that the ledger has reserved; without a budget, those of the resident data.
func (c *Core) Reserved() Bytes { return c.ledger.used }

// LocksHeld returns the number of devices whose lock somebody holds.
func (c *Core) LocksHeld() int32 { return c.locks }

// BusyWorkers returns the number of GPU workers that have a partition.
func (c *Core) BusyWorkers() int32 { return int32(len(c.workers)) - c.idle.n }

// Done returns the number of jobs that are done.
func (c *Core) Done() int { return int(c.done) }

// Ended returns the number of jobs that are done, have failed or were given up.
func (c *Core) Ended() int { return int(int64(c.arrived) - int64(c.inFlight) - c.waiting.n) }

// Stalled reports whether the last step ended in a Stall.
func (c *Core) Stalled() bool { return c.stalled }

// Waiting reports whether a job has not begun.
func (c *Core) Waiting() bool { return !c.waiting.empty() }

// Admitting reports whether a partition of a job in flight waits to be admitted.
func (c *Core) Admitting() bool { return c.ready.n > 0 }

// count changes the number of what a kind has at a place. The parts of a batch count once for each of its proofs.
func (c *Core) count(kind uint16, at Place, change int32) {
	*c.census[kind].at(at) += change
}

// move takes a partition from the place where it is to another one.
func (c *Core) move(p *partition, to Place) {
	n := &c.census[p.kind]
	*n.at(p.place) -= int32(p.proofs)
	*n.at(to) += int32(p.proofs)
	p.place = to
}
