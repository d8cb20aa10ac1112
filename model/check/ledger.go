package check

import (
	"math"

	"headroom/model"
)

// demand returns what a partition of a kind reserves, and the part that it releases after the kernel.
func (w *world) demand(k *model.Kind) (all, afterKernel model.Bytes) {
	if b := w.config.Admission.Budget; b != nil {
		d := b.Kinds[k.Name]
		return d.Reserve, d.ReleaseAfterKernel
	}
	return 0, 0
}

func (w *world) workingFirst(k *model.Kind) bool {
	b := w.config.Admission.Budget
	return b != nil && b.Kinds[k.Name].AcquireOrder == model.WorkingFirst
}

// timed reports whether what was refused is tried again by a timer alone.
func (w *world) timed() bool {
	b := w.config.Admission.Budget
	return b != nil && b.Retry == model.RetryTimed
}

// total is what may be reserved.
func (w *world) total() model.Bytes {
	if b := w.config.Admission.Budget; b != nil {
		return b.Available()
	}
	return math.MaxInt64
}

// reserved adds up what everything in the books has reserved.
func (w *world) reserved() model.Bytes {
	sum := model.Bytes(0)
	for i := range w.data {
		sum += w.data[i].reserved
	}
	for _, l := range w.lives {
		sum += w.reservation(l)
	}
	for _, j := range w.jobs {
		if j.reserved && !j.ended && (j.parsing || !j.doomed) {
			all, _ := w.demand(j.kind)
			sum += all * model.Bytes((j.kind.Partitions-int(j.admitted))*j.proofs)
		}
	}
	return sum
}

// reservation is what a partition has reserved.
func (w *world) reservation(l *life) model.Bytes {
	if l.out {
		return 0
	}
	all, afterKernel := w.demand(l.kind)
	if l.regionOver {
		all -= afterKernel
	}
	return all * model.Bytes(l.proofs)
}

// wants returns what an effect reserves, or 0.
func (w *world) wants(e *model.Effect) model.Bytes {
	if e.Op == model.Loaded && int(e.Task.Slot) < len(w.data) {
		if r := &w.config.Resident[e.Task.Slot]; r.Acquire == model.AcquirePolling {
			return r.Bytes
		}
	}
	if e.Op == model.Start && e.Task.Stage == model.Load && int(e.Task.Slot) < len(w.data) {
		return loadReserve(&w.config.Resident[e.Task.Slot])
	}
	j := w.job(e.Job)
	if j == nil {
		return 0
	}
	all, _ := w.demand(j.kind)
	admits := e.Op == model.Admit || (e.Op == model.Start && e.Task.Stage == model.Synth && w.life(e.Job, e.Partition) == nil)
	switch {
	case e.Op == model.Reserve:
		return all.Times(j.kind.Partitions * j.proofs)
	case admits && !j.reserved:
		return all * model.Bytes(j.proofs)
	}
	return 0
}

// ledger judges what is reserved.
type ledger struct{ idle }

func (ledger) effect(w *world, e *model.Effect) {
	if j := w.job(e.Job); e.Op == model.Reserve && (j == nil || j.reserved || !w.workingFirst(j.kind)) {
		w.report("the working bytes of job %d are reserved, which has them or gets them partition by partition", e.Job)
	}
	if bytes := w.wants(e); bytes > 0 && bytes > w.total()-w.reserved() {
		w.report("%s %s of job %d partition %d reserves %s: %s of %s are reserved", e.Op, e.Task.Stage, e.Job, e.Partition, bytes, w.reserved(), w.total())
	}
}

func (ledger) settled(w *world) {
	if w.stream.Stateless {
		return
	}
	if recorded, sum := w.record.State.Ledger, w.reserved(); recorded != sum {
		w.report("%s are recorded as reserved: %s are", recorded, sum)
	}
}

func (ledger) finished(w *world) {
	sum := w.reserved()
	for i := range w.data {
		sum -= w.data[i].reserved
	}
	if sum != 0 {
		w.report("%s of working memory are still reserved", sum)
	}
}
