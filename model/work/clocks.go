// Package work turns amounts of work into instants. Stages of one kind slow each other down and are slowed by
// others, and their speed changes whenever something begins or ends; each stage therefore has a clock of work
// that all its runners share, so that a change costs O(log n) and no running task is touched. The simulator and
// the virtual device use this same code, which is what makes their streams equal.
//
// All state is integers: work and time in nanoseconds, slowdowns in 32-bit fixed point. A completion is rounded
// up to the next nanosecond.
package work

import (
	"math"
	"math/bits"
	"slices"

	"headroom/model"
	"headroom/model/profile"
)

// Forever is an instant that is never reached.
const Forever model.Instant = math.MaxInt64

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
	stage model.Stage
	used  bool
	keys  tree  // the work on the clock at which each lane is done
	work  int64 // work on the clock at the instant `at`
	at    model.Instant
	slow  uint64 // nanoseconds of time per nanosecond of work, fixed point
	speed uint64 // its inverse
	due   model.Instant
}

// read returns the work on the clock at a later instant. It does not reach the first key before that is due:
// slowdown and speed are rounded each by itself, and a stage that was found over a few nanoseconds early would be
// due at an instant that is already being dealt with.
func (c *clock) read(now model.Instant) int64 {
	first := c.keys.min()
	if first == never {
		return c.work
	}
	if now < c.due && c.work < first {
		first--
	}
	return min(c.work+scale(int64(now-c.at), c.speed), first)
}

func (c *clock) advance(now model.Instant) {
	if c.at != now {
		c.work = c.read(now)
		c.at = now
	}
}

// when returns the first instant at which the clock shows that much work.
func (c *clock) when(work int64) model.Instant {
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
	laws    *laws
	clocks  [model.NumStages]clock
	running [model.NumStages]int32
	settled [model.NumStages]int32 // running, when speeds were last set
	changed model.StageSet         // stages with keys or a speed that changed since the last Settle
	used    []*clock               // of the stages that ever ran, downstream first
	coupled []*clock               // of the stages whose speed depends on what runs
	watched model.StageSet         // the stages whose runners they depend on
}

// NewClocks returns clocks at instant 0 with nothing running. The interference must be valid (profile.Validate).
func NewClocks(in profile.Interference) *Clocks {
	c := &Clocks{laws: newLaws(in)}
	for s := range c.clocks {
		k := &c.clocks[s]
		*k = clock{stage: model.Stage(s), slow: one, speed: one, due: Forever}
		if c.laws.depends[s] != 0 {
			c.coupled = append(c.coupled, k)
			c.watched |= c.laws.depends[s]
		}
	}
	return c
}

// Start begins an amount of work of a stage on a lane that is free. Settle must follow before time goes on.
func (c *Clocks) Start(now model.Instant, s model.Stage, lane int32, work model.Span) {
	k := &c.clocks[s]
	if !k.used {
		c.use(k)
	}
	k.advance(now)
	k.keys.set(lane, k.work+min(int64(work), endless-k.work))
	c.changed |= 1 << s
	c.running[s]++
}

// use adds a clock to those in use, which are in order, downstream first.
func (c *Clocks) use(k *clock) {
	k.used = true
	at := 0
	for at < len(c.used) && c.used[at].stage > k.stage {
		at++
	}
	c.used = slices.Insert(c.used, at, k)
}

// Settle sets the speeds that follow from what runs now.
func (c *Clocks) Settle(now model.Instant) {
	if c.changed&c.watched != 0 {
		c.setSpeeds(now)
	}
	for ; c.changed != 0; c.changed &= c.changed - 1 {
		k := &c.clocks[bits.TrailingZeros16(uint16(c.changed))]
		k.due = Forever
		if first := k.keys.min(); first != never {
			k.due = k.when(first)
		}
	}
}

// setSpeeds sets the speeds of the stages that depend on a number of runners which is not what it was.
func (c *Clocks) setSpeeds(now model.Instant) {
	var moved model.StageSet
	for s, n := range c.running {
		if n != c.settled[s] {
			moved |= 1 << s
		}
	}
	if moved == 0 {
		return
	}
	c.settled = c.running
	for _, k := range c.coupled {
		if c.laws.depends[k.stage]&moved != 0 {
			c.setSpeed(k, now)
		}
	}
}

func (c *Clocks) setSpeed(k *clock, now model.Instant) {
	slowdown := min(max(c.laws.slowdown(k.stage, &c.running), leastSlowdown), mostSlowdown)
	slow := uint64(model.Nearest(slowdown * one))
	if slow == k.slow {
		return
	}
	k.advance(now)
	k.slow = slow
	k.speed = uint64(model.Nearest(one / (float64(slow) / one)))
	c.changed |= 1 << k.stage
}

// Next returns the instant of the next completion, or Forever.
func (c *Clocks) Next() model.Instant {
	next := Forever
	for _, k := range c.used {
		next = min(next, k.due)
	}
	return next
}

// Running returns how many runners a stage has.
func (c *Clocks) Running(s model.Stage) int32 { return c.running[s] }

// Completion is a stage that is over on a lane.
type Completion struct {
	Stage model.Stage
	Lane  int32
}

// Pop takes out what is over at an instant that Next returned and appends it to over: downstream first, then by
// lane. Lanes that asked for the same work on one clock end together whatever the slowdown. Settle must follow before time goes on.
func (c *Clocks) Pop(now model.Instant, over []Completion) []Completion {
	for _, k := range c.used {
		if k.due == now {
			before := len(over)
			over = k.pop(over)
			c.running[k.stage] -= int32(len(over) - before)
			c.changed |= 1 << k.stage
		}
	}
	return over
}

// pop takes out what is over at the instant at which the clock is due.
func (c *clock) pop(over []Completion) []Completion {
	first := c.keys.min()
	c.work, c.at, c.due = first, c.due, Forever
	for {
		lane := c.keys.first()
		c.keys.set(lane, never)
		over = append(over, Completion{c.stage, lane})
		if c.keys.min() != first {
			return over
		}
	}
}
