package check

import (
	"cmp"

	"headroom/model"
)

// turn judges whose turn it is where the configuration gives an order.
type turn struct{ idle }

func (turn) effect(w *world, e *model.Effect) {
	j := w.job(e.Job)
	if j == nil {
		return
	}
	l := w.life(e.Job, e.Partition)
	starts := e.Op == model.Start && e.Task.Stage == model.Synth
	switch {
	case starts && l != nil:
		for _, other := range w.lives {
			if other.awaitsWorker() && other.admittedAs < l.admittedAs {
				w.report("job %d partition %d gets a synthesis worker before job %d partition %d, which was admitted earlier", e.Job, e.Partition, other.job.number, other.index)
				return
			}
		}
	case starts, e.Op == model.Admit:
		first := w.firstToAdmit()
		for _, other := range w.jobs {
			if !w.turnToAdmit(other) || w.compareJobs(other, j) >= 0 {
				continue
			}
			// If the first is refused, those that have not reserved wait behind it, and one that has passes them all.
			if j.reserved && !other.reserved && !w.affords(first) {
				continue
			}
			w.report("job %d partition %d is admitted before job %d, whose turn it is", e.Job, e.Partition, other.number)
			return
		}
	case e.Op == model.Take && l != nil:
		for _, other := range w.lives {
			if other.inChannel() && w.comparePartitions(other, l) < 0 {
				w.report("job %d partition %d leaves the channel before job %d partition %d, whose turn it is", e.Job, e.Partition, other.job.number, other.index)
				return
			}
		}
	}
}

// turnToAdmit reports whether a job has partitions to admit and had them when admissions were made in this step.
func (w *world) turnToAdmit(j *job) bool { return j.admits() && j.late != w.index }

// firstToAdmit returns the job whose turn it is to have a partition admitted, or nil.
func (w *world) firstToAdmit() (first *job) {
	for _, j := range w.jobs {
		if w.turnToAdmit(j) && (first == nil || w.compareJobs(j, first) < 0) {
			first = j
		}
	}
	return first
}

// compareJobs orders jobs with partitions to admit.
func (w *world) compareJobs(a, b *job) int {
	switch w.config.Order {
	case model.ByPriority:
		return cmp.Or(cmp.Compare(b.kind.Priority, a.kind.Priority), cmp.Compare(a.number, b.number))
	case model.OldestJobFirst:
		return cmp.Compare(a.number, b.number)
	}
	return cmp.Compare(a.turn, b.turn)
}

// comparePartitions orders partitions in the channel.
func (w *world) comparePartitions(a, b *life) int {
	switch w.config.Order {
	case model.FIFO:
		return cmp.Compare(a.acceptedAs, b.acceptedAs)
	case model.Interleave:
		return cmp.Compare(a.admittedAs, b.admittedAs)
	}
	return cmp.Or(w.compareJobs(a.job, b.job), cmp.Compare(a.index, b.index))
}
