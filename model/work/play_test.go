package work

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"headroom/model"
	"headroom/model/profile"
)

// A play is a random run of clocks and memory: stages start at instants that were drawn beforehand, whatever ends
// in between, so that two ways of keeping time can be compared task by task.
type play struct {
	kinds        []profile.Kind
	interference profile.Interference
	tasks        []task // in order of their starts
	jumps        []jump // in order of time
}

type task struct {
	at    model.Instant
	stage model.Stage
	kind  uint16
	work  model.Span
}

type jump struct {
	at    model.Instant
	bytes model.Bytes
}

var playStages = []model.Stage{model.Synth, model.Prep, model.Kernel, model.Finish}

func newPlay(seed uint64) *play {
	rng := rand.New(rand.NewPCG(seed, 1))
	p := &play{interference: drawInterference(rng)}
	for range 1 + rng.IntN(3) {
		p.kinds = append(p.kinds, profile.Kind{Footprint: profile.Footprint{During: drawShapes(rng)}})
	}
	second := func(n float64) int64 { return int64(rng.Float64() * n * float64(model.Second)) }
	for range 1 + rng.IntN(40) {
		k := task{model.Instant(second(20)), playStages[rng.IntN(len(playStages))], uint16(rng.IntN(len(p.kinds))), model.Span(second(8))}
		switch rng.IntN(12) {
		case 0:
			k.work = 0
		case 1:
			k.work = model.Span(rng.IntN(9)) // a few nanoseconds
		}
		p.tasks = append(p.tasks, k)
		if rng.IntN(5) == 0 {
			p.tasks = append(p.tasks, k) // a twin that ends at the same instant
		}
	}
	slices.SortStableFunc(p.tasks, func(a, b task) int { return cmp.Compare(a.at, b.at) })
	for range rng.IntN(10) {
		p.jumps = append(p.jumps, jump{model.Instant(second(30)), model.Bytes(rng.Int64N(2 << 30))})
	}
	slices.SortFunc(p.jumps, func(a, b jump) int { return cmp.Compare(a.at, b.at) })
	return p
}

func drawInterference(rng *rand.Rand) profile.Interference {
	var in profile.Interference
	stage := func() model.Stage { return playStages[rng.IntN(len(playStages))] }
	for range rng.IntN(4) {
		s := profile.Slowdown{Stage: stage(), By: stage()}
		for n := range 1 + rng.IntN(3) {
			s.Points = append(s.Points, profile.SlowdownPoint{N: 1 + n*(1+rng.IntN(2)) + n, Factor: profile.Exactly(0.8 + 2*rng.Float64())})
		}
		in.Slowdowns = append(in.Slowdowns, s)
	}
	for range rng.IntN(3) {
		r := profile.Resource{Capacity: profile.Exactly(0.5 + 6*rng.Float64()), Demand: map[model.Stage]profile.Quantity[float64]{}}
		for range 1 + rng.IntN(3) {
			r.Demand[stage()] = profile.Exactly(0.1 + 2*rng.Float64())
		}
		in.Resources = append(in.Resources, r)
	}
	return in
}

// drawShapes draws footprints of some stages, with ramps both ways, steps and points missing at the ends.
func drawShapes(rng *rand.Rand) map[model.Stage][]profile.Point {
	shapes := map[model.Stage][]profile.Point{}
	for _, s := range playStages {
		if rng.IntN(4) == 0 {
			continue
		}
		progress := 0.0
		for range 1 + rng.IntN(4) {
			if rng.IntN(3) > 0 {
				progress += (1 - progress) * rng.Float64()
			}
			shapes[s] = append(shapes[s], profile.Point{Progress: progress, Bytes: profile.Exactly(model.Bytes(rng.Int64N(1 << 33)))})
			if rng.IntN(3) == 0 {
				shapes[s] = append(shapes[s], profile.Point{Progress: progress, Bytes: profile.Exactly(model.Bytes(rng.Int64N(1 << 33)))})
			}
		}
		shapes[s] = slices.Clip(shapes[s])
	}
	return shapes
}

// stageRun is the play on the real clocks.
type stageRun struct {
	*play
	clocks *Clocks
	memory *Memory // nil: the clocks alone
	lanes  [model.NumStages][]int
	ends   []model.Instant // of each task
	now    model.Instant
	// before and after are called around what changes at an instant, if they are set; between looks at instants in
	// which nothing changes.
	before, after func(*stageRun)
	between       func(*stageRun, model.Instant)
}

func (p *play) start(limit model.Bytes) *stageRun {
	r := &stageRun{play: p, clocks: NewClocks(p.interference), ends: make([]model.Instant, len(p.tasks))}
	r.memory = NewMemory(r.clocks, p.kinds, playBase, limit)
	return r
}

const playBase = model.Bytes(1 << 30)

// run plays to the end, or up to and with an instant.
func (r *stageRun) run(until model.Instant) {
	tasks, jumps := 0, 0
	for {
		next := r.clocks.Next()
		if tasks < len(r.tasks) {
			next = min(next, r.tasks[tasks].at)
		}
		if jumps < len(r.jumps) {
			next = min(next, r.jumps[jumps].at)
		}
		if r.between != nil && next != Forever {
			r.between(r, next)
		}
		if next > until || next == Forever {
			if r.memory != nil && until != Forever {
				r.memory.Advance(until)
			}
			return
		}
		r.now = next
		if r.before != nil {
			r.before(r)
		}
		if r.memory != nil {
			r.memory.Advance(next)
		}
		for _, over := range r.clocks.Pop(next, nil) {
			r.end(over)
		}
		for ; tasks < len(r.tasks) && r.tasks[tasks].at == next; tasks++ {
			r.begin(tasks)
		}
		for ; jumps < len(r.jumps) && r.jumps[jumps].at == next; jumps++ {
			if r.memory != nil {
				r.memory.Add(r.jumps[jumps].bytes)
			}
		}
		r.clocks.Settle(next)
		if r.memory != nil {
			r.memory.Observe(next)
		}
		if r.after != nil {
			r.after(r)
		}
	}
}

func (r *stageRun) begin(i int) {
	k := r.tasks[i]
	lanes := &r.lanes[k.stage]
	lane := slices.Index(*lanes, -1)
	if lane < 0 {
		lane = len(*lanes)
		*lanes = append(*lanes, -1)
	}
	(*lanes)[lane] = i
	r.clocks.Start(r.now, k.stage, int32(lane), k.work)
	if r.memory != nil {
		r.memory.Begin(k.stage, int32(lane), k.kind, 1, k.work)
	}
}

func (r *stageRun) end(c Completion) {
	lane := &r.lanes[c.Stage][c.Lane]
	r.ends[*lane] = r.now
	*lane = -1
	if r.memory != nil {
		r.memory.End(c.Stage, c.Lane)
	}
}
