package trace

import (
	"strconv"

	"headroom/model"
)

// This file writes steps by hand, because the goroutine that owns a live pipeline waits for it.

// appendStep appends a step as one line. Done and Failed carry their owner's job and partition for the reader's
// sake.
func appendStep(b []byte, r *model.Record, owner owner, takes *sizes) []byte {
	b = append(b, `{"at":`...)
	b = strconv.AppendInt(b, int64(r.At), 10)
	in := &r.Input
	b = appendName(b, "input", in.Op.String())
	b = appendInt(b, "kind", int64(in.Kind))
	b = appendInt(b, "job", int64(owner.job))
	b = appendInt(b, "partition", int64(owner.partition))
	b = appendInt(b, "count", int64(in.Count))
	b = appendTask(b, &in.Task)
	b = appendInt(b, "began", int64(r.Begin))
	b = appendInt(b, "ended", int64(r.End))
	if len(r.Effects) > 0 {
		b = append(b, `,"effects":[`...)
		for i := range r.Effects {
			e := &r.Effects[i]
			b = append(appendEffect(b, e, takes.of(e)), ',')
		}
		b[len(b)-1] = ']'
	}
	s := &r.State
	if s.Permits != model.Unbounded {
		b = appendInt(b, "permits", int64(s.Permits))
	}
	b = appendInt(b, "channel", int64(s.Channel))
	b = appendInt(b, "blocked", int64(s.Blocked))
	b = appendInt(b, "ledger", int64(s.Ledger))
	return append(b, '}')
}

func appendEffect(b []byte, e *model.Effect, bytes model.Bytes) []byte {
	b = append(b, `{"do":"`...)
	b = append(b, e.Op.String()...)
	b = append(b, '"')
	b = appendInt(b, "kind", int64(e.Kind))
	b = appendInt(b, "job", int64(e.Job))
	b = appendInt(b, "partition", int64(e.Partition))
	if e.Proofs != usualProofs(e.Op, e.Task.Stage) {
		b = append(b, `,"proofs":`...)
		b = strconv.AppendInt(b, int64(e.Proofs), 10)
	}
	b = appendInt(b, "device", int64(e.Device))
	b = appendTask(b, &e.Task)
	b = appendInt(b, "after", int64(e.After))
	if e.Call {
		b = append(b, `,"call":true`...)
	}
	b = appendInt(b, "bytes", int64(bytes))
	if e.Reused {
		b = append(b, `,"reused":true`...)
	}
	return append(b, '}')
}

// usualProofs is the number of proofs that an effect is about where its line gives none: one, or none where it is not
// about a job.
func usualProofs(op model.EffectOp, s model.Stage) uint16 {
	switch op {
	case model.WakeAt, model.Loaded, model.Evict, model.Stall:
		return 0
	}
	if s == model.Load {
		return 0
	}
	return 1
}

func appendTask(b []byte, t *model.Task) []byte {
	if t.Stage != model.NoStage {
		b = appendName(b, "stage", t.Stage.String())
	}
	if t.Block != model.NoBlock {
		b = appendName(b, "block", t.Block.String())
	}
	b = appendInt(b, "lane", int64(t.Lane))
	b = appendInt(b, "slot", int64(t.Slot))
	return appendInt(b, "gen", int64(t.Gen))
}

// appendName appends a key and a word that needs no escapes.
func appendName(b []byte, key, name string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, `":"`...)
	b = append(b, name...)
	return append(b, '"')
}

// appendInt appends a key and a number unless that is zero.
func appendInt(b []byte, key string, n int64) []byte {
	if n == 0 {
		return b
	}
	b = append(b, ',', '"')
	b = append(b, key...)
	b = append(b, '"', ':')
	return strconv.AppendInt(b, n, 10)
}
