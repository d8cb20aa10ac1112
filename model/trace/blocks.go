package trace

import "headroom/model"

// sizes knows what effects take and free: the blocks of each kind, by its index, and the resident data.
type sizes struct {
	blocks   []model.Blocks
	resident []model.Resident
}

// of returns what an effect takes or frees. A load takes the data's bytes and its transient ones, which go when it may
// be used.
func (s *sizes) of(e *model.Effect) model.Bytes {
	if e.Op == model.Loaded || e.Op == model.Evict || e.Op == model.Start && e.Task.Stage == model.Load {
		if int(e.Task.Slot) >= len(s.resident) {
			return 0
		}
		r := &s.resident[e.Task.Slot]
		switch e.Op {
		case model.Loaded:
			return r.Transient
		case model.Evict:
			return r.Bytes
		}
		return r.Bytes + r.Transient
	}
	if int(e.Kind) >= len(s.blocks) {
		return 0
	}
	return blockBytes(&s.blocks[e.Kind], e) * model.Bytes(max(1, e.Proofs))
}

// blockBytes returns what an effect takes or frees for each of its proofs: a job that starts its parse buffer, a
// synthesis what is left of it at its end, a partition on a worker its call's memory. What goes to a pool or comes from
// it stays held. Proofs that are joined take as much as they would one by one.
func blockBytes(b *model.Blocks, e *model.Effect) model.Bytes {
	switch {
	case e.Op == model.JobStart:
		return b.Parse
	case e.Op == model.Take:
		return b.Call
	case e.Op == model.Freed:
		return b.Freed(e)
	case e.Op != model.Start || e.Task.Stage != model.Synth:
		return 0
	case e.Reused:
		return b.Assignment
	}
	return b.Vectors + b.Assignment
}

// sizes returns what effects take; zeros for a kind of which the header does not say.
func (h *Header) sizes() sizes {
	s := sizes{make([]model.Blocks, len(h.Kinds)), h.Config.Resident}
	for i, k := range h.Kinds {
		s.blocks[i] = h.Blocks[k.Name]
	}
	return s
}

func checkBlocks(f *model.Faults, b *model.Blocks, at string) {
	f.Size(at+".parse", b.Parse, 0)
	f.Size(at+".vectors", b.Vectors, 0)
	f.Size(at+".assignment", b.Assignment, 0)
	f.Size(at+".call", b.Call, 0)
	f.Size(at+".pinned", b.Pinned, 0)
	f.Size(at+".device", b.Device, 0)
}
