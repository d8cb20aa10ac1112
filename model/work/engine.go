package work

import (
	"headroom/model"
	"headroom/model/profile"
)

// Engine does in virtual time what a prover does in real time: it carries out the effects of the core with
// sampled amounts of work and says what is over when. The simulator and the virtual device both are an Engine
// with a loop around it, so that they cannot differ.
type Engine struct {
	Memory  *Memory
	clocks  *Clocks
	blocks  []blocks // by kind
	sampler *profile.Sampler
	fails   func(job, partition int32, s model.Stage) bool
	tasks   [model.NumStages][]running // by lane
	now     model.Instant              // up to which the memory is evaluated
}

// blocks is what is held of a kind as a whole, whatever the progress of a stage.
type blocks struct {
	parse, vectors, assignment, call model.Bytes
	synthesized                      model.Bytes // what a synthesis leaves behind
}

// running is a stage under way, as its lane remembers it.
type running struct {
	over           Finished // what to report when it is
	job, partition int32
	kind           uint16
}

// Finished is a stage that is over.
type Finished struct {
	Input model.Input // Done or Failed
	Begin model.Instant
}

// Setup is what an Engine is made from. The profile's kinds and interference must be valid.
type Setup struct {
	Kinds        []profile.Kind // as the core numbers them
	Interference profile.Interference
	Base         model.Bytes // resident from the start
	Limit        model.Bytes // 0: none
	Seed         uint64
	Replication  uint32
	// Fails reports whether a stage fails at its end; nil: none does. It must be a function of its arguments
	// alone. Freeing never fails and is not asked about.
	Fails func(job, partition int32, s model.Stage) bool
}

// NewEngine returns an engine at instant 0 with nothing running.
func NewEngine(s Setup) *Engine {
	e := &Engine{
		clocks:  NewClocks(s.Interference),
		sampler: profile.NewSampler(s.Kinds, s.Seed, s.Replication),
		fails:   s.Fails,
	}
	e.Memory = NewMemory(e.clocks, s.Kinds, s.Base, s.Limit)
	for i := range s.Kinds {
		f := &s.Kinds[i].Footprint
		e.blocks = append(e.blocks, blocks{f.Parse.Value, f.Vectors.Value, f.Assignment.Value, f.Call.Value, f.Vectors.Value + f.Assignment.Value})
	}
	return e
}

// Next returns the instant of the next completion, or Forever.
func (e *Engine) Next() model.Instant { return e.clocks.Next() }

// Busy reports whether any stage is running.
func (e *Engine) Busy() bool {
	for s := range model.NumStages {
		if e.clocks.Running(s) > 0 {
			return true
		}
	}
	return false
}

// Running returns how many runners a stage has.
func (e *Engine) Running(s model.Stage) int32 { return e.clocks.Running(s) }

// Advance brings the memory up to an instant before anything changes there. Once a round of that instant has
// begun it does nothing: what lies between a round's inputs was never held.
func (e *Engine) Advance(now model.Instant) {
	if now > e.now {
		e.now = now
		e.Memory.Advance(now)
	}
}

// Pop takes out what is over at an instant that Next returned, as one round: downstream first, then by lane.
func (e *Engine) Pop(now model.Instant, round []Finished) []Finished {
	for e.Next() == now {
		round = append(round, *e.Take(now))
	}
	return round
}

// Take is Pop for a driver that steps the core through one stage after the other. While Next returns the instant, it
// takes out the next stage and returns what to tell the core, which may be read until the next Apply.
func (e *Engine) Take(now model.Instant) *Finished {
	o := e.clocks.Take(now)
	e.Memory.End(o.Stage, o.Lane)
	r := &e.tasks[o.Stage][o.Lane]
	switch {
	case e.fails != nil && o.Stage != model.Dealloc && e.fails(r.job, r.partition, o.Stage):
		r.over.Input.Op = model.Failed
	case o.Stage == model.Synth:
		e.Memory.Add(e.blocks[r.kind].synthesized)
	}
	return &r.over
}

// Apply carries out the core's effects at an instant. Settle must follow before time goes on.
func (e *Engine) Apply(now model.Instant, effects []model.Effect) {
	for i := range effects {
		effect := &effects[i]
		switch effect.Op {
		case model.Start:
			e.start(now, effect)
		case model.Take:
			e.Memory.Add(e.blocks[effect.Kind].call)
		case model.Freed:
			e.Memory.Add(-e.blocks[effect.Kind].freed(effect))
		case model.JobStart:
			e.Memory.Add(e.blocks[effect.Kind].parse)
		}
	}
}

func (e *Engine) start(now model.Instant, effect *model.Effect) {
	t := &effect.Task
	amount := e.sampler.Work(effect.Kind, effect.Job, effect.Partition, t.Stage, t.Block)
	e.clocks.Start(now, t.Stage, t.Lane, amount)
	e.Memory.Begin(t.Stage, t.Lane, effect.Kind, amount)
	lanes := &e.tasks[t.Stage]
	for int(t.Lane) >= len(*lanes) {
		*lanes = append(*lanes, running{})
	}
	r := &(*lanes)[t.Lane]
	r.over.Begin = now
	// One by one: the core has just written them so, and the processor stalls on a wider load of narrow stores.
	over := &r.over.Input
	over.Op, over.Task.Stage, over.Task.Block, over.Task.Lane, over.Task.Slot, over.Task.Gen = model.Done, t.Stage, t.Block, t.Lane, t.Slot, t.Gen
	r.job, r.partition, r.kind = effect.Job, effect.Partition, effect.Kind
}

// freed returns what a Freed gives back. The memory of a proof call goes with the assignment.
func (b *blocks) freed(e *model.Effect) model.Bytes {
	switch {
	case e.Task.Block == model.Vectors:
		return b.vectors
	case e.Task.Block == model.ParseBuffer:
		return b.parse
	case e.Call:
		return b.assignment + b.call
	}
	return b.assignment
}

// Settle ends a round: the speeds follow from what runs now, and the memory is evaluated.
func (e *Engine) Settle(now model.Instant) {
	e.clocks.Settle(now)
	e.Memory.Observe(now)
}
