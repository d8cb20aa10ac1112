package check

import "headroom/model"

// datum is what the books say of an item of resident data.
type datum struct {
	state    dataState
	reserved model.Bytes
}

type dataState uint8

const (
	notThere dataState = iota
	loading
	loadedOnly // its own bytes are not reserved yet
	loaded
)

func (w *world) startLoad(n int) {
	w.data[n] = datum{loading, loadReserve(&w.config.Resident[n])}
}

// loadReserve is what is reserved when an item begins to be loaded.
func loadReserve(r *model.Resident) model.Bytes {
	if r.Acquire == model.AcquirePolling {
		return r.Transient
	}
	return r.Bytes + r.Transient
}

func (w *world) endLoad(n int, failed bool) {
	if !failed {
		w.data[n].state = loadedOnly
		return
	}
	w.data[n] = datum{}
	if w.config.Resident[n].Background {
		return
	}
	for _, j := range w.jobs {
		if j.opening() && w.claims(j, n) {
			j.doomed = true
		}
	}
}

// changeData enters what Loaded and Evict say.
func (w *world) changeData(e *model.Effect) {
	n := int(e.Task.Slot)
	switch {
	case n >= len(w.data):
	case e.Op == model.Evict:
		w.data[n] = datum{}
	default:
		w.data[n] = datum{loaded, w.config.Resident[n].Bytes}
	}
}

// needs reports whether jobs of a kind need an item that comes and goes.
func (w *world) needs(k *model.Kind, n int) bool {
	r := &w.config.Resident[n]
	return r.Managed() && concerns(r.Kinds, k)
}

// claims reports whether a job that waits has come as far as an item: it has when it needs it and all that it needs
// before it is there or on its way.
func (w *world) claims(j *job, n int) bool {
	if !w.needs(j.kind, n) || (w.workingFirst(j.kind) && !j.reserved) {
		return false
	}
	for before := range n {
		if w.needs(j.kind, before) && !w.config.Resident[before].Background && w.data[before].state == notThere {
			return false
		}
	}
	return true
}

// lacks returns the index of an item that a job waits for, or -1.
func (w *world) lacks(j *job) int {
	for n := range w.data {
		if w.needs(j.kind, n) && !w.config.Resident[n].Background && w.data[n].state != loaded {
			return n
		}
	}
	return -1
}

// resident judges the data that comes and goes.
type resident struct{ idle }

func (resident) effect(w *world, e *model.Effect) {
	switch {
	case e.Op == model.Start && (e.Task.Stage == model.Parse || e.Task.Stage == model.Synth), e.Op == model.Admit:
		if j := w.job(e.Job); j != nil {
			if n := w.lacks(j); n >= 0 {
				w.report("job %d begins without %s, which is not loaded", e.Job, w.config.Resident[n].Name)
			}
		}
		return
	case e.Op == model.Start && e.Task.Stage == model.Load, e.Op == model.Loaded, e.Op == model.Evict:
	default:
		return
	}
	n := int(e.Task.Slot)
	if n >= len(w.data) || !w.config.Resident[n].Managed() {
		w.report("%s of data %d, which does not come and go", e.Op, n)
		return
	}
	r, state := &w.config.Resident[n], w.data[n].state
	switch {
	case e.Op == model.Loaded && state != loadedOnly:
		w.report("%s is usable, and was not being loaded", r.Name)
	case e.Op == model.Start && state != notThere:
		w.report("%s is loaded, which is there or on its way", r.Name)
	case e.Op == model.Evict && (state != loaded || !r.Evictable):
		w.report("%s is evicted, which is not there or must stay", r.Name)
	case e.Op == model.Evict:
		for _, j := range w.jobs {
			if w.needs(j.kind, n) && (j.parsing || j.live > 0 || j.admits()) {
				w.report("%s is evicted, which job %d needs", r.Name, j.number)
				break
			}
		}
	}
}

func (resident) settled(w *world) {
	for n := range w.data {
		// Only data that polls may have to wait for its own bytes, and then a timer is set.
		if w.data[n].state == loadedOnly && (w.config.Resident[n].Acquire != model.AcquirePolling || len(w.timers) == 0) {
			w.report("%s is loaded and not usable, and does not wait for its bytes", w.config.Resident[n].Name)
		}
	}
}
