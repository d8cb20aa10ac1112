package cpu

import (
	"errors"

	"headroom/backend/groth16"
	"headroom/model"
)

type partitionID struct{ job, partition int32 }

// holding is what is held of a partition, or of one partition of each job in a batch.
type holding struct {
	jobs  []int32              // whose partitions they are
	parts []*groth16.Partition // by job, once they are synthesized
	// vectors are the blocks of the vectors, by job, if they come from the pool and go there. Partitions have them too.
	vectors []groth16.Block
	blocks  int // how many of vectors and assignment are held
}

// each takes one step with all partitions, one after the other.
func (h *holding) each(step func(*groth16.Partition) error) error {
	for _, p := range h.parts {
		if err := step(p); err != nil {
			return err
		}
	}
	return nil
}

// free frees something of all partitions, whatever fails on the way.
func (h *holding) free(what func(*groth16.Partition) error) error {
	var faults []error
	for _, p := range h.parts {
		faults = append(faults, what(p))
	}
	return errors.Join(faults...)
}

// holding returns what is held of a stage's partition. A synthesis begins one, with vectors from the pool if the core
// says so.
func (d *Device) holding(e *model.Effect) *holding {
	id := partitionID{e.Job, e.Partition}
	if e.Task.Stage != model.Synth {
		return d.held[id]
	}
	h := &holding{jobs: d.batches.of(e.Job), blocks: 2}
	if e.Reused {
		pool := d.pool[e.Kind]
		left := max(0, len(pool)-len(h.jobs))
		h.vectors, d.pool[e.Kind] = pool[left:len(pool):len(pool)], pool[:left:left]
	}
	d.held[id] = h
	return h
}

// place says what computes the sums of the partition that a worker takes.
func (d *Device) place(e *model.Effect) {
	if d.setup.Sums == nil {
		return
	}
	take := *e
	for _, p := range d.held[partitionID{e.Job, e.Partition}].parts {
		p.Use(func() (groth16.Sums, error) { return d.setup.Sums(take) })
	}
}

// synthesize synthesizes the partitions of all jobs, one after the other. When one fails, only blocks that go to the
// pool are still held.
func (d *Device) synthesize(e *model.Effect, h *holding) error {
	prover := d.setup.Kinds[e.Kind].Prover
	err := d.fill(h, prover)
	for i := 0; i < len(h.jobs) && err == nil; i++ {
		var p *groth16.Partition
		if d.retains() {
			p, err = prover.SynthesizeInto(d.ctx, h.vectors[i], int(h.jobs[i]), int(e.Partition))
		} else {
			p, err = prover.Synthesize(d.ctx, int(h.jobs[i]), int(e.Partition))
		}
		if err == nil {
			h.parts = append(h.parts, p)
		}
	}
	if err == nil {
		return nil
	}
	err = errors.Join(err, h.free((*groth16.Partition).FreeAssignment))
	h.blocks = 1
	if !d.retains() {
		err = errors.Join(err, h.free((*groth16.Partition).FreeVectors))
		h.blocks = 0
	}
	h.parts = nil
	return err
}

func (d *Device) retains() bool { return d.setup.Config.Pool == model.PoolRetain }

// fill maps the blocks that a synthesis with a pool needs and the pool does not have: new ones, and those that failed to
// be mapped or pinned before. They are resident as a whole from here on, as those from the pool are.
func (d *Device) fill(h *holding, prover *groth16.Prover) error {
	if !d.retains() {
		return nil
	}
	for len(h.vectors) < len(h.jobs) {
		b, err := prover.NewVectors(d.setup.Pin)
		if err != nil {
			return err
		}
		h.vectors = append(h.vectors, b)
	}
	return nil
}

// retain puts the vectors' blocks into the pool.
func (d *Device) retain(e *model.Effect) {
	h := d.held[partitionID{e.Job, e.Partition}]
	for _, p := range h.parts {
		_, err := p.TakeVectors()
		d.note(err)
	}
	d.pool[e.Kind] = append(d.pool[e.Kind], h.vectors...)
	h.vectors = nil
	d.letGo(e)
}

// letGo takes note that one of a partition's blocks is not its own any more.
func (d *Device) letGo(e *model.Effect) {
	id := partitionID{e.Job, e.Partition}
	h := d.held[id]
	if h.blocks--; h.blocks == 0 {
		delete(d.held, id)
	}
}

// leave forgets a partition whose synthesis failed and left nothing.
func (d *Device) leave(e *model.Effect) {
	id := partitionID{e.Job, e.Partition}
	if h := d.held[id]; h != nil && h.blocks == 0 {
		delete(d.held, id)
	}
}
