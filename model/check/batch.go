package check

import (
	"slices"

	"headroom/model"
)

// collects reports whether jobs of a kind wait for others to join them.
func (w *world) collects(k *model.Kind) bool {
	b := w.config.Batch
	return b != nil && b.Size > 1 && concerns(b.Kinds, k)
}

// prepares reports whether jobs may have to wait before they begin.
func (w *world) prepares() bool {
	return w.config.Admission.Budget != nil || w.config.Batch != nil ||
		slices.ContainsFunc(w.config.Resident, func(r model.Resident) bool { return r.Managed() })
}

// concerns reports whether a list of kinds, of which an empty one means all, has the kind.
func concerns(kinds []string, k *model.Kind) bool {
	return len(kinds) == 0 || slices.Contains(kinds, k.Name)
}

// join enters a job of a batch that is closed.
func (w *world) join(e *model.Effect) {
	j := w.job(e.Job)
	if j == nil {
		return
	}
	j.collects = false
	if w.joins == 0 {
		w.batch, w.joins = j, int(e.Proofs)
		j.proofs = int(e.Proofs)
	} else {
		j.lead = w.batch
	}
	w.joins--
}

// batches judges which jobs are joined.
type batches struct{ idle }

func (batches) effect(w *world, e *model.Effect) {
	if e.Op != model.Join {
		return
	}
	j, size := w.job(e.Job), 0
	if w.config.Batch != nil {
		size = int(w.config.Batch.Size)
	}
	switch {
	case j == nil || !j.collects:
		w.report("job %d joins a batch, which does not wait for one", e.Job)
	case e.Proofs < 1 || int(e.Proofs) > size:
		w.report("job %d joins a batch of %d: from 1 to %d", e.Job, e.Proofs, size)
	case w.joins > 0 && (j.kind != w.batch.kind || int(e.Proofs) != w.batch.proofs):
		w.report("job %d joins a batch of another kind or size than job %d, which leads it", e.Job, w.batch.number)
	}
}

func (batches) settled(w *world) {
	if w.joins > 0 {
		w.report("a batch lacks %d of its jobs", w.joins)
	}
	var kind *model.Kind
	n := 0
	for _, j := range w.jobs {
		if !j.collects || j.ended {
			continue
		}
		if n++; kind != nil && kind != j.kind {
			w.report("jobs of the kinds %s and %s wait for one batch", kind.Name, j.kind.Name)
		}
		kind = j.kind
	}
	if n > 0 && (n >= int(w.config.Batch.Size) || w.draining) {
		w.report("%d jobs wait for a batch of %s, which is full or must be closed by a drain", n, w.config.Batch.Size)
	}
}
