package check

import (
	"slices"

	"headroom/model"
)

// conserving judges that what can start has started.
type conserving struct{ idle }

func (c conserving) settled(w *world) {
	c.jobs(w)
	c.partitions(w)
	c.channel(w)
	c.locks(w)
	c.data(w)
	stuck := len(w.running) == 0 && (w.waiting > 0 || w.inFlight() > 0)
	switch {
	case w.stalled && (!stuck || w.collecting()):
		w.report("a stall is reported and something runs, will, or nothing is left to do")
	case stuck && !w.stalled && len(w.timers) == 0:
		w.report("a stall is there and not reported")
	}
}

// collecting reports whether a job waits for others to join it, which a timer ends.
func (w *world) collecting() bool {
	return slices.ContainsFunc(w.jobs, func(j *job) bool { return j.collects && !j.ended })
}

// data judges the jobs that wait for their reservation or their data.
func (conserving) data(w *world) {
	for _, j := range w.jobs {
		if !j.opening() {
			continue
		}
		all, _ := w.demand(j.kind)
		whole := all.Times(j.kind.Partitions * j.proofs)
		switch {
		case w.workingFirst(j.kind) && !j.reserved:
			if !w.timed() && whole <= w.total()-w.reserved() {
				w.report("job %d waits for %s, which are free", j.number, whole)
			}
		case w.lacks(j) < 0:
			w.report("job %d has all that it needs and does not begin", j.number)
		default:
			c := w.config.Resident[w.lacks(j)]
			if w.data[w.lacks(j)].state == notThere && c.Acquire != model.AcquirePolling && !w.timed() && c.Bytes+c.Transient <= w.total()-w.reserved() {
				w.report("job %d waits for %s, for which there is room", j.number, c.Name)
			}
		}
	}
}

// room reports whether a partition that is admitted finds a synthesis worker or a place to wait for one.
func (w *world) room() bool {
	return w.count((*life).onSynthWorker)+w.count((*life).awaitsWorker) < int(w.config.Synthesis.MaxParallel)+int(w.config.Synthesis.Handoff)
}

// affords reports whether the reservation of the next partition of a job is granted when it is tried.
func (w *world) affords(j *job) bool {
	all, _ := w.demand(j.kind)
	return j.reserved || (!w.timed() && all*model.Bytes(j.proofs) <= w.total()-w.reserved())
}

func (conserving) jobs(w *world) {
	if w.waiting > 0 && w.inFlight() < int(w.config.JobsInFlight) {
		w.report("a job waits and %d of %s are in flight", w.inFlight(), w.config.JobsInFlight)
	}
	if w.draining && w.waiting > 0 {
		w.report("%d jobs wait after a drain", w.waiting)
	}
	if w.given >= 0 {
		w.report("job %d was given up before it began, and is not reported as failed", w.given)
	}
	free := w.permits() < int(w.config.Admission.Permits) && w.room()
	var first *job // to have a partition admitted
	for _, j := range w.jobs {
		if j.admits() && !j.ended && (first == nil || w.compareJobs(j, first) < 0) {
			first = j
		}
	}
	for _, j := range w.jobs {
		switch {
		case j.ended:
		case j.admits() && (j == first || j.reserved) && free && w.affords(j):
			w.report("job %d has partitions to admit, a permit is free and so is a worker", j.number)
		case j.opening() && !w.prepares():
			w.report("the input of job %d is not being read", j.number)
		case j.lead != nil:
		case j.live == 0 && !j.parsing && (j.doomed || int(j.finished) == j.kind.Partitions):
			w.report("job %d is over and has not ended", j.number)
		}
	}
}

func (conserving) partitions(w *world) {
	finalizer := w.runners(model.Finish) < int(w.config.Finalizers)
	deallocator := w.runners(model.Dealloc) < int(w.config.Dealloc.Workers)
	synthWorker := w.count((*life).onSynthWorker) < int(w.config.Synthesis.MaxParallel)
	for _, l := range w.lives {
		what := ""
		switch {
		case l.awaitsWorker() && synthWorker && !l.job.doomed:
			what = "waits for a synthesis worker and one is free"
		case l.job.doomed && !l.out && l.running == 0:
			what = "waits although its job was given up"
		case l.waitsFinish(w.config) && finalizer:
			what = "waits for a finalizer and one is free"
		case deallocator && (l.blocks[model.Vectors] == due || l.blocks[model.Assignment] == due):
			what = "waits for its memory to be freed and a dealloc worker is free"
		case l.onWorker(w.config) && !l.job.doomed && l.running == 0 && !l.waitsLock(w.config):
			what = "is on a worker that does nothing"
		case besideLock(w.config) && l.onWorker(w.config) && l.has(model.Prep) && !l.begun.Has(model.Prep):
			what = "is on a worker that has not begun its prep"
		default:
			continue
		}
		w.report("job %d partition %d %s", l.job.number, l.index, what)
	}
}

func besideLock(c *model.Config) bool {
	return c.GPU.Lock == model.LockKernel && c.GPU.Prep == model.PrepBesideLock
}

func (conserving) channel(w *world) {
	held, blocked, capacity := w.inChannel(), w.blocked(), int(w.config.ChannelCapacity())
	idleWorker := w.onWorkers() < w.config.Workers()
	switch {
	case idleWorker && (held > 0 || (capacity == 0 && blocked > 0)):
		w.report("a worker is idle, %d partitions are in the channel and %d before it", held, blocked)
	case blocked > 0 && held < capacity:
		w.report("%d partitions are blocked and the channel holds %d of %d", blocked, held, capacity)
	}
}

func (conserving) locks(w *world) {
	for d := range int(w.config.GPU.Devices) {
		if w.lockHolder(d) != nil {
			continue
		}
		for _, l := range w.lives {
			if l.waitsLock(w.config) && w.device(l.worker) == d {
				w.report("job %d partition %d waits for the lock of device %d, which is free", l.job.number, l.index, d)
				break
			}
		}
	}
}
