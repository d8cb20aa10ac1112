package check

import "headroom/model"

// permits judges the semaphore of admission.
type permits struct{ idle }

func (permits) effect(w *world, e *model.Effect) {
	starts := e.Op == model.Start && e.Task.Stage == model.Synth && w.life(e.Job, e.Partition) == nil
	if !starts && e.Op != model.Admit {
		return
	}
	if n := w.permits(); n >= int(w.config.Admission.Permits) {
		w.report("job %d partition %d is admitted: all %s permits are held", e.Job, e.Partition, w.config.Admission.Permits)
	}
}

func (permits) settled(w *world) {
	if w.stream.Stateless || w.config.Admission.Permits == model.Unbounded {
		return
	}
	recorded, counted := w.record.State.Permits, w.config.Admission.Permits-model.Count(w.permits())
	if recorded != counted {
		w.report("%s permits are recorded as free: %s are", recorded, counted)
	}
}

func (permits) finished(w *world) {
	if n := w.permits(); n > 0 {
		w.report("%d permits did not return", n)
	}
}

// channel judges send and the channel.
type channel struct{ idle }

func (channel) effect(w *world, e *model.Effect) {
	l := w.life(e.Job, e.Partition)
	if l == nil {
		return
	}
	capacity := int(w.config.ChannelCapacity())
	if e.Op == model.Accept {
		// A rendezvous has no slots: the worker takes what it accepts.
		if n := w.inChannel(); n >= max(capacity, 1) {
			w.report("job %d partition %d enters the channel, which holds %d of %d", e.Job, e.Partition, n, capacity)
		}
		for _, other := range w.lives {
			if other.blocked() && other.synthEnd < l.synthEnd {
				w.report("job %d partition %d enters the channel before job %d partition %d, which was synthesized earlier", e.Job, e.Partition, other.job.number, other.index)
				return
			}
		}
	}
}

func (channel) settled(w *world) {
	held, blocked := w.inChannel(), w.blocked()
	if capacity := int(w.config.ChannelCapacity()); held > capacity {
		w.report("the channel holds %d partitions: its capacity is %d", held, capacity)
	}
	if w.stream.Stateless {
		return
	}
	if s := w.record.State; int(s.Channel) != held || int(s.Blocked) != blocked {
		w.report("%d in the channel and %d blocked are recorded: %d and %d are", s.Channel, s.Blocked, held, blocked)
	}
}

func (channel) finished(w *world) {
	if held, blocked := w.inChannel(), w.blocked(); held+blocked > 0 {
		w.report("%d partitions are left in the channel and %d blocked before it", held, blocked)
	}
}

// zero judges what is left at the end.
type zero struct{ idle }

func (zero) finished(w *world) {
	for _, left := range []struct {
		n    int
		what string
	}{
		{w.waiting, "jobs have not begun"},
		{len(w.jobs), "jobs are in flight"},
		{len(w.lives), "partitions are left or hold memory"},
		{len(w.running), "stages run"},
		{w.permits(), "permits are held"},
		{w.onWorkers(), "workers are busy"},
	} {
		if left.n > 0 {
			w.report("%d %s", left.n, left.what)
		}
	}
}
