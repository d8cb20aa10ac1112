package cpu

import (
	"headroom/backend/groth16"
	"headroom/model"
)

// batches knows which jobs are joined.
type batches struct {
	jobs    map[int32][]int32 // by the job that leads the batch
	leader  int32             // of the batch whose Joins are coming
	missing int               // how many of them are to come
}

// join takes in a Join. Those of one batch follow each other, the leading job's first.
func (b *batches) join(e *model.Effect) {
	if b.missing == 0 {
		b.leader, b.missing = e.Job, int(e.Proofs)
	}
	b.jobs[b.leader] = append(b.jobs[b.leader], e.Job)
	b.missing--
}

// of returns the jobs of the batch that a job leads; a job that is in none is alone.
func (b *batches) of(leader int32) []int32 {
	if jobs, joined := b.jobs[leader]; joined {
		return jobs
	}
	return []int32{leader}
}

// finish assembles the proofs of all jobs' partitions and verifies each as the verifier would: from its bytes.
func (d *Device) finish(e *model.Effect, h *holding) error {
	for i, p := range h.parts {
		proof, err := p.Finish()
		if err != nil {
			return err
		}
		if err := d.setup.Kinds[e.Kind].Keys.Verify(p.Statement, proof); err != nil {
			return err
		}
		d.keep(h.jobs[i], e.Partition, proof)
	}
	return nil
}

// keep keeps a verified proof until its job is done.
func (d *Device) keep(job, partition int32, proof groth16.Proof) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.verified++
	proofs := d.proofs[job]
	for int(partition) >= len(proofs) {
		proofs = append(proofs, groth16.Proof{})
	}
	proofs[partition] = proof
	d.proofs[job] = proofs
}

// endJob hands out the proof of a job that is done and forgets what a failed one had proved.
func (d *Device) endJob(e *model.Effect) {
	delete(d.batches.jobs, e.Job)
	d.mu.Lock()
	proofs := d.proofs[e.Job]
	delete(d.proofs, e.Job)
	d.mu.Unlock()
	if e.Op == model.JobFailed || d.setup.Proved == nil {
		return
	}
	joined := make([]byte, 0, len(proofs)*groth16.ProofSize)
	for _, p := range proofs {
		joined = append(joined, p[:]...)
	}
	d.setup.Proved(e.Job, joined)
}
