// Package cpu is a device that proves on the host's processors: real Groth16 with gnark-crypto, every stage on
// threads of its own and every proof verified.
package cpu

import (
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
	Keys   *groth16.Keys
	Prover *groth16.Prover
}

// Device proves on the host. Its stages are goroutines; that a stage runs at all, and beside which others, is the
// core's decision.
type Device struct {
	kinds []Kind
	ctx   context.Context
	// proved is called with each job's proof, the concatenation of its partitions' proofs.
	proved func(job int32, proof []byte)

	clock  backend.Clock
	over   chan<- []backend.Completion
	closed chan struct{} // nobody takes completions any more
	tasks  sync.WaitGroup

	mu       sync.Mutex
	held     map[partitionID]*holding  // synthesized and not wholly freed
	proofs   map[int32][]groth16.Proof // of jobs in flight, by partition
	verified int
}

type partitionID struct{ job, partition int32 }

// holding is a partition and how many of its two blocks are still held.
type holding struct {
	*groth16.Partition
	blocks int
}

// Stages are the stages of a kind that this device proves.
func Stages() model.StageSet {
	var s model.StageSet
	return s.With(model.Synth, model.Prep, model.Kernel, model.Tail, model.Finish, model.Dealloc)
}

// New returns a device for kinds as the core numbers them. When ctx ends, syntheses stop early and fail. proved
// may be nil.
func New(ctx context.Context, kinds []Kind, proved func(job int32, proof []byte)) *Device {
	return &Device{
		kinds: kinds, ctx: ctx, proved: proved, closed: make(chan struct{}),
		held: map[partitionID]*holding{}, proofs: map[int32][]groth16.Proof{},
	}
}

// Open implements backend.Device.
func (d *Device) Open(clock backend.Clock, over chan<- []backend.Completion) {
	d.clock, d.over = clock, over
}

// Submit implements backend.Device.
func (d *Device) Submit(_ model.Instant, effects []model.Effect) {
	for _, e := range effects {
		switch e.Op {
		case model.Start:
			d.tasks.Go(func() { d.run(e) })
		case model.JobDone, model.JobFailed:
			d.endJob(e)
		}
	}
}

// Close implements backend.Device. It waits for what still runs. It is an error if a partition's memory has not been
// freed.
func (d *Device) Close() error {
	close(d.closed)
	d.tasks.Wait()
	var faults []error
	for _, k := range d.kinds {
		faults = append(faults, k.Prover.Close())
	}
	if len(d.held) > 0 {
		faults = append(faults, fmt.Errorf("cpu: %d partitions still hold memory at the end", len(d.held)))
	}
	return errors.Join(faults...)
}

// Verified returns how many partitions' proofs have been verified.
func (d *Device) Verified() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.verified
}

func (d *Device) run(e model.Effect) {
	begin := d.clock.Now()
	err := d.stage(e)
	c := backend.Completion{Input: model.Input{Op: model.Done, Task: e.Task}, Begin: begin, End: d.clock.Now()}
	if err != nil {
		c.Input.Op = model.Failed
		c.Err = fmt.Errorf("cpu: job %d partition %d: %s: %w", e.Job, e.Partition, e.Task.Stage, err)
	}
	select {
	case d.over <- []backend.Completion{c}:
	case <-d.closed:
	}
}

func (d *Device) stage(e model.Effect) error {
	if e.Task.Stage == model.Synth {
		return d.synthesize(e)
	}
	p := d.partition(e)
	switch e.Task.Stage {
	case model.Prep:
		return p.Prep()
	case model.Kernel:
		return p.Kernel()
	case model.Tail:
		return p.Tail()
	case model.Finish:
		return d.finish(e, p)
	case model.Dealloc:
		return d.free(e, p)
	}
	return fmt.Errorf("the device has no such stage")
}

func (d *Device) partition(e model.Effect) *holding {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held[partitionID{e.Job, e.Partition}]
}

func (d *Device) synthesize(e model.Effect) error {
	p, err := d.kinds[e.Kind].Prover.Synthesize(d.ctx, int(e.Job), int(e.Partition))
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held[partitionID{e.Job, e.Partition}] = &holding{p, 2}
	return nil
}

// finish assembles the proof and verifies it as the verifier would: from its bytes.
func (d *Device) finish(e model.Effect, p *holding) error {
	proof, err := p.Finish()
	if err != nil {
		return err
	}
	if err := d.kinds[e.Kind].Keys.Verify(p.Statement, proof); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.verified++
	proofs := d.proofs[e.Job]
	for int(e.Partition) >= len(proofs) {
		proofs = append(proofs, groth16.Proof{})
	}
	proofs[e.Partition] = proof
	d.proofs[e.Job] = proofs
	return nil
}

func (d *Device) free(e model.Effect, p *holding) error {
	if e.Task.Block == model.Vectors {
		if err := p.FreeVectors(); err != nil {
			return err
		}
	} else if err := p.FreeAssignment(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if p.blocks--; p.blocks == 0 {
		delete(d.held, partitionID{e.Job, e.Partition})
	}
	return nil
}

// endJob hands out the proof of a job that is done and forgets what a failed one had proved.
func (d *Device) endJob(e model.Effect) {
	d.mu.Lock()
	proofs := d.proofs[e.Job]
	delete(d.proofs, e.Job)
	d.mu.Unlock()
	if e.Op == model.JobFailed || d.proved == nil {
		return
	}
	joined := make([]byte, 0, len(proofs)*groth16.ProofSize)
	for _, p := range proofs {
		joined = append(joined, p[:]...)
	}
	d.proved(e.Job, joined)
}
