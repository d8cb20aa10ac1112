package sim

import (
	"slices"

	"headroom/model"
)

// watchPeak takes a census if the memory has just reached a new peak, and reports whether the limit was passed.
// The core's counts have not changed since the memory was evaluated.
func (l *loop) watchPeak() bool {
	m := l.engine.Memory
	if !m.Rose() {
		return false
	}
	l.atPeak, l.data = l.core.Census(l.atPeak), l.engine.Data()
	return m.Crossed()
}

// Owner is who holds memory.
type Owner string

// The owners, in the order in which results list them.
const (
	OwnSynth    Owner = "synth"
	OwnSend     Owner = "send" // finished and blocked in send
	OwnChannel  Owner = "channel"
	OwnGPU      Owner = "gpu"
	OwnFinish   Owner = "finish"
	OwnDealloc  Owner = "dealloc"
	OwnResident Owner = "resident"
	OwnParse    Owner = "parse"
	OwnPool     Owner = "pool"
	OwnBaseline Owner = "baseline"
)

// Holding is what one owner holds.
type Holding struct {
	Owner Owner
	Count int // partitions; blocks for dealloc and pool, jobs for parse, items of data for resident
	Bytes model.Bytes
}

// holdings turns the census at the peak into bytes by owner, the largest first; owners without any are left out.
func (l *loop) holdings() []Holding {
	held := map[Owner]*Holding{}
	add := func(o Owner, count int, bytes model.Bytes) {
		h := held[o]
		if h == nil {
			h = &Holding{Owner: o}
			held[o] = h
		}
		h.Count += count
		h.Bytes += bytes
	}
	add(OwnBaseline, 0, l.baseline)
	add(OwnResident, l.data.Items, l.data.Bytes)
	for k := range l.kinds {
		l.addKind(k, add)
	}
	for owner, stages := range map[Owner][]model.Stage{
		OwnSynth: {model.Synth}, OwnGPU: {model.Prep, model.Kernel, model.Tail},
		OwnFinish: {model.Finish}, OwnDealloc: {model.Dealloc}, OwnParse: {model.Parse},
	} {
		for _, s := range stages {
			add(owner, 0, l.engine.Memory.AtPeak(s))
		}
	}
	var list []Holding
	for _, h := range held {
		if h.Bytes != 0 || h.Count != 0 {
			list = append(list, *h)
		}
	}
	slices.SortFunc(list, func(a, b Holding) int {
		if a.Bytes != b.Bytes {
			return int(max(-1, min(1, b.Bytes-a.Bytes)))
		}
		return slices.Index(ownerOrder, a.Owner) - slices.Index(ownerOrder, b.Owner)
	})
	return list
}

var ownerOrder = []Owner{OwnSynth, OwnSend, OwnChannel, OwnGPU, OwnFinish, OwnDealloc, OwnResident, OwnParse, OwnPool, OwnBaseline}

// addKind adds what the jobs of one kind and their partitions hold.
func (l *loop) addKind(k int, add func(Owner, int, model.Bytes)) {
	f := &l.kinds[k].Footprint
	v, w, call := f.Vectors.Value, f.Assignment.Value, f.Call.Value
	finishing := w + call
	if l.plan.Config.FreeVectors == model.AfterFinish {
		finishing += v
	}
	at := func(p model.Place) int { return int(l.atPeak[k*int(model.NumPlaces)+int(p)]) }
	several := func(o Owner, n int, each model.Bytes) { add(o, n, each*model.Bytes(n)) }
	if l.config.Pool == model.PoolRetain {
		several(OwnSynth, at(model.InSynth), v)
		several(OwnPool, at(model.HeldPool), v)
	} else {
		several(OwnSynth, at(model.InSynth), 0)
	}
	several(OwnSend, at(model.InSend), v+w)
	several(OwnChannel, at(model.InChannel), v+w)
	several(OwnGPU, at(model.OnGPU), v+w+call)
	several(OwnFinish, at(model.InFinish), finishing)
	several(OwnDealloc, at(model.FreeingVectors), v)
	several(OwnDealloc, at(model.FreeingAssignment), w)
	// A cancelled partition may have left before its call, so freed assignments do not tell how many calls are.
	freed := at(model.HeldCall) - at(model.OnGPU) - at(model.InFinish)
	add(OwnDealloc, 0, call*model.Bytes(freed))
	several(OwnParse, at(model.HeldParse), f.Parse.Value)
}
