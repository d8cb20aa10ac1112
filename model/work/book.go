package work

import (
	"fmt"

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
}

// see takes note of what is held after a round.
func (b *Book) see(now model.Instant) {
	if b.held > b.Peak {
		b.Peak, b.PeakAt = b.held, now
	}
}

// Crossed reports whether more than the limit was held.
func (b *Book) Crossed() bool { return b.Limit > 0 && b.Peak > b.Limit }

// onDevice is what a GPU worker's partition holds on the worker's device.
type onDevice struct {
	job, partition int32
	bytes          model.Bytes
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
				b.pinned.held += r.Bytes
			}
		}
	}
	b.pinned.Peak = b.pinned.held
	return b
}

// part adds the pinned and the shared part of the vectors of some proofs of a kind, or takes them away.
func (b *books) part(kind uint16, proofs int) {
	p := &b.parts[kind]
	b.pinned.held += p.pinned * model.Bytes(proofs)
	b.shared.held += p.shared * model.Bytes(proofs)
}

// stage sets what the partition of a worker holds on its device while a stage runs there.
func (b *books) stage(e *model.Effect) {
	if s := e.Task.Stage; (s == model.Prep || s == model.Kernel || s == model.Tail) && int(e.Task.Lane) < len(b.workers) {
		b.set(e.Task.Lane, onDevice{e.Job, e.Partition, b.vram[e.Kind][s] * model.Bytes(e.Proofs)})
	}
}

func (b *books) set(worker int32, to onDevice) {
	w := &b.workers[worker]
	b.devices[int(worker)%len(b.devices)].held += to.bytes - w.bytes
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
		b.devices[d].see(now)
	}
	b.pinned.see(now)
	b.shared.see(now)
}
