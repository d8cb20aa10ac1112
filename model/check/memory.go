package check

import "headroom/model"

// blocks judges what stages read and when it is freed.
type blocks struct{ idle }

// reads are the blocks that a stage reads.
var reads = [model.NumStages][]model.Block{
	model.Prep:   {model.Vectors, model.Assignment},
	model.Kernel: {model.Vectors, model.Assignment},
	model.Tail:   {model.Vectors, model.Assignment},
	model.Finish: {model.Assignment},
}

func (blocks) effect(w *world, e *model.Effect) {
	if e.Op == model.Freed && e.Task.Block == model.ParseBuffer {
		if j := w.job(e.Job); j == nil || !j.ended || j.buffer != held {
			w.report("the parse buffer of job %d is freed, which is in flight or has none", e.Job)
		}
		return
	}
	l := w.life(e.Job, e.Partition)
	if e.Op == model.Start && e.Task.Stage == model.Synth && l == nil {
		if j := w.job(e.Job); j != nil {
			l = &life{job: j, kind: j.kind, proofs: j.proofs}
		}
	}
	if l == nil {
		if e.Op == model.Freed || e.Op == model.Pooled {
			w.report("%s of job %d partition %d is freed, which holds nothing", e.Task.Block, e.Job, e.Partition)
		}
		return
	}
	state := l.blocks[e.Task.Block]
	pooled := w.config.Pool == model.PoolRetain && e.Task.Block == model.Vectors
	switch {
	case e.Op == model.Pooled:
		if state != due || !pooled {
			w.report("%s of job %d partition %d goes to a pool too early, again, or where none is", e.Task.Block, e.Job, e.Partition)
		}
	case e.Op == model.Freed && pooled:
		w.report("%s of job %d partition %d is freed instead of going to the pool", e.Task.Block, e.Job, e.Partition)
	case e.Op == model.Start && e.Task.Stage == model.Synth:
		if reuses := w.config.Pool == model.PoolRetain && w.pool[e.Kind] >= l.proofs; reuses != e.Reused {
			w.report("the vectors of job %d partition %d come from the pool: %t, and should: %t", e.Job, e.Partition, e.Reused, reuses)
		}
	case e.Op == model.Freed:
		if state != due && state != returned || (state == due && l.has(model.Dealloc)) {
			w.report("%s of job %d partition %d is freed too early or again", e.Task.Block, e.Job, e.Partition)
		}
		if e.Call != (e.Task.Block == model.Assignment && l.taken) {
			w.report("%s of job %d partition %d is freed: that its call's memory goes with it is wrong", e.Task.Block, e.Job, e.Partition)
		}
	case e.Op == model.Start && e.Task.Stage == model.Dealloc:
		if state != due {
			w.report("%s of job %d partition %d goes to be freed too early or again", e.Task.Block, e.Job, e.Partition)
		}
	case e.Op == model.Start:
		for _, b := range reads[e.Task.Stage] {
			if l.blocks[b] != held {
				w.report("%s of job %d partition %d reads its %s, which it does not hold", e.Task.Stage, e.Job, e.Partition, b)
			}
		}
	}
}

func (blocks) settled(w *world) {
	for _, l := range w.lives {
		for b, state := range l.blocks {
			pooled := w.config.Pool == model.PoolRetain && model.Block(b) == model.Vectors
			if state == returned || (state == due && (pooled || !l.has(model.Dealloc))) {
				w.report("%s of job %d partition %d is not freed although its point has come", model.Block(b), l.job.number, l.index)
			}
		}
	}
	for _, j := range w.jobs {
		if j.ended && j.buffer != freed {
			w.report("the parse buffer of job %d is not freed although the job has ended", j.number)
		}
	}
}

func (blocks) finished(w *world) {
	for _, l := range w.lives {
		if !l.gone() {
			w.report("job %d partition %d still holds memory", l.job.number, l.index)
		}
	}
}

// byteCount judges the bytes of each job and partition. It goes by what the stream says and keeps no states.
type byteCount struct {
	idle
	sizes    []Sizes
	accounts map[account]model.Bytes
}

// account is a partition's, or with partition -1 a job's.
type account struct{ job, partition int32 }

func newBytes(s *Stream) *byteCount {
	b := &byteCount{sizes: s.Sizes, accounts: map[account]model.Bytes{}}
	if b.sizes == nil {
		b.sizes = make([]Sizes, len(s.Kinds))
		for k := range b.sizes {
			b.sizes[k] = Sizes{1, 1, 1, 1}
		}
	}
	return b
}

func (b *byteCount) input(w *world, r *model.Record) {
	if run, ok := w.runs(r.Input.Task); ok && r.Input.Op == model.Done && run.task.Stage == model.Synth {
		for k := range w.kinds {
			if run.life.kind == &w.kinds[k] {
				taken := b.sizes[k].Assignment
				if w.config.Pool != model.PoolRetain {
					taken += b.sizes[k].Vectors
				}
				b.add(w, account{run.job.number, run.life.index}, taken*model.Bytes(run.life.proofs))
			}
		}
	}
}

func (b *byteCount) effect(w *world, e *model.Effect) {
	size := b.sizes[e.Kind].times(e.Proofs)
	owner := account{e.Job, e.Partition}
	switch {
	case e.Op == model.Start && e.Task.Stage == model.Synth && w.config.Pool == model.PoolRetain:
		b.add(w, owner, size.Vectors)
	case e.Op == model.Pooled:
		b.add(w, owner, -size.Vectors)
	case e.Op == model.JobStart:
		b.add(w, account{e.Job, -1}, size.Parse)
	case e.Op == model.Take:
		b.add(w, owner, size.Call)
	case e.Op != model.Freed:
	case e.Task.Block == model.ParseBuffer:
		b.add(w, account{e.Job, -1}, -size.Parse)
	case e.Task.Block == model.Vectors:
		b.add(w, owner, -size.Vectors)
	default:
		back := size.Assignment
		if e.Call {
			back += size.Call
		}
		b.add(w, owner, -back)
	}
}

func (s Sizes) times(proofs uint16) Sizes {
	n := model.Bytes(proofs)
	return Sizes{Parse: n * s.Parse, Vectors: n * s.Vectors, Assignment: n * s.Assignment, Call: n * s.Call}
}

func (b *byteCount) add(w *world, owner account, n model.Bytes) {
	sum := b.accounts[owner] + n
	if b.accounts[owner] = sum; sum == 0 {
		delete(b.accounts, owner)
	}
	if sum < 0 {
		w.report("job %d partition %d has given back %s more than it took", owner.job, max(owner.partition, 0), -sum)
	}
}

func (b *byteCount) finished(w *world) {
	if len(b.accounts) > 0 {
		w.report("%d jobs and partitions have not given back exactly what they took", len(b.accounts))
	}
}
