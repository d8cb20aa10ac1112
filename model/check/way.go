package check

import "headroom/model"

// way judges the order of stages and the lives of jobs.
type way struct{ idle }

func (way) input(w *world, r *model.Record) {
	switch in := &r.Input; in.Op {
	case model.Arrive:
		if int(in.Job) != w.arrived || w.draining {
			w.report("job %d arrives: %d have arrived, and after a drain none may", in.Job, w.arrived)
		}
	case model.Done, model.Failed:
		if _, ok := w.runs(in.Task); !ok {
			w.report("%s of %s on lane %d, slot %d generation %d, which does not run", in.Op, in.Task.Stage, in.Task.Lane, in.Task.Slot, in.Task.Gen)
		}
	case model.Cancel:
		if w.job(in.Job) == nil && !w.waits(in.Job) {
			w.report("job %d is cancelled, which has not arrived or has ended", in.Job)
		}
	}
}

func (way) effect(w *world, e *model.Effect) {
	switch e.Op {
	case model.JobStart:
		if number, kind, ok := w.next(); !ok || number != e.Job || kind != e.Kind {
			w.report("job %d of kind %d begins, which is not the one that has waited longest", e.Job, e.Kind)
		}
		return
	case model.JobDone, model.JobFailed:
		if why := mayEnd(w, e); why != "" {
			w.report("%s of job %d, %s", e.Op, e.Job, why)
		}
		return
	case model.Stall, model.Freed, model.Join, model.Reserve, model.Loaded, model.Evict, model.WakeAt:
		return
	}
	if e.Op == model.Start && e.Task.Stage == model.Load {
		return
	}
	j := w.job(e.Job)
	l := w.life(e.Job, e.Partition)
	why := ""
	switch {
	case e.Op == model.Start && e.Task.Stage == model.Parse:
		if j == nil || !j.kind.Stages.Has(model.Parse) || j.parsing || j.ready || j.doomed || j.collects || j.lead != nil {
			why = "of a job that has no input to read now"
		}
	case e.Op == model.Start && e.Task.Stage == model.Synth && l != nil:
		if !l.awaitsWorker() || j.doomed {
			why = "of a partition that does not wait for a worker"
		}
	case e.Op == model.Admit, e.Op == model.Start && e.Task.Stage == model.Synth:
		if j == nil || !j.admits() || j.admitted != e.Partition {
			why = "of a partition that is not the next one of a job in flight"
		}
	case l == nil:
		why = "of a partition that is not there"
	case e.Op == model.Start && e.Task.Stage == model.Dealloc:
		if !l.has(model.Dealloc) {
			why = "which the kind has not"
		}
	case e.Op == model.Start:
		why = mayStart(w.config, l, e.Task.Stage)
	case e.Op == model.Accept && !l.blocked():
		why = "which is not blocked in send"
	case e.Op == model.Take && !l.inChannel():
		why = "which is not in the channel"
	case e.Op == model.Leave:
		if mayLeave := l.job.doomed && l.running == 0 && !l.told && (!l.out || l.outAt == w.index); !mayLeave {
			why = "whose job was not given up, of which something runs, or which has left"
		}
	}
	if why == "" && j != nil && int(e.Proofs) != j.proofs {
		why = "whose batch has another number of proofs"
	}
	if why != "" {
		w.report("%s %s of job %d partition %d, %s", e.Op, e.Task.Stage, e.Job, e.Partition, why)
	}
}

func (way) settled(w *world) {
	for _, l := range w.lives {
		if l.gave && !l.told {
			w.report("job %d partition %d has left because its job was given up, which is not said", l.job.number, l.index)
		}
	}
}

// mayStart says why a stage after synthesis may not start, or nothing.
func mayStart(c *model.Config, l *life, s model.Stage) string {
	if !l.has(s) {
		return "which the kind has not"
	}
	if l.begun.Has(s) {
		return "which has begun before"
	}
	if l.out || l.job.doomed {
		return "which has left or is about to"
	}
	prepared := l.over.Has(model.Prep) || !l.has(model.Prep)
	switch s {
	case model.Prep:
		if !l.taken {
			return "which no worker has taken"
		}
	case model.Kernel:
		beside := c.GPU.Lock == model.LockKernel && c.GPU.Prep == model.PrepBesideLock
		if !l.taken || !(prepared || (beside && l.begun.Has(model.Prep))) {
			return "which no worker has taken, or whose prep comes first"
		}
	case model.Tail:
		if !l.over.Has(model.Kernel) || !prepared {
			return "whose kernel or prep is not over"
		}
	case model.Finish:
		if !l.regionOver {
			return "whose kernel region is not over"
		}
	}
	return ""
}

// mayEnd says why a job may not end in that way, or nothing.
func mayEnd(w *world, e *model.Effect) string {
	j := w.job(e.Job)
	if j == nil {
		next, _, ok := w.next()
		if e.Op == model.JobFailed && (w.given == e.Job || (w.draining && ok && next == e.Job)) {
			return ""
		}
		return "which is not in flight"
	}
	lead := j.leads()
	switch {
	case j.ended:
		return "which has ended before"
	case lead.live > 0 || lead.parsing:
		return "of which something is left"
	case (e.Op == model.JobFailed) != (lead.doomed || j.doomed || j.givenUp):
		return "which ended the other way"
	case e.Op == model.JobDone && int(lead.finished) != j.kind.Partitions:
		return "of which not all partitions have finished"
	}
	return ""
}
