package check

import "headroom/model"

// holders judges who holds locks, workers and lanes.
type holders struct {
	idle
	workers []worker
}

// worker is what is known of a GPU worker: whom it serves and at which record it was last seen leaving one.
type worker struct {
	serves *life
	since  int
}

func newHolders(s *Stream) *holders {
	h := &holders{workers: make([]worker, s.Config.Workers())}
	for i := range h.workers {
		h.workers[i].since = -1
	}
	return h
}

// refresh notes the workers that have become idle.
func (h *holders) refresh(w *world) {
	for i := range h.workers {
		if l := h.workers[i].serves; l != nil && !l.onWorker(w.config) {
			h.workers[i] = worker{since: w.index}
		}
	}
}

func (h *holders) effect(w *world, e *model.Effect) {
	switch e.Op {
	case model.JobStart:
		h.limit(w, "jobs in flight", w.inFlight(), w.config.JobsInFlight)
	case model.Admit:
		h.limit(w, "partitions waiting for a synthesis worker", w.count((*life).awaitsWorker), w.config.Synthesis.Handoff)
	case model.Take:
		h.take(w, e)
	case model.Start:
		h.start(w, e)
	}
}

// limit reports one more of something when all there may be are there.
func (h *holders) limit(w *world, what string, n int, limit model.Count) {
	if n >= int(limit) {
		w.report("one more than %s %s", limit, what)
	}
}

func (h *holders) take(w *world, e *model.Effect) {
	h.refresh(w)
	number := int(e.Task.Lane)
	if number >= len(h.workers) || int(e.Device) != w.device(e.Task.Lane) {
		w.report("worker %d of device %d takes job %d partition %d: there are %d workers, each of device number mod %s", number, e.Device, e.Job, e.Partition, len(h.workers), w.config.GPU.Devices)
		return
	}
	taker := &h.workers[number]
	if taker.serves != nil {
		w.report("worker %d takes job %d partition %d while it serves another", number, e.Job, e.Partition)
	}
	for i, other := range h.workers {
		if other.serves == nil && other.since < taker.since {
			w.report("worker %d takes job %d partition %d: worker %d has been idle longer", number, e.Job, e.Partition, i)
			break
		}
	}
	taker.serves = w.life(e.Job, e.Partition)
}

func (h *holders) start(w *world, e *model.Effect) {
	stage := e.Task.Stage
	onWorker := stage == model.Prep || stage == model.Kernel || stage == model.Tail || (stage == model.Finish && !w.config.GPU.Split)
	for r, run := range w.running {
		if r.stage == stage && run.task.Lane == e.Task.Lane {
			w.report("%s of job %d partition %d starts on lane %d, where another runs", stage, e.Job, e.Partition, e.Task.Lane)
			break
		}
	}
	switch {
	case onWorker:
		h.startOnWorker(w, e)
	case stage == model.Synth:
		h.limit(w, "synthesis workers", w.count((*life).onSynthWorker), w.config.Synthesis.MaxParallel)
	case stage == model.Finish:
		h.limit(w, "finalizers", w.runners(stage), w.config.Finalizers)
	case stage == model.Dealloc:
		h.limit(w, "dealloc workers", w.runners(stage), w.config.Dealloc.Workers)
	}
}

func (h *holders) startOnWorker(w *world, e *model.Effect) {
	l := w.life(e.Job, e.Partition)
	if l == nil {
		return
	}
	if l.worker != e.Task.Lane || w.device(l.worker) != int(e.Device) {
		w.report("%s of job %d partition %d starts on worker %d of device %d: worker %d serves it", e.Task.Stage, e.Job, e.Partition, e.Task.Lane, e.Device, l.worker)
	}
	if e.Task.Stage != l.underLock(w.config) {
		return
	}
	if other := w.lockHolder(w.device(l.worker)); other != nil {
		w.report("%s of job %d partition %d starts under the lock of device %d, which job %d partition %d holds", e.Task.Stage, e.Job, e.Partition, e.Device, other.job.number, other.index)
	}
}

func (h *holders) settled(w *world) { h.refresh(w) }
