package work

import (
	"cmp"
	"fmt"
	"slices"

	"headroom/model"
)

// Book adds up one sort of memory besides the host's resident memory: that of a device, or what of the host's is pinned
// or shared. It changes only when stages begin and end.
type Book struct {
	Name   string // for messages
	Peak   model.Bytes
	PeakAt model.Instant
	Limit  model.Bytes // 0: none
	held   model.Bytes
	atPeak []onDevice // by worker of the device
}

// see takes note of what is held after a round, and reports whether it is more than ever.
func (b *Book) see(now model.Instant) bool {
	if b.held <= b.Peak {
		return false
	}
	b.Peak, b.PeakAt = b.held, now
	return true
}

// Crossed reports whether more than the limit was held.
func (b *Book) Crossed() bool { return b.Limit > 0 && b.Peak > b.Limit }

// Use is what the partitions of a kind that are in one stage hold on a device.
type Use struct {
	Kind  uint16 // index among the kinds
	Stage model.Stage
	Count int // partitions, those of a batch once for each of its proofs
	Bytes model.Bytes
}

// AtPeak returns what partitions held on the device when most was held there, the largest first. What is missing the
// device held by itself.
func (b *Book) AtPeak() []Use {
	var list []Use
	for _, w := range b.atPeak {
		if w.bytes == 0 {
			continue
		}
		i := slices.IndexFunc(list, func(u Use) bool { return u.Kind == w.kind && u.Stage == w.stage })
		if i < 0 {
			i = len(list)
			list = append(list, Use{Kind: w.kind, Stage: w.stage})
		}
		list[i].Count += int(w.proofs)
		list[i].Bytes += w.bytes
	}
	slices.SortFunc(list, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Stage, b.Stage))
	})
	return list
}

// onDevice is what a GPU worker's partition holds on the worker's device.
type onDevice struct {
	job, partition int32
	bytes          model.Bytes
	kind, proofs   uint16
	stage          model.Stage // the one that began last
}

// parts is what of a partition's vectors is pinned and what is shared.
type parts struct{ pinned, shared model.Bytes }

// books keeps the books of an engine.
type books struct {
	devices []Book
	workers []onDevice // by worker
	pinned  Book
	shared  Book
	vram    [][model.NumStages]model.Bytes // by kind
	parts   []parts                        // by kind
	kept    bool                           // there is something to add up
	full    bool                           // more than mostHeld was held of one sort
}

func newBooks(s *Setup) books {
	b := books{
		pinned: Book{Name: "machine.memlock", Limit: s.Memlock},
		shared: Book{Name: "machine.shm", Limit: s.Shm},
	}
	for d := range int(s.Config.GPU.Devices) {
		device := Book{Name: fmt.Sprintf("vram of gpu %d", d), held: s.DeviceBaseline, Peak: s.DeviceBaseline}
		if d < len(s.VRAM) {
			device.Limit = s.VRAM[d]
		}
		b.devices = append(b.devices, device)
	}
	b.workers = make([]onDevice, s.Config.Workers())
	for i := range s.Kinds {
		f := &s.Kinds[i].Footprint
		var vram [model.NumStages]model.Bytes
		for stage, q := range f.VRAM {
			vram[stage] = q.Value
		}
		b.vram = append(b.vram, vram)
		b.parts = append(b.parts, parts{f.Pinned.Value, f.Shm.Value})
		b.kept = b.kept || len(f.VRAM) > 0 || b.parts[i] != parts{}
	}
	for i := range s.Config.Resident {
		if r := &s.Config.Resident[i]; r.Pinned {
			b.kept = true
			if !r.OnDemand {
				b.add(&b.pinned, r.Bytes)
			}
		}
	}
	b.pinned.Peak = b.pinned.held
	return b
}

// part adds the pinned and the shared part of the vectors of some proofs of a kind, or takes them away.
func (b *books) part(kind uint16, proofs int) {
	p := &b.parts[kind]
	b.add(&b.pinned, p.pinned*model.Bytes(proofs))
	b.add(&b.shared, p.shared*model.Bytes(proofs))
}

// add changes what is held of one sort.
func (b *books) add(sort *Book, bytes model.Bytes) {
	sort.held += bytes
	b.full = b.full || sort.held > mostHeld
}

// stage sets what the partition of a worker holds on its device while a stage runs there.
func (b *books) stage(e *model.Effect) {
	if s := e.Task.Stage; (s == model.Prep || s == model.Kernel || s == model.Tail) && int(e.Task.Lane) < len(b.workers) {
		b.set(e.Task.Lane, onDevice{
			job: e.Job, partition: e.Partition, bytes: b.vram[e.Kind][s] * model.Bytes(e.Proofs),
			kind: e.Kind, proofs: e.Proofs, stage: s,
		})
	}
}

func (b *books) set(worker int32, to onDevice) {
	w := &b.workers[worker]
	b.add(&b.devices[int(worker)%len(b.devices)], to.bytes-w.bytes)
	*w = to
}

// leave takes away what a partition held on the device of a worker that has left it.
func (b *books) leave(worker, job, partition int32) {
	if int(worker) < len(b.workers) && b.workers[worker].job == job && b.workers[worker].partition == partition {
		b.set(worker, onDevice{})
	}
}

// settle takes note of what is held after a round.
func (b *books) settle(now model.Instant) {
	for d := range b.devices {
		if device := &b.devices[d]; device.see(now) {
			device.atPeak = device.atPeak[:0]
			for w := d; w < len(b.workers); w += len(b.devices) {
				device.atPeak = append(device.atPeak, b.workers[w])
			}
		}
	}
	b.pinned.see(now)
	b.shared.see(now)
}
