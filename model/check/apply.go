package check

import "headroom/model"

// This file keeps the books: what each input and effect changes in them.

// take enters an input.
func (w *world) take(r *model.Record) {
	switch in := &r.Input; in.Op {
	case model.Arrive:
		w.arrivals = append(w.arrivals, arrival{in.Job, in.Count, in.Kind})
		w.arrived += int(in.Count)
		w.waiting += int(in.Count)
	case model.Done, model.Failed:
		if run, ok := w.runs(in.Task); ok {
			delete(w.running, ref{in.Task.Slot, in.Task.Stage, in.Task.Block})
			w.end(run, in.Op == model.Failed)
		}
	case model.Cancel:
		w.cancel(in.Job)
	case model.Drain:
		w.draining = true
	case model.Wake:
		if gen, set := w.timers[in.Task.Slot]; set && gen == in.Task.Gen {
			delete(w.timers, in.Task.Slot)
		}
	}
}

func (w *world) cancel(number int32) {
	if j := w.job(number); j != nil {
		w.giveUp(j)
	} else if w.waits(number) {
		w.skipped[number] = true
		w.waiting--
		w.given = number
	}
}

// giveUp enters the cancellation of a job in flight. A batch goes on as long as one of its jobs is wanted.
func (w *world) giveUp(j *job) {
	lead := j.leads()
	if lead.proofs == 1 || j.collects {
		j.doomed = true
		return
	}
	j.givenUp = true
	for _, other := range w.jobs {
		if other.leads() == lead && !other.givenUp && !other.ended {
			return
		}
	}
	lead.doomed = true
}

// waits reports whether a job has arrived and neither begun nor been given up.
func (w *world) waits(number int32) bool {
	for _, a := range w.arrivals {
		if number >= a.first && number < a.first+a.count {
			return !w.skipped[number]
		}
	}
	return false
}

// end enters the end of a stage.
func (w *world) end(r run, failed bool) {
	if r.task.Stage == model.Load {
		w.endLoad(int(r.task.Slot), failed)
		return
	}
	if failed {
		r.job.doomed = true
	}
	switch r.task.Stage {
	case model.Parse:
		r.job.parsing = false
		if !r.job.doomed {
			w.makeReady(r.job)
		}
		return
	case model.Dealloc:
		r.life.blocks[r.task.Block] = returned
		return
	}
	l := r.life
	l.running &^= 1 << r.task.Stage
	if !failed {
		l.over = l.over.With(r.task.Stage)
		if r.task.Stage == model.Synth {
			l.synthEnd = w.ends
			w.ends++
			l.blocks[model.Vectors], l.blocks[model.Assignment] = held, held
		}
	}
	if l.job.doomed {
		if l.running == 0 {
			w.leave(l)
			l.gave = true
		}
		return
	}
	w.advance(l)
}

// open enters which of the jobs that wait have all that they need. Those with a parse begin when that starts.
func (w *world) open() {
	for _, j := range w.jobs {
		if j.opening() && !j.kind.Stages.Has(model.Parse) && w.joins == 0 && w.lacks(j) < 0 && (j.reserved || !w.workingFirst(j.kind)) {
			w.makeReady(j)
			j.late = w.index
		}
	}
}

// makeReady enters that the partitions of a job may be admitted.
func (w *world) makeReady(j *job) {
	j.ready = true
	j.turn, j.late = w.turns, -1
	w.turns++
}

// advance enters what follows from a stage that ended with a result.
func (w *world) advance(l *life) {
	if !l.regionOver && l.regionEnds() {
		l.regionOver = true
		if w.config.FreeVectors == model.AfterKernel {
			l.blocks[model.Vectors] = due
		}
	}
	if l.regionOver && (l.over.Has(model.Finish) || !l.has(model.Finish)) {
		l.job.finished++
		w.leave(l)
	}
}

// leave takes a partition out of the pipeline: what it still holds is due.
func (w *world) leave(l *life) {
	l.out, l.outAt = true, w.index
	l.job.live--
	for b := range l.blocks {
		if l.blocks[b] == held {
			l.blocks[b] = due
		}
	}
}

// apply enters an effect.
func (w *world) apply(e *model.Effect) {
	switch e.Op {
	case model.JobStart:
		if number, kind, ok := w.next(); ok && number == e.Job {
			w.pop()
			k := &w.kinds[kind]
			j := &job{number: number, kind: k, proofs: 1, collects: w.collects(k), buffer: held}
			w.jobs = append(w.jobs, j)
			w.open()
		}
		return
	case model.Join:
		w.join(e)
		w.open()
		return
	case model.Reserve:
		if j := w.job(e.Job); j != nil {
			j.reserved = true
		}
		w.open()
		return
	case model.Loaded, model.Evict:
		w.changeData(e)
		w.open()
		return
	case model.WakeAt:
		w.timers[e.Task.Slot] = e.Task.Gen
		return
	case model.Admit:
		w.admit(e)
		return
	case model.JobDone, model.JobFailed:
		w.endJob(e)
		return
	case model.Stall:
		w.stalled = true
		return
	case model.Start:
		w.start(e)
		return
	}
	if e.Op == model.Freed && e.Task.Block == model.ParseBuffer {
		if j := w.job(e.Job); j != nil {
			j.buffer = freed
		}
		return
	}
	l := w.life(e.Job, e.Partition)
	if l == nil {
		return
	}
	switch e.Op {
	case model.Accept:
		l.accepted = true
		l.acceptedAs = w.accepts
		w.accepts++
	case model.Take:
		l.taken = true
		l.worker = e.Task.Lane
	case model.Freed:
		l.blocks[e.Task.Block] = freed
	case model.Pooled:
		l.blocks[e.Task.Block] = freed
		w.pool[e.Kind] += l.proofs
	case model.Leave:
		l.told = true
		if !l.out {
			w.leave(l)
		}
	}
}

func (w *world) endJob(e *model.Effect) {
	if j := w.job(e.Job); j != nil {
		j.ended = true
		return
	}
	if number, _, ok := w.next(); ok && w.draining && number == e.Job {
		w.pop()
	}
	if w.given == e.Job {
		w.given = -1
	}
}

// admit enters the admission of a partition and returns it, or nil if that makes no sense.
func (w *world) admit(e *model.Effect) *life {
	j := w.job(e.Job)
	if j == nil || w.life(e.Job, e.Partition) != nil {
		return nil
	}
	l := &life{job: j, index: e.Partition, kind: j.kind, proofs: j.proofs, admittedAs: w.turns}
	if w.config.Order == model.Interleave {
		j.turn = w.turns
	}
	w.turns++
	j.admitted++
	j.live++
	w.lives = append(w.lives, l)
	return l
}

// admitted returns the partition whose synthesis starts: one that waits for a worker, or one that is admitted by that.
func (w *world) admitted(e *model.Effect) *life {
	if l := w.life(e.Job, e.Partition); l != nil && l.awaitsWorker() {
		return l
	}
	return w.admit(e)
}

func (w *world) start(e *model.Effect) {
	r := run{task: e.Task, at: w.record.At, record: w.index}
	switch e.Task.Stage {
	case model.Load:
		if int(e.Task.Slot) < len(w.data) {
			w.startLoad(int(e.Task.Slot))
		}
	case model.Parse:
		if r.job = w.job(e.Job); r.job == nil {
			return
		}
		r.job.parsing = true
	case model.Synth:
		if r.life = w.admitted(e); r.life == nil {
			return
		}
		r.job = r.life.job
		if w.config.Pool == model.PoolRetain {
			r.life.blocks[model.Vectors] = held
		}
		if e.Reused {
			w.pool[e.Kind] -= r.life.proofs
		}
	default:
		if r.life = w.life(e.Job, e.Partition); r.life == nil {
			return
		}
		r.job = r.life.job
	}
	if e.Task.Stage == model.Dealloc {
		r.life.blocks[e.Task.Block] = freeing
	} else if r.life != nil {
		r.life.begun = r.life.begun.With(e.Task.Stage)
		r.life.running = r.life.running.With(e.Task.Stage)
	}
	w.running[ref{e.Task.Slot, e.Task.Stage, e.Task.Block}] = r
}
