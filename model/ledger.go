package model

import (
	"fmt"
	"math"
	"slices"
)

// ledger is the byte ledger: what the admission policy believes is held. Without a budget its total has no end.
type ledger struct {
	used, total Bytes
	timed       bool // what is refused is tried again by the timer alone
	// refused is the job whose next partition was refused, or none. It is not tried again before something was released
	// or the timer rang.
	refused        int32
	retryAdmission bool
	retryOpening   bool
}

// keepBooks opens the ledger with the data that is there from the start.
func (c *Core) keepBooks() {
	c.ledger = ledger{total: math.MaxInt64, refused: none}
	if b := c.config.Admission.Budget; b != nil {
		c.ledger.total = b.Available()
		c.ledger.timed = b.Retry == RetryTimed
	}
	c.timers = make([]timer, int(idleTimer)+len(c.config.Resident))
	c.data.items = make([]datum, len(c.config.Resident))
	for n := range c.data.items {
		r, d := &c.config.Resident[n], &c.data.items[n]
		*d = datum{
			bytes: r.Bytes, transient: r.Transient, evictable: r.Evictable,
			polling: r.Acquire == AcquirePolling, background: r.Background,
		}
		if !r.OnDemand {
			d.state, d.rested = loaded, r.Evictable
			c.ledger.used += r.Bytes
		}
	}
}

// take reserves bytes if they are free.
func (l *ledger) take(bytes Bytes) bool {
	if bytes > 0 && bytes > l.total-l.used {
		return false
	}
	l.used += bytes
	return true
}

// release returns reserved bytes. Where waiters are woken on release, it wakes all of them.
func (l *ledger) release(bytes Bytes) {
	if bytes == 0 {
		return
	}
	l.used -= bytes
	if !l.timed {
		l.wake()
	}
}

// wake lets everything that was refused try again.
func (l *ledger) wake() {
	l.refused = none
	l.retryAdmission, l.retryOpening = true, true
}

// reserveAdmission reserves what the next partition of a job needs.
func (c *Core) reserveAdmission(j *job) bool {
	bytes := c.traits[j.kind].reserve() * Bytes(j.proofs())
	if c.ledger.refused == j.number {
		return false
	}
	if c.reserve(bytes, nil) {
		return true
	}
	c.ledger.refused = j.number
	if c.ledger.timed {
		c.arm(retryTimer, RetryInterval)
	}
	return false
}

// reserveOpening reserves for a job that waits, which keeps its place in line when it is refused.
func (c *Core) reserveOpening(bytes Bytes, keep []int) bool {
	if c.reserve(bytes, keep) {
		return true
	}
	if c.ledger.timed {
		c.arm(retryTimer, RetryInterval)
	}
	return false
}

// reserve reserves bytes, evicting idle data but that to keep if need be.
func (c *Core) reserve(bytes Bytes, keep []int) bool {
	if c.ledger.take(bytes) {
		return true
	}
	c.evict(bytes, keep)
	return c.ledger.take(bytes)
}

// releasePart returns a part of a partition's reservation that it still holds.
func (c *Core) releasePart(p *partition, part marks) {
	if p.clear(part) {
		c.release(p, part)
	}
}

func (c *Core) release(p *partition, part marks) {
	t := &c.traits[p.kind]
	bytes := t.restPart
	if part == holdsKernelPart {
		bytes = t.kernelPart
	}
	c.ledger.release(bytes * Bytes(p.proofs))
}

// The timers; that of the idle time of data n is idleTimer + n.
const (
	retryTimer int32 = iota // a reservation that was refused is tried again
	batchTimer              // a batch is closed
	idleTimer
)

// timer is a WakeAt that may be under way.
type timer struct {
	armed bool
	gen   uint32
}

// arm asks for a Wake after a span, unless one is under way.
func (c *Core) arm(n int32, after Span) {
	t := &c.timers[n]
	if t.armed {
		return
	}
	t.armed = true
	e := c.emit(WakeAt)
	e.Task.Slot, e.Task.Gen, e.After = n, t.gen, after
}

// disarm makes a Wake that is under way be ignored.
func (c *Core) disarm(n int32) {
	if t := &c.timers[n]; t.armed {
		t.armed = false
		t.gen++
	}
}

// wake takes note that a timer rang. One that was disarmed since is ignored: a Wake cannot be called back.
func (c *Core) wake(t *Task) error {
	if t.Slot < 0 || int(t.Slot) >= len(c.timers) || t.Gen > c.timers[t.Slot].gen {
		return fmt.Errorf("model: timer %d of generation %d rang: it was never set", t.Slot, t.Gen)
	}
	if rang := &c.timers[t.Slot]; !rang.armed || rang.gen != t.Gen {
		return nil
	}
	c.disarm(t.Slot)
	switch t.Slot {
	case retryTimer:
		c.retry()
	case batchTimer:
		c.closeBatch()
	default:
		c.data.items[t.Slot-idleTimer].rested = c.data.items[t.Slot-idleTimer].idle()
	}
	return nil
}

// retry lets what polls try again.
func (c *Core) retry() {
	for n := range c.data.items {
		d := &c.data.items[n]
		if !d.refused {
			continue
		}
		d.refused = false
		if d.state == loadOver {
			c.settleLoad(n)
		}
	}
	c.ledger.retryOpening = true
	if c.ledger.timed {
		c.ledger.wake()
	}
}

// mayProceed reports whether a timer that is under way may let something proceed although nothing runs. A retry may
// only if what it would try for is free by then.
func (c *Core) mayProceed() bool {
	if c.timers[batchTimer].armed {
		return true
	}
	if !c.timers[retryTimer].armed {
		return false
	}
	free := c.ledger.total - c.ledger.used
	for n := range c.data.items {
		if d := &c.data.items[n]; d.refused && d.wants() <= free {
			return true
		}
	}
	return c.ledger.timed && (c.mayAdmit(free) || c.mayOpen(free))
}

// wants is what data that polls tries to reserve next.
func (d *datum) wants() Bytes {
	if d.state == loadOver {
		return d.bytes
	}
	return d.transient
}

// mayAdmit reports whether the next partition may be admitted, with so much free and idle data evicted.
func (c *Core) mayAdmit(free Bytes) bool {
	if c.ready.n == 0 || c.permits == 0 || !c.hasRoom() {
		return false
	}
	j := c.jobs.at(c.ready.first())
	return c.traits[j.kind].reserve()*Bytes(j.proofs()) <= free+c.idleBytes(nil)
}

// mayOpen reports likewise whether a job that waits may get what it tries for next.
func (c *Core) mayOpen(free Bytes) bool {
	for slot := c.opening.head; slot != none; slot = c.jobs.links[slot] {
		j := c.jobs.at(slot)
		if c.openingWants(j) <= free+c.idleBytes(c.traits[j.kind].needs) {
			return true
		}
	}
	return false
}

// idleBytes is what idle data but that to keep holds.
func (c *Core) idleBytes(keep []int) Bytes {
	idle := Bytes(0)
	for n := range c.data.items {
		if d := &c.data.items[n]; d.idle() && !slices.Contains(keep, n) {
			idle += d.bytes
		}
	}
	return idle
}

// openingWants is what a job that waits tries to reserve next, without end if it waits for something else.
func (c *Core) openingWants(j *job) Bytes {
	t := &c.traits[j.kind]
	if t.workingFirst && !j.paid {
		return c.wholeReserve(j)
	}
	if int(j.acquired) < len(t.needs) {
		if d := &c.data.items[t.needs[j.acquired]]; d.state == absent && !d.polling {
			return d.bytes + d.transient
		}
	}
	return math.MaxInt64
}
