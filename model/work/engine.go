package work

import (
	"fmt"

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
	setup   *Setup
	books   books
	data    DataHeld
	loading bool                       // data that is there from the start, until the first effects
	retains bool                       // freed vectors go to a pool
	tasks   [model.NumStages][]running // by lane
	now     model.Instant              // up to which the memory is evaluated
	called  map[partition]bool         // those that hold a call's memory; nil if no kind's blocks shrink while they are freed
}

type partition struct{ job, number int32 }

// blocks is what is held of a kind as a whole, whatever the progress of a stage.
type blocks struct {
	model.Blocks
	synthesized model.Bytes // what a synthesis leaves behind
	last        model.Stage // of those on a GPU worker
}

// running is a stage under way, as its lane remembers it.
type running struct {
	over           Finished // what to report when it is
	job, partition int32
	kind, proofs   uint16
}

// DataHeld is the resident data in memory: how many items, and their bytes with the transient ones.
type DataHeld struct {
	Items int
	Bytes model.Bytes
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
	Config       model.Config // its resident list is in force
	Baseline     model.Bytes  // resident from the start, without the resident data
	Limit        model.Bytes  // of resident memory; 0: none
	// DeviceBaseline is held on every device from the start, VRAM is how much each device can hold, and Memlock and Shm
	// are how much of the host's memory can be pinned and shared; 0: no limit.
	DeviceBaseline model.Bytes
	VRAM           []model.Bytes
	Memlock, Shm   model.Bytes
	Seed           uint64
	Replication    uint32
	// Fails reports whether a stage fails at its end; nil: none does. It is asked about a Load with job -1 and the index of
	// the data, and not about freeing, which never fails. It must be a function of its arguments alone.
	Fails func(job, partition int32, s model.Stage) bool
}

// NewEngine returns an engine at instant 0 with nothing running.
func NewEngine(s Setup) *Engine {
	e := &Engine{
		clocks:  NewClocks(s.Interference),
		sampler: profile.NewSampler(s.Kinds, s.Seed, s.Replication),
		fails:   s.Fails,
		setup:   &s,
		books:   newBooks(&s),
		retains: s.Config.Pool == model.PoolRetain,
	}
	e.data, _ = s.preload()
	e.loading = true
	e.Memory = NewMemory(e.clocks, s.Kinds, s.Baseline+e.data.Bytes, s.Limit)
	for i := range s.Kinds {
		b := blocks{Blocks: s.Kinds[i].Footprint.Blocks(), last: model.Kernel}
		b.synthesized = b.Assignment
		if !e.retains { // else the vectors are held from the start on
			b.synthesized += b.Vectors
		}
		if s.Kinds[i].Has(model.Tail) {
			b.last = model.Tail
		}
		if s.Kinds[i].Footprint.Freeing != nil {
			e.called = map[partition]bool{}
		}
		e.blocks = append(e.blocks, b)
	}
	return e
}

// preload returns the data that is there from the start: when most of it was held, and once all was loaded. It was
// loaded item by item in the order of the list, each with its transient bytes.
func (s *Setup) preload() (most, all DataHeld) {
	for i := range s.Config.Resident {
		r := &s.Config.Resident[i]
		if r.OnDemand {
			continue
		}
		all.Items++
		all.Bytes += r.Bytes
		if bytes := all.Bytes + r.Transient; bytes >= most.Bytes {
			most = DataHeld{all.Items, bytes}
		}
	}
	return most, all
}

// endPreload leaves what is held once the data that is there from the start is loaded.
func (e *Engine) endPreload() {
	_, all := e.setup.preload()
	e.Memory.Add(all.Bytes - e.data.Bytes)
	e.data, e.loading = all, false
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
	if e.Memory.shaped.Has(o.Stage) {
		e.Memory.End(o.Stage, o.Lane)
	}
	r := &e.tasks[o.Stage][o.Lane]
	switch {
	case o.Stage == model.Load:
		e.endLoad(r)
	case e.fails != nil && o.Stage != model.Dealloc && e.fails(r.job, r.partition, o.Stage):
		r.over.Input.Op = model.Failed
	case o.Stage == model.Synth:
		e.Memory.Add(e.blocks[r.kind].synthesized * model.Bytes(r.proofs))
		if e.books.kept && !e.retains {
			e.books.part(r.kind, int(r.proofs))
		}
	case e.books.kept && o.Stage == e.blocks[r.kind].last:
		e.books.leave(o.Lane, r.job, r.partition)
	}
	return &r.over
}

// Apply carries out the core's effects at an instant. Settle must follow before time goes on. By the first effects all
// data that is there from the start is loaded.
func (e *Engine) Apply(now model.Instant, effects []model.Effect) {
	if e.loading {
		e.endPreload()
	}
	for i := range effects {
		effect := &effects[i]
		switch effect.Op {
		case model.Start:
			e.start(now, effect)
		case model.Take:
			e.Memory.Add(e.blocks[effect.Kind].Call * model.Bytes(effect.Proofs))
			if e.called != nil {
				e.called[partition{effect.Job, effect.Partition}] = true
			}
		case model.Freed:
			if effect.Call {
				delete(e.called, partition{effect.Job, effect.Partition})
			}
			e.Memory.Add(-e.blocks[effect.Kind].Freed(effect) * model.Bytes(effect.Proofs))
			if e.books.kept && effect.Task.Block == model.Vectors {
				e.books.part(effect.Kind, -int(effect.Proofs))
			}
		case model.JobStart:
			e.Memory.Add(e.blocks[effect.Kind].Parse)
		case model.Leave:
			e.books.leave(effect.Task.Lane, effect.Job, effect.Partition)
		case model.Evict:
			e.changeData(int(effect.Task.Slot), -1)
		}
	}
}

// changeData adds the bytes of an item of resident data, or takes them away.
func (e *Engine) changeData(n, sign int) {
	r := &e.setup.Config.Resident[n]
	bytes := r.Bytes * model.Bytes(sign)
	e.data.Items += sign
	e.data.Bytes += bytes
	e.Memory.Add(bytes)
	if r.Pinned {
		e.books.add(&e.books.pinned, bytes)
	}
}

// startLoad holds what loading takes from its start on.
func (e *Engine) startLoad(n int) model.Span {
	e.changeData(n, 1)
	r := &e.setup.Config.Resident[n]
	e.data.Bytes += r.Transient
	e.Memory.Add(r.Transient)
	return r.LoadTime
}

func (e *Engine) endLoad(r *running) {
	n := r.over.Input.Task.Slot
	transient := e.setup.Config.Resident[n].Transient
	e.data.Bytes -= transient
	e.Memory.Add(-transient)
	if e.fails != nil && e.fails(-1, n, model.Load) {
		r.over.Input.Op = model.Failed
		e.changeData(int(n), -1)
	}
}

// Data returns the resident data that is held.
func (e *Engine) Data() DataHeld { return e.data }

// Devices returns the books of the devices' memory.
func (e *Engine) Devices() []Book { return e.books.devices }

// Pinned returns the book of the host's pinned memory.
func (e *Engine) Pinned() *Book { return &e.books.pinned }

// Shared returns the book of what of the host's memory is in /dev/shm.
func (e *Engine) Shared() *Book { return &e.books.shared }

// Overflowed says what was more than can be added up, so that no peak means anything; it is empty if nothing was.
func (e *Engine) Overflowed() string {
	if e.books.full {
		return fmt.Sprintf("more than %s are held of a device's, of pinned or of shared memory at once", tooMuch)
	}
	return e.Memory.Overflowed()
}

// BookCrossed returns a book whose limit was crossed, or nil.
func (e *Engine) BookCrossed() *Book {
	if !e.books.kept {
		return nil
	}
	for d := range e.books.devices {
		if b := &e.books.devices[d]; b.Crossed() {
			return b
		}
	}
	if e.books.pinned.Crossed() {
		return &e.books.pinned
	}
	if e.books.shared.Crossed() {
		return &e.books.shared
	}
	return nil
}

func (e *Engine) start(now model.Instant, effect *model.Effect) {
	t := &effect.Task
	amount, fixed := e.sampler.Fixed(effect.Kind, t.Stage)
	if !fixed || effect.Proofs > 1 {
		amount = e.amount(effect)
	}
	e.clocks.Start(now, t.Stage, t.Lane, amount)
	if e.retains && t.Stage == model.Synth && !effect.Reused {
		e.Memory.Add(e.blocks[effect.Kind].Vectors * model.Bytes(effect.Proofs))
		e.books.part(effect.Kind, int(effect.Proofs))
	}
	if e.Memory.shaped.Has(t.Stage) && t.Stage != model.Load {
		e.Memory.Begin(t.Stage, t.Lane, effect.Kind, effect.Proofs, amount)
		if t.Stage == model.Dealloc {
			e.shrink(effect)
		}
	}
	if e.books.kept {
		e.books.stage(effect)
	}
	lanes := &e.tasks[t.Stage]
	for int(t.Lane) >= len(*lanes) {
		*lanes = append(*lanes, running{})
	}
	r := &(*lanes)[t.Lane]
	r.over.Begin = now
	// One by one: the core has just written them so, and the processor stalls on a wider load of narrow stores.
	over := &r.over.Input
	over.Op, over.Task.Stage, over.Task.Block, over.Task.Lane, over.Task.Slot, over.Task.Gen = model.Done, t.Stage, t.Block, t.Lane, t.Slot, t.Gen
	r.job, r.partition, r.kind, r.proofs = effect.Job, effect.Partition, effect.Kind, effect.Proofs
}

// shrink takes away what is gone while a block is freed, and of its call's memory with the assignment's.
func (e *Engine) shrink(effect *model.Effect) {
	freed := *effect
	freed.Call = e.called[partition{effect.Job, effect.Partition}]
	whole := e.blocks[effect.Kind].Freed(&freed) * model.Bytes(effect.Proofs)
	e.Memory.Shrink(effect.Task.Lane, e.setup.Kinds[effect.Kind].Footprint.Gone(whole))
}

// amount returns the work of a stage that begins.
func (e *Engine) amount(effect *model.Effect) model.Span {
	t := &effect.Task
	if t.Stage == model.Load {
		return e.startLoad(int(t.Slot))
	}
	amount := e.sampler.Work(effect.Kind, effect.Job, effect.Partition, t.Stage, t.Block)
	if effect.Proofs > 1 {
		amount = e.setup.Kinds[effect.Kind].Batched(t.Stage, amount, int(effect.Proofs))
	}
	return amount
}

// Settle ends a round: the speeds follow from what runs now, and the memory is evaluated.
func (e *Engine) Settle(now model.Instant) {
	e.clocks.Settle(now)
	e.Memory.Observe(now)
	if e.books.kept {
		e.books.settle(now)
	}
}
