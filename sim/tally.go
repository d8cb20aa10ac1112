package sim

import (
	"slices"

	"headroom/model"
)

// tally is what a run counts as it goes: integrals over time of who was busy, and the jobs that ended.
type tally struct {
	synth, lock, finish, starved integral
	done, failed                 int
	first, lastDone              model.Instant // first arrival, last end of a job
	stalled                      bool
}

// integral is a sum of counts times nanoseconds.
type integral int64

func (i *integral) add(n int32, dt model.Span) { *i += integral(n) * integral(dt) }

// pass counts the time up to the next event.
func (t *tally) pass(l *loop, next model.Instant) {
	dt := next.Sub(l.now)
	t.synth.add(l.engine.Running(model.Synth), dt)
	t.finish.add(l.engine.Running(model.Finish), dt)
	t.lock.add(l.core.LocksHeld(), dt)
	if l.core.Waiting() && !l.core.Admitting() && l.core.FreePermits() > 0 {
		t.starved.add(1, dt)
	}
}

// count takes note of the jobs that ended in a step.
func (t *tally) count(effects []model.Effect, now model.Instant) {
	for i := range effects {
		switch effects[i].Op {
		case model.JobDone:
			t.done++
			t.lastDone = now
		case model.JobFailed:
			t.failed++
		case model.Stall:
			t.stalled = true
		}
	}
}

// snapshot is who held memory at the peak.
type snapshot struct {
	census []int32
	jobs   int
	during [model.NumStages]model.Bytes
}

// watchPeak takes a snapshot if the memory has just reached a new peak, and reports whether the limit was passed.
// The core's counts have not changed since the memory was evaluated.
func (l *loop) watchPeak() bool {
	m := l.engine.Memory
	crossing, crossed := m.Crossed()
	if !m.Rose() {
		return crossed
	}
	l.snapshot.census = l.core.Census(l.snapshot.census)
	l.snapshot.jobs = l.core.InFlight()
	_, at := m.Peak()
	if crossed {
		at = crossing
	}
	for _, s := range m.Ramped() {
		l.snapshot.during[s] = m.During(s, at)
	}
	return crossed
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
	Count int // partitions; blocks for dealloc, jobs for parse
	Bytes model.Bytes
}

// holdings turns the snapshot at the peak into bytes by owner, the largest first; owners without any are left out.
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
	add(OwnBaseline, 0, l.profile.Baseline.Value)
	add(OwnResident, len(l.plan.resident()), residentBytes(l.plan.resident()))
	for k := range l.kinds {
		l.addKind(k, add)
	}
	for owner, stages := range map[Owner][]model.Stage{
		OwnSynth: {model.Synth}, OwnGPU: {model.Prep, model.Kernel, model.Tail},
		OwnFinish: {model.Finish}, OwnDealloc: {model.Dealloc}, OwnParse: {model.Parse},
	} {
		for _, s := range stages {
			add(owner, 0, l.snapshot.during[s])
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

func total(list []Holding) model.Bytes {
	var sum model.Bytes
	for _, h := range list {
		sum += h.Bytes
	}
	return sum
}

var ownerOrder = []Owner{OwnSynth, OwnSend, OwnChannel, OwnGPU, OwnFinish, OwnDealloc, OwnResident, OwnParse, OwnPool, OwnBaseline}

// addKind adds the partitions of one kind.
func (l *loop) addKind(k int, add func(Owner, int, model.Bytes)) {
	f := &l.kinds[k].Footprint
	v, w, call := f.Vectors.Value, f.Assignment.Value, f.Call.Value
	finishing := w + call
	if l.plan.Config.FreeVectors == model.AfterFinish {
		finishing += v
	}
	for place, h := range map[model.Place]struct {
		owner Owner
		each  model.Bytes
	}{
		model.InSynth: {OwnSynth, 0}, model.InSend: {OwnSend, v + w}, model.InChannel: {OwnChannel, v + w},
		model.OnGPU: {OwnGPU, v + w + call}, model.InFinish: {OwnFinish, finishing},
		model.FreeingVectors: {OwnDealloc, v}, model.FreeingAssignment: {OwnDealloc, w + call},
	} {
		n := int(l.snapshot.census[k*int(model.NumPlaces)+int(place)])
		add(h.owner, n, h.each*model.Bytes(n))
	}
	add(OwnParse, l.snapshot.jobs, f.Parse.Value*model.Bytes(l.snapshot.jobs))
}
