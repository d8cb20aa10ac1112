package calibrate

import (
	"fmt"
	"slices"

	"headroom/model"
	"headroom/model/trace"
)

// dataBook is the resident data of a run. What an item takes is known from the header, and when it came and went from
// the events, so that it can be taken off what was resident. While it is loaded it is not known how much is there.
type dataBook struct {
	items   []model.Resident
	atStart model.Bytes // in the reading before the first job
	changes []dataChange
	loads   []zone
	open    map[int32]int // index in loads of what is being loaded, by item
}

// dataChange is what is held from an instant on, above what was held at the start.
type dataChange struct {
	at   model.Instant
	held model.Bytes
}

// newDataBook returns the book of a run that has not begun. What the prover keeps by itself is none of the data.
func newDataBook(h *trace.Header) dataBook {
	d := dataBook{items: h.Config.Resident, open: map[int32]int{}}
	for i := range d.items {
		if r := &d.items[i]; !r.OnDemand && (r.Managed() || !h.OwnData) {
			d.atStart += r.Bytes
		}
	}
	return d
}

// read takes in a record. Data that could not be loaded is held no more.
func (d *dataBook) read(r *model.Record) error {
	if in := &r.Input; in.Task.Stage == model.Load && (in.Op == model.Done || in.Op == model.Failed) {
		n, there := d.open[in.Task.Slot]
		if !there {
			return fmt.Errorf("ends the load of data %d, which did not begin", in.Task.Slot)
		}
		delete(d.open, in.Task.Slot)
		d.loads[n].end = r.At
		if in.Op == model.Done {
			d.change(r.At, d.items[in.Task.Slot].Bytes)
		}
	}
	for i := range r.Effects {
		e := &r.Effects[i]
		load := e.Op == model.Start && e.Task.Stage == model.Load
		if !load && e.Op != model.Evict {
			continue
		}
		if n := int(e.Task.Slot); n < 0 || n >= len(d.items) {
			return fmt.Errorf("is of data %d, of %d that the header lists", n, len(d.items))
		}
		if load {
			d.open[e.Task.Slot] = len(d.loads)
			d.loads = append(d.loads, zone{r.At, model.Instant(model.MaxSpan)})
			continue
		}
		d.change(r.At, -d.items[e.Task.Slot].Bytes)
	}
	return nil
}

func (d *dataBook) change(at model.Instant, by model.Bytes) {
	d.changes = append(d.changes, dataChange{at, d.held(at) + by})
}

// unsure returns the times in which samples say nothing of footprints because data comes or goes.
func (d *dataBook) unsure() []zone {
	var list []zone
	for _, l := range d.loads {
		list = append(list, around(l.begin, l.end))
	}
	for _, c := range d.changes {
		list = append(list, around(c.at, c.at))
	}
	return list
}

// held returns what is held at an instant above what was held at the start.
func (d *dataBook) held(at model.Instant) model.Bytes {
	n, _ := slices.BinarySearchFunc(d.changes, at, func(c dataChange, at model.Instant) int {
		if c.at <= at {
			return -1
		}
		return 1
	})
	if n == 0 {
		return 0
	}
	return d.changes[n-1].held
}

// besides reports whether data was held besides what the prover keeps by itself.
func (in *inputs) besides() bool {
	return slices.ContainsFunc(in.histories, func(h *history) bool { return len(h.data.items) > 0 && !h.trace.Header.OwnData })
}
