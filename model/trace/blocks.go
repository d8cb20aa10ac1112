package trace

import (
	"headroom/model"
	"headroom/model/profile"
)

// Blocks is what a job of a kind and each of its partitions take, block by block.
type Blocks struct {
	Parse      model.Bytes `json:"parse,omitzero"`
	Vectors    model.Bytes `json:"vectors,omitzero"`
	Assignment model.Bytes `json:"assignment,omitzero"`
	Call       model.Bytes `json:"call,omitzero"` // of a proof call; it goes with the assignment
}

// BlocksOf returns the blocks of a profile's footprint.
func BlocksOf(f *profile.Footprint) Blocks {
	return Blocks{Parse: f.Parse.Value, Vectors: f.Vectors.Value, Assignment: f.Assignment.Value, Call: f.Call.Value}
}

// sizes knows what effects take and free: the blocks of each kind, by its index, and the resident data.
type sizes struct {
	blocks   []Blocks
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
	return s.blocks[e.Kind].bytes(e)
}

// bytes returns what an effect takes or frees: a job that starts its parse buffer, a synthesis what is left of it at
// its end, a partition on a worker its call's memory. What goes to a pool or comes from it stays held. Proofs that are
// joined take as much as they would one by one.
func (b *Blocks) bytes(e *model.Effect) model.Bytes {
	return b.one(e) * model.Bytes(max(1, e.Proofs))
}

// one returns what an effect takes or frees for each proof.
func (b *Blocks) one(e *model.Effect) model.Bytes {
	switch e.Op {
	case model.JobStart:
		return b.Parse
	case model.Take:
		return b.Call
	case model.Start:
		switch {
		case e.Task.Stage != model.Synth:
			return 0
		case e.Reused:
			return b.Assignment
		}
		return b.Vectors + b.Assignment
	case model.Freed:
		return b.freed(e)
	}
	return 0
}

func (b *Blocks) freed(e *model.Effect) model.Bytes {
	switch {
	case e.Task.Block == model.ParseBuffer:
		return b.Parse
	case e.Task.Block == model.Vectors:
		return b.Vectors
	case e.Call:
		return b.Assignment + b.Call
	}
	return b.Assignment
}

// sizes returns what effects take; zeros for a kind of which the header does not say.
func (h *Header) sizes() sizes {
	s := sizes{make([]Blocks, len(h.Kinds)), h.Config.Resident}
	for i, k := range h.Kinds {
		s.blocks[i] = h.Blocks[k.Name]
	}
	return s
}

func (b *Blocks) check(f *model.Faults, at string) {
	f.Size(at+".parse", b.Parse, 0)
	f.Size(at+".vectors", b.Vectors, 0)
	f.Size(at+".assignment", b.Assignment, 0)
	f.Size(at+".call", b.Call, 0)
}
