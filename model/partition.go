package model

// Place is where a partition, or a block that is being freed, is, or what else is held: whoever is counted at a
// place holds its memory.
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
	HeldCall                       // the memory of a proof call
	HeldParse                      // a job's parse buffer
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
	slot       int32
	gen        uint32 // generation of the slot
	worker     int32  // GPU worker, or none
	lane       int32  // of Synth, or of Finish on a finalizer
	freeLane   [2]int32
	kind       uint16
	stages     StageSet // of its kind
	place      Place
	marks      marks
	running    StageSet // stages begun and not over, Dealloc apart
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

// job is what the core knows of one job in flight.
type job struct {
	number   int32
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
	links links
	free  queue
}

func (js *jobs) at(slot int32) *job { return &js.slots[slot] }

func (js *jobs) take(j job) int32 {
	j.live = true
	if js.free.n == 0 {
		js.slots = append(js.slots, j)
		js.links = append(js.links, none)
		return int32(len(js.slots) - 1)
	}
	slot := js.free.pop(js.links)
	j.gen = js.slots[slot].gen
	js.slots[slot] = j
	return slot
}

func (js *jobs) put(slot int32) {
	js.slots[slot].gen++
	js.slots[slot].live = false
	js.free.push(js.links, slot)
}

// Count returns how many partitions of the kind with that index are at the place; for the Freeing places, how
// many blocks; for the Held places, how many calls or jobs.
func (c *Core) Count(kind int, place Place) int {
	return int(c.census[kind][place])
}

// Idle reports whether nothing is left to do: no job waits or is in flight and no block is being freed.
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
		into = append(into, c.census[k][:]...)
	}
	return into
}

// State returns how full the pipeline is.
func (c *Core) State() State {
	s := State{Permits: Count(c.permits), Channel: c.channel.n, Blocked: c.blocked.n}
	if c.config.Admission.Permits == Unbounded {
		s.Permits = Unbounded
	}
	return s
}

// LocksHeld returns the number of devices whose lock somebody holds.
func (c *Core) LocksHeld() int32 { return c.locks }

// BusyWorkers returns the number of GPU workers that have a partition.
func (c *Core) BusyWorkers() int32 { return int32(len(c.workers)) - c.idle.n }

// Done returns the number of jobs that are done.
func (c *Core) Done() int { return int(c.done) }

// Stalled reports whether the last step ended in a Stall.
func (c *Core) Stalled() bool { return c.stalled }

// Waiting reports whether a job has not begun.
func (c *Core) Waiting() bool { return !c.waiting.empty() }

// Admitting reports whether a partition of a job in flight waits to be admitted.
func (c *Core) Admitting() bool { return c.ready.n > 0 }

// count changes the number of what a kind has at a place.
func (c *Core) count(kind uint16, at Place, change int32) {
	c.census[kind][at] += change
}

// move takes a partition from the place where it is to another one.
func (c *Core) move(p *partition, to Place) {
	cells := &c.census[p.kind]
	cells[p.place]--
	p.place = to
	if to != gone {
		cells[to]++
	}
}
