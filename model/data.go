package model

import "slices"

// data is the resident data that comes and goes.
type data struct {
	items []datum // by index in Config.Resident; those that are always there never change
	idled uint64  // how often an item has become idle
	lanes laneSet
}

// datum is an item of resident data.
type datum struct {
	bytes, transient Bytes
	evictable        bool
	polling          bool
	background       bool

	state   dataState
	wanted  bool   // in the background, by a job that began
	refused bool   // polling: wait for the timer
	rested  bool   // idle for long enough to be evicted
	users   int32  // jobs in flight that claim it
	gen     uint32 // how often it was loaded
	lane    int32
	idleAt  uint64 // data.idled when it became idle
}

// dataState is where an item is on its way.
type dataState uint8

const (
	absent dataState = iota
	loadRunning
	loadOver // loaded; if polling, its own bytes are not yet reserved
	loaded
)

// load reserves what loading needs, evicting none of the data to keep, and begins it, or reports that it cannot now.
func (c *Core) load(n int, keep []int) bool {
	d := &c.data.items[n]
	if d.refused || !c.reserveLoad(d, keep) {
		return false
	}
	d.state = loadRunning
	d.lane = c.data.lanes.take()
	c.running++
	e := c.emit(Start)
	e.Task = Task{Stage: Load, Lane: d.lane, Slot: int32(n), Gen: d.gen}
	return true
}

func (c *Core) reserveLoad(d *datum, keep []int) bool {
	if !d.polling {
		return c.reserveOpening(d.bytes+d.transient, keep)
	}
	return c.poll(d, d.transient)
}

// poll reserves without evicting; what is refused waits for the timer.
func (c *Core) poll(d *datum, bytes Bytes) bool {
	if c.ledger.take(bytes) {
		return true
	}
	d.refused = true
	c.arm(retryTimer, RetryInterval)
	return false
}

// endLoad takes note that a load is over. When it failed, so have the jobs that wait for it.
func (c *Core) endLoad(n int, failed bool) {
	d := &c.data.items[n]
	c.data.lanes.put(d.lane)
	d.gen++
	if !failed {
		d.state = loadOver
		c.settleLoad(n)
		return
	}
	d.state, d.wanted = absent, false
	c.ledger.release(d.transient)
	if !d.polling {
		c.ledger.release(d.bytes)
	}
	if !d.background {
		c.failWaiting(n)
	}
}

// settleLoad makes loaded data usable once all its bytes are reserved.
func (c *Core) settleLoad(n int) {
	d := &c.data.items[n]
	if d.polling && (d.refused || !c.poll(d, d.bytes)) {
		return
	}
	d.state = loaded
	c.emit(Loaded).Task.Slot = int32(n)
	c.ledger.release(d.transient)
	c.ledger.retryOpening = true
	if d.users == 0 {
		c.idleData(n)
	}
}

// failWaiting fails the jobs that claim data which could not be loaded.
func (c *Core) failWaiting(n int) {
	for slot := c.opening.head; slot != none; {
		next := c.jobs.links[slot]
		j := c.jobs.at(slot)
		for _, need := range c.traits[j.kind].needs[:j.acquired] {
			if need == n {
				c.opening.remove(c.jobs.links, slot)
				c.fail(slot)
				break
			}
		}
		slot = next
	}
}

// idleData takes note that no job claims an item any more.
func (c *Core) idleData(n int) {
	d := &c.data.items[n]
	if !d.evictable {
		return
	}
	c.data.idled++
	d.idleAt = c.data.idled
	if rest := c.minIdle(); rest > 0 {
		d.rested = false
		c.arm(idleTimer+int32(n), rest)
		return
	}
	d.rested = true
}

func (c *Core) minIdle() Span {
	if b := c.config.Admission.Budget; b != nil {
		return b.EvictionMinIdle
	}
	return 0
}

// evict gives up idle data but that to keep, longest idle first, until so many bytes can be reserved or nothing is left
// to evict.
func (c *Core) evict(bytes Bytes, keep []int) {
	for bytes > c.ledger.total-c.ledger.used {
		victim := none
		for n := range c.data.items {
			d := &c.data.items[n]
			if d.idle() && d.rested && !slices.Contains(keep, n) && (victim == none || d.idleAt < c.data.items[victim].idleAt) {
				victim = int32(n)
			}
		}
		if victim == none {
			return
		}
		d := &c.data.items[victim]
		d.state, d.rested = absent, false
		c.ledger.release(d.bytes)
		c.emit(Evict).Task.Slot = victim
	}
}

// idle reports whether the item is there, may be evicted and is claimed by nobody.
func (d *datum) idle() bool { return d.evictable && d.state == loaded && d.users == 0 }
