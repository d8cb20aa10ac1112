// Package work turns amounts of work into instants. Stages of one kind slow each other down and are slowed by
// others, and their speed changes whenever something begins or ends; each stage therefore has a clock of work
// that all its runners share, so that a change costs O(log n) and no running task is touched. The simulator and
// the virtual device use this same code, which is what makes their streams equal.
//
// All state is integers: work and time in nanoseconds, slowdowns in 32-bit fixed point. A completion is rounded
// up to the next nanosecond.
package work

import (
	"math/bits"

	"headroom/model"
	"headroom/model/profile"
)

// Forever is an instant that is never reached.
const Forever model.Instant = endless

const one = 1 << 32 // slowdown 1 in fixed point

// endless is the key of work that ends beyond the range of instants, 292 years: it is never due.
const endless = never - 1

// The slowdowns that fixed point can hold with their inverses; others are taken for the nearer one.
const (
	leastSlowdown = 1.0 / (1 << 16)
	mostSlowdown  = 1 << 30
)

// clock is the clock of work of one stage.
type clock struct {
	stage   model.Stage
	steady  bool           // nothing slows the stage down: its work is time, and the clock shows the instant
	set     model.StageSet // of the stage alone
	running int32          // runners
	work    int64          // work on the clock at the instant `at`
	at      model.Instant
	due     model.Instant // when the first key is reached, unless the clock is steady
	slow    uint64        // nanoseconds of time per nanosecond of work, fixed point
	speed   uint64        // its inverse
	keys    agenda        // the work on the clock at which each lane is done
}

// read returns the work on the clock at a later instant. It does not reach the first key before that is due:
// slowdown and speed are rounded each by itself, and a stage that was found over a few nanoseconds early would be
// due at an instant that is already being dealt with.
func (c *clock) read(now model.Instant) int64 {
	if c.steady {
		return int64(now)
	}
	first := c.keys.first
	if first == never {
		return c.work
	}
	if now >= c.due {
		return first
	}
	return min(c.work+scale(int64(now-c.at), c.speed), max(first-1, c.work))
}

func (c *clock) advance(now model.Instant) {
	if c.at != now {
		c.work, c.at = c.read(now), now
	}
}

// when returns the first instant at which the clock shows that much work.
func (c *clock) when(work int64) model.Instant {
	if c.steady {
		return model.Instant(work)
	}
	if work <= c.work {
		return c.at
	}
	hi, lo := bits.Mul64(uint64(work-c.work), c.slow)
	lo, carry := bits.Add64(lo, one-1, 0)
	hi += carry
	if hi >= 1<<31 || work == endless {
		return Forever
	}
	return c.at + min(model.Instant(hi<<32|lo>>32), Forever-c.at)
}

// scale multiplies by a fixed-point factor and rounds down.
func scale(x int64, factor uint64) int64 {
	hi, lo := bits.Mul64(uint64(x), factor)
	return int64(hi<<32 | lo>>32)
}

// Clocks are the clocks of work of all stages.
type Clocks struct {
	next      model.Instant                  // the least of due, Forever at most
	due       [model.NumStages]model.Instant // when each clock's first key is reached
	clocks    [model.NumStages]clock
	changed   model.StageSet // stages with keys or a speed that changed since the last Settle
	unsettled model.StageSet // the stages of which a change has to be settled: the coupled and the watched ones
	watched   model.StageSet // the stages whose runners a speed depends on
	atOnce    []Completion   // started without any work: over when the round is
	coupled   []*clock       // those that are not steady
	laws      *laws
	settled   [model.NumStages]int32 // runners of the watched stages, when speeds were last set
}

// NewClocks returns clocks at instant 0 with nothing running. The interference must be valid (profile.Validate).
func NewClocks(in profile.Interference) *Clocks {
	c := &Clocks{laws: newLaws(in), next: Forever}
	for s := range c.clocks {
		c.due[s] = Forever
		k := &c.clocks[s]
		*k = clock{stage: model.Stage(s), set: 1 << s, slow: one, speed: one, due: Forever, keys: newAgenda()}
		if k.steady = c.laws.depends[s] == 0; k.steady {
			continue
		}
		c.coupled = append(c.coupled, k)
		c.watched |= c.laws.depends[s]
		c.unsettled |= c.laws.depends[s] | k.set
	}
	return c
}

// Start begins an amount of work of a stage on a lane that is free. Settle must follow before time goes on.
func (c *Clocks) Start(now model.Instant, s model.Stage, lane int32, work model.Span) {
	k := &c.clocks[s]
	k.running++
	c.changed |= k.set
	if work == 0 {
		c.atOnce = append(c.atOnce, Completion{s, lane})
		return
	}
	if k.steady {
		k.keys.add(int64(now)+min(int64(work), endless-int64(now)), lane)
		c.setDue(s, model.Instant(k.keys.first))
		return
	}
	k.advance(now)
	k.keys.add(k.work+min(int64(work), endless-k.work), lane)
}

// setDue sets when a clock's first key is reached, which is not later than before.
func (c *Clocks) setDue(s model.Stage, due model.Instant) {
	c.due[s] = due
	if due < c.next {
		c.next = due
	}
}

// Settle sets the speeds that follow from what runs now.
func (c *Clocks) Settle(now model.Instant) {
	if c.changed&c.unsettled != 0 || len(c.atOnce) > 0 {
		c.settle(now)
	}
	c.changed = 0
}

func (c *Clocks) settle(now model.Instant) {
	for _, o := range c.atOnce {
		k := &c.clocks[o.Stage]
		k.advance(now)
		k.keys.add(k.work, o.Lane)
		c.setDue(o.Stage, now)
	}
	c.atOnce = c.atOnce[:0]
	var moved model.StageSet
	for set := c.changed & c.watched; set != 0; set &= set - 1 {
		s := bits.TrailingZeros32(uint32(set))
		if n := c.clocks[s].running; n != c.settled[s] {
			c.settled[s] = n
			moved |= 1 << s
		}
	}
	for _, k := range c.coupled {
		if c.laws.depends[k.stage]&moved != 0 {
			c.setSpeed(k, now)
		}
		if c.changed.Has(k.stage) {
			k.due = Forever
			if first := k.keys.first; first != never {
				k.due = k.when(first)
			}
			c.due[k.stage] = k.due
		}
	}
	c.findNext()
}

// findNext follows dues that may be later than before.
func (c *Clocks) findNext() {
	d := &c.due
	c.next = min(Forever, d[model.Load], d[model.Parse], d[model.Synth], d[model.Prep], d[model.Kernel], d[model.Tail],
		d[model.Finish], d[model.Dealloc])
}

func (c *Clocks) setSpeed(k *clock, now model.Instant) {
	slow := c.laws.fixed(k.stage, &c.settled)
	if slow == k.slow {
		return
	}
	k.advance(now)
	k.slow = slow
	k.speed = uint64(model.Nearest(one / (float64(slow) / one)))
	c.changed |= k.set
}

// Next returns the instant of the next completion, or Forever.
func (c *Clocks) Next() model.Instant { return c.next }

// Running returns how many runners a stage has.
func (c *Clocks) Running(s model.Stage) int32 { return c.clocks[s].running }

// Completion is a stage that is over on a lane.
type Completion struct {
	Stage model.Stage
	Lane  int32
}

// Take takes out a stage that is over at an instant that Next returns: downstream first, then by lane. Lanes that
// asked for the same work on one clock end together whatever the slowdown. What is started in between is not over
// before Settle, which must follow before time goes on.
func (c *Clocks) Take(now model.Instant) Completion {
	s := c.dueAt(now)
	k := &c.clocks[s]
	k.running--
	c.changed |= k.set
	k.work, k.at = k.keys.first, now
	lane := k.keys.pop()
	if k.steady {
		c.due[s] = model.Instant(k.keys.first)
	} else if k.keys.first != k.work {
		k.due, c.due[s] = Forever, Forever
	}
	c.findNext()
	return Completion{s, lane}
}

// dueAt returns the stage that is furthest downstream of those due at an instant that Next returned.
func (c *Clocks) dueAt(now model.Instant) model.Stage {
	switch d := &c.due; now {
	case d[model.Dealloc]:
		return model.Dealloc
	case d[model.Finish]:
		return model.Finish
	case d[model.Tail]:
		return model.Tail
	case d[model.Kernel]:
		return model.Kernel
	case d[model.Prep]:
		return model.Prep
	case d[model.Synth]:
		return model.Synth
	case d[model.Parse]:
		return model.Parse
	}
	return model.Load
}

// Pop takes out all that is over at an instant that Next returned and appends it to over.
func (c *Clocks) Pop(now model.Instant, over []Completion) []Completion {
	for c.Next() == now {
		over = append(over, c.Take(now))
	}
	return over
}
