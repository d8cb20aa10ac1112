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
		for _, other := range w.jobs {
			refused := j.reserved && !w.affords(other)
			if other.admits() && other.late != w.index && !refused && w.compareJobs(other, j) < 0 {
				w.report("job %d partition %d is admitted before job %d, whose turn it is", e.Job, e.Partition, other.number)
				return
			}
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
