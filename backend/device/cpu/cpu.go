// Package cpu is a device that proves on the host's processors: real Groth16 with gnark-crypto, every stage on
// threads of its own and every proof verified.
//
// What the core says of memory is done to real memory, so that what the process holds is what the model says: vectors
// that a pool retains stay mapped and are the next partition's, a batch synthesizes and proves for each of its jobs, and
// resident data is loaded and evicted (data.go).
//
// It is also the host's part of a device whose partitions have their sums from elsewhere: see [Setup].
package cpu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"headroom/backend"
	"headroom/backend/groth16"
	"headroom/model"
)

// Kind is a kind of job that the device can prove.
type Kind struct {
	Name   string
	Keys   *groth16.Keys
	Prover *groth16.Prover
}

// Setup is what a device is made from.
type Setup struct {
	Kinds  []Kind       // as the core numbers them
	Config model.Config // valid, and such that Check has nothing against it; its resident list is in force
	// OwnData says that the data which is always there is what the prover keeps by itself, as a profile of it found.
	// Nothing is then held for such data.
	OwnData bool
	// Proved is called with each job's proof, the concatenation of its partitions' proofs; nil: nobody is told.
	Proved func(job int32, proof []byte)
	// Name of the device in errors; empty: cpu.
	Name string

	// What follows does the part of a device that is not the host's; nil: there is none. It is called from goroutines of
	// the device's own, EvictKeys from Submit.

	// Sums opens what computes the sums of a partition for the worker that takes it, as the Take says, when its first
	// stage on the worker begins.
	Sums func(take model.Effect) (groth16.Sums, error)
	// Pin pins what a pool keeps for the copies of vectors, and resident data that the configuration has pinned.
	Pin groth16.Pin
	// LoadKeys takes the keys of a kind, by its number, that have been loaded on demand; EvictKeys gives up what LoadKeys
	// took, if anything, before they are unloaded.
	LoadKeys, EvictKeys func(kind int) error
}

// Device proves on the host. Its stages are goroutines; that a stage runs at all, and beside which others, is the
// core's decision.
type Device struct {
	setup  Setup
	ctx    context.Context
	clock  backend.Clock
	over   chan<- []backend.Completion
	closed chan struct{} // nobody takes completions any more
	tasks  sync.WaitGroup

	// What follows belongs to the caller of Submit.
	held    map[partitionID]*holding // from the start of synthesis until wholly freed
	pool    [][]groth16.Block        // by kind: vectors that no partition has
	batches batches

	data []datum // by index in Config.Resident; the core never lets two uses of one meet

	mu       sync.Mutex
	proofs   map[int32][]groth16.Proof // of jobs in flight, by partition
	verified int
	faults   []error // of what has no completion that could tell
}

// Stages are the stages of a kind that this device proves.
func Stages() model.StageSet {
	var s model.StageSet
	return s.With(model.Synth, model.Prep, model.Kernel, model.Tail, model.Finish, model.Dealloc)
}

// New returns a device that holds the resident data which is there from the start. When ctx ends, syntheses and loads
// stop early and fail.
func New(ctx context.Context, s Setup) (*Device, error) {
	s.Name = cmp.Or(s.Name, "cpu")
	d := &Device{
		setup: s, ctx: ctx, closed: make(chan struct{}),
		held: map[partitionID]*holding{}, pool: make([][]groth16.Block, len(s.Kinds)), batches: batches{jobs: map[int32][]int32{}},
		proofs: map[int32][]groth16.Proof{},
	}
	if err := d.preload(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Open implements backend.Device.
func (d *Device) Open(clock backend.Clock, over chan<- []backend.Completion) {
	d.clock, d.over = clock, over
}

// Submit implements backend.Device. Only stages take time beside the caller; what is evicted is gone before the next
// effect, which may rest on it.
func (d *Device) Submit(_ model.Instant, effects []model.Effect) {
	for i := range effects {
		e := &effects[i]
		switch e.Op {
		case model.Join:
			d.batches.join(e)
		case model.Start:
			h := d.holding(e)
			d.tasks.Go(func() { d.run(e, h) })
		case model.Take:
			d.place(e)
		case model.Pooled:
			d.retain(e)
		case model.Freed:
			if e.Task.Block != model.ParseBuffer {
				d.letGo(e)
			}
		case model.Leave:
			d.leave(e)
		case model.Evict:
			d.note(d.evict(&d.data[e.Task.Slot]))
		case model.JobDone, model.JobFailed:
			d.endJob(e)
		}
	}
}

// note keeps an error for Close.
func (d *Device) note(err error) {
	if err == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, err)
}

// Close implements backend.Device. It waits for what still runs, and frees the pool and the resident data. It is an
// error if a partition's memory has not been freed, or something before could not be.
func (d *Device) Close() error {
	close(d.closed)
	d.tasks.Wait()
	for _, k := range d.setup.Kinds {
		d.note(k.Prover.Close())
	}
	for _, blocks := range d.pool {
		for i := range blocks {
			d.note(blocks[i].Unmap())
		}
	}
	for n := range d.data {
		d.note(d.data[n].block.Unmap())
	}
	if len(d.held) > 0 {
		d.note(fmt.Errorf("%s: memory is still held by %s at the end", d.setup.Name, model.Counted(len(d.held), "partition")))
	}
	return errors.Join(d.faults...)
}

// Verified returns how many partitions' proofs have been verified.
func (d *Device) Verified() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.verified
}

func (d *Device) run(e *model.Effect, h *holding) {
	begin := d.clock.Now()
	err := d.stage(e, h, begin)
	c := backend.Completion{Input: model.Input{Op: model.Done, Task: e.Task}, Begin: begin, End: d.clock.Now()}
	if err != nil {
		c.Input.Op = model.Failed
		c.Err = fmt.Errorf("%s: job %d partition %d: %s: %w", d.setup.Name, e.Job, e.Partition, e.Task.Stage, err)
		if e.Task.Stage == model.Load {
			c.Err = fmt.Errorf("%s: load of %s: %w", d.setup.Name, d.data[e.Task.Slot].Name, err)
		}
	}
	select {
	case d.over <- []backend.Completion{c}:
	case <-d.closed:
	}
}

func (d *Device) stage(e *model.Effect, h *holding, begin model.Instant) error {
	switch e.Task.Stage {
	case model.Load:
		return d.load(&d.data[e.Task.Slot], begin)
	case model.Synth:
		return d.synthesize(e, h)
	case model.Prep:
		return h.each((*groth16.Partition).Prep)
	case model.Kernel:
		return h.each((*groth16.Partition).Kernel)
	case model.Tail:
		return h.each((*groth16.Partition).Tail)
	case model.Finish:
		return d.finish(e, h)
	case model.Dealloc:
		// To the core freeing cannot fail: nothing else could be done with the block. Close tells.
		what := (*groth16.Partition).FreeAssignment
		if e.Task.Block == model.Vectors {
			what = (*groth16.Partition).FreeVectors
		}
		d.note(h.free(what))
		return nil
	}
	return errors.New("the device has no such stage")
}
