package check

import "headroom/model"

// conserving judges that what can start has started.
type conserving struct{ idle }

func (c conserving) settled(w *world) {
	c.jobs(w)
	c.partitions(w)
	c.channel(w)
	c.locks(w)
	stuck := len(w.running) == 0 && (w.waiting > 0 || w.inFlight() > 0)
	if stuck != w.stalled {
		w.report("a stall is there: %t, and is reported: %t", stuck, w.stalled)
	}
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
	free := w.permits() < int(w.config.Admission.Permits)
	for _, j := range w.jobs {
		switch {
		case j.ended:
		case j.admits() && free:
			w.report("job %d has partitions to admit and a permit is free", j.number)
		case !j.parsing && !j.ready && !j.doomed:
			w.report("the input of job %d is not being read", j.number)
		case j.live == 0 && !j.parsing && (j.doomed || int(j.finished) == j.kind.Partitions):
			w.report("job %d is over and has not ended", j.number)
		}
	}
}

func (conserving) partitions(w *world) {
	finalizer := w.runners(model.Finish) < int(w.config.Finalizers)
	deallocator := w.runners(model.Dealloc) < int(w.config.Dealloc.Workers)
	for _, l := range w.lives {
		what := ""
		switch {
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
