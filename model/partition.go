package model

// Place is where a partition, or a block that is being freed, is. Whoever is there holds its memory.
type Place uint8

// The places, in the order in which a partition goes through them.
const (
	InSynth           Place = iota // being synthesized
	InSend                         // synthesized and blocked in send
	InChannel                      // in the channel
	OnGPU                          // on a GPU worker, waiting for the lock included
	InFinish                       // finishing or waiting for a finalizer
	FreeingVectors                 // vectors waiting to be freed or being freed
	FreeingAssignment              // the same for the assignment
	NumPlaces
	gone // finished; at most blocks are still being freed
)

// Marks of a partition.
type marks uint8

const (
	holdsPermit marks = 1 << iota
	holdsLock
	holdsVectors
	holdsAssignment
	kernelOver // the first part of the kernel region is over
	queued     // stands in a queue
	called     // was on a GPU worker
)

// partition is what the core knows of one partition.
type partition struct {
	job, index int32
	jobSlot    int32
	next       int32  // link of the one queue it stands in
	gen        uint32 // generation of the slot
	worker     int32  // GPU worker, or none
	lane       int32  // of Synth, or of Finish on a finalizer
	freeLane   [2]int32
	kind       uint16
	place      Place
	marks      marks
	running    StageSet // stages begun and not over, Dealloc apart
	freeing    [2]freeState
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
	free  queue
}

func (ps *partitions) at(slot int32) *partition { return &ps.slots[slot] }
func (ps *partitions) link(slot int32) *int32   { return &ps.slots[slot].next }

func (ps *partitions) take(p partition) int32 {
	if ps.free.n == 0 {
		ps.slots = append(ps.slots, p)
		return int32(len(ps.slots) - 1)
	}
	slot := pop(&ps.free, ps)
	p.gen = ps.slots[slot].gen
	ps.slots[slot] = p
	return slot
}

func (ps *partitions) put(slot int32) {
	ps.slots[slot].gen++
	push(&ps.free, ps, slot)
}

// wait puts a partition at the end of a queue.
func (ps *partitions) wait(q *queue, slot int32) {
	ps.at(slot).set(queued)
	push(q, ps, slot)
}

// next takes the first partition out of a queue.
func (ps *partitions) next(q *queue) int32 {
	slot := pop(q, ps)
	ps.at(slot).clear(queued)
	return slot
}

// leave takes a partition out of the middle of a queue.
func (ps *partitions) leave(q *queue, slot int32) {
	ps.at(slot).clear(queued)
	remove(q, ps, slot)
}

// job is what the core knows of one job in flight.
type job struct {
	number   int32
	next     int32
	admitted int32 // partitions admitted so far
	left     int32 // partitions that have not finished or left
	gen      uint32
	lane     int32 // of Parse
	kind     uint16
	parsing  bool
	doomed   bool // failed or cancelled: its partitions leave
	live     bool // the slot is in use
}

// jobs is the slots of jobs in flight.
type jobs struct {
	slots []job
	free  queue
}

func (js *jobs) at(slot int32) *job     { return &js.slots[slot] }
func (js *jobs) link(slot int32) *int32 { return &js.slots[slot].next }

func (js *jobs) take(j job) int32 {
	j.live = true
	if js.free.n == 0 {
		js.slots = append(js.slots, j)
		return int32(len(js.slots) - 1)
	}
	slot := pop(&js.free, js)
	j.gen = js.slots[slot].gen
	js.slots[slot] = j
	return slot
}

func (js *jobs) put(slot int32) {
	js.slots[slot].gen++
	js.slots[slot].live = false
	push(&js.free, js, slot)
}

// Count returns how many partitions of the kind with that index are at the place; for the Freeing places, how
// many blocks.
func (c *Core) Count(kind int, place Place) int {
	return int(c.census[kind*int(NumPlaces)+int(place)])
}

// Idle reports whether nothing is left to do: no job waits or is in flight and no block is being freed.
func (c *Core) Idle() bool { return c.running == 0 && c.inFlight == 0 && c.waiting.empty() }

// InFlight returns the number of jobs in flight.
func (c *Core) InFlight() int { return int(c.inFlight) }

// FreePermits returns the number of permits that nobody holds.
func (c *Core) FreePermits() Count { return Count(c.permits) }

// Census copies the counts of all kinds and places into the slice, which it returns: that of kind k and place p
// is at k*NumPlaces+p.
func (c *Core) Census(into []int32) []int32 { return append(into[:0], c.census...) }

// State returns how full the pipeline is.
func (c *Core) State() State {
	s := State{Permits: Count(c.permits), Channel: c.channel.n, Blocked: c.blocked.n}
	if c.config.Admission.Permits == Unbounded {
		s.Permits = Unbounded
	}
	return s
}

// LocksHeld returns the number of devices whose lock somebody holds.
func (c *Core) LocksHeld() int32 {
	n := int32(0)
	for d := range c.devices {
		if c.devices[d].locked {
			n++
		}
	}
	return n
}

// Waiting reports whether a job has not begun.
func (c *Core) Waiting() bool { return !c.waiting.empty() }

// Admitting reports whether a partition of a job in flight waits to be admitted.
func (c *Core) Admitting() bool { return c.ready.n > 0 }

func (c *Core) cell(slot int32, place Place) int {
	return int(c.partitions.at(slot).kind)*int(NumPlaces) + int(place)
}

// move takes a partition from the place where it is to another one.
func (c *Core) move(slot int32, to Place) {
	p := c.partitions.at(slot)
	c.census[c.cell(slot, p.place)]--
	p.place = to
	if to != gone {
		c.census[c.cell(slot, to)]++
	}
}
