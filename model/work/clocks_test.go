package work

import (
	stdcmp "cmp"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
)

// plainSlowdown is the slowdown of a stage as the profile's documentation has it, computed from scratch.
func plainSlowdown(in *profile.Interference, s model.Stage, n *[model.NumStages]int) float64 {
	factor := 1.0
	for _, law := range in.Slowdowns {
		if law.Stage == s {
			factor *= plainLaw(law, n[law.By])
		}
	}
	worst := 1.0
	for _, r := range in.Resources {
		if d := r.Demand[s].Value; d > 0 {
			worst = max(worst, d/plainShare(r, s, n))
		}
	}
	return factor * worst
}

func plainLaw(law profile.Slowdown, n int) float64 {
	start := 0
	if law.By == law.Stage {
		start = 1
	}
	points := append([]profile.SlowdownPoint{{N: start, Factor: profile.Exactly(1.0)}}, law.Points...)
	if law.Points[0].N == start {
		points = law.Points
	}
	if n <= points[0].N || len(points) == 1 {
		return points[0].Factor.Value
	}
	i := 1
	for i < len(points)-1 && n > points[i].N {
		i++
	}
	from, to := points[i-1], points[i]
	slope := (to.Factor.Value - from.Factor.Value) / float64(to.N-from.N)
	if n > to.N {
		return to.Factor.Value + max(slope, 0)*float64(n-to.N)
	}
	return from.Factor.Value + slope*float64(n-from.N)
}

// plainShare fills every runner's glass at one rate until it is full or the capacity is used up.
func plainShare(r profile.Resource, s model.Stage, n *[model.NumStages]int) float64 {
	level, left := 0.0, r.Capacity.Value
	for {
		thirsty, next := 0, math.Inf(1)
		for stage, d := range r.Demand {
			if d.Value > level {
				thirsty += n[stage]
				if n[stage] > 0 {
					next = min(next, d.Value)
				}
			}
		}
		if thirsty == 0 {
			return min(level, r.Demand[s].Value)
		}
		if need := (next - level) * float64(thirsty); need >= left {
			return min(level+left/float64(thirsty), r.Demand[s].Value)
		} else {
			left -= need
		}
		level = next
	}
}

// plainEnds plays with floating-point work of which every task has its own: no shared clocks, no rounding. It also
// returns the worst slowdown there was.
func plainEnds(p *play) (ends []float64, worst float64) {
	ends = make([]float64, len(p.tasks))
	left := make([]float64, len(p.tasks))
	var running []int
	now, begun := 0.0, 0
	for begun < len(p.tasks) || len(running) > 0 {
		var n [model.NumStages]int
		for _, i := range running {
			n[p.tasks[i].stage]++
		}
		slow := func(i int) float64 { return plainSlowdown(&p.interference, p.tasks[i].stage, &n) }
		next := math.Inf(1)
		if begun < len(p.tasks) {
			next = float64(p.tasks[begun].at)
		}
		for _, i := range running {
			next = min(next, now+left[i]*slow(i))
			worst = max(worst, slow(i))
		}
		for _, i := range running {
			left[i] -= (next - now) / slow(i)
		}
		now = next
		running = slices.DeleteFunc(running, func(i int) bool {
			over := left[i] < 1e-3
			if over {
				ends[i] = now
			}
			return over
		})
		for ; begun < len(p.tasks) && float64(p.tasks[begun].at) <= now; begun++ {
			left[begun] = float64(p.tasks[begun].work)
			running = append(running, begun)
		}
	}
	return ends, worst
}

// Completions agree with those of the obvious way: an event loses less than a nanosecond of work, and the fixed
// point a nanosecond in a second.
func TestClocksAgreeWithTasksThatKeepTheirOwnTime(t *testing.T) {
	for seed := range uint64(1500) {
		p := newPlay(seed)
		r := p.start(0)
		r.run(Forever)
		ends, worst := plainEnds(p)
		for i, want := range ends {
			bound := worst*float64(2*len(p.tasks)+1) + 1e-9*want
			if late := float64(r.ends[i]) - want; math.Abs(late) > bound {
				t.Fatalf("seed %d: task %d of %d ends %.0f ns late, at %s", seed, i, len(p.tasks), late, r.ends[i])
			}
		}
	}
}

func TestSlowdownIsAsDocumented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(rapid.Uint64().Draw(t, "seed"))
		l := newLaws(p.interference)
		var running [model.NumStages]int32
		var n [model.NumStages]int
		for _, s := range playStages {
			n[s] = rapid.IntRange(0, 12).Draw(t, s.String())
			running[s] = int32(n[s])
		}
		for _, s := range playStages {
			if n[s] == 0 {
				continue
			}
			want, got := plainSlowdown(&p.interference, s, &n), l.slowdown(s, &running)
			if math.Abs(got-want) > 1e-9*want {
				t.Fatalf("%s with %v running: slowdown %v, want %v", s, n, got, want)
			}
		}
	})
}

func lawOf(stage, by model.Stage, points ...profile.SlowdownPoint) profile.Interference {
	return profile.Interference{Slowdowns: []profile.Slowdown{{Stage: stage, By: by, Points: points}}}
}

// A law that falls at its end does not go on to negative slowdowns, and no law leaves what the clock can hold.
func TestSlowdownsStayPositive(t *testing.T) {
	falling := lawOf(model.Synth, model.Synth,
		profile.SlowdownPoint{N: 2, Factor: profile.Exactly(1.5)}, profile.SlowdownPoint{N: 3, Factor: profile.Exactly(1.1)})
	l := newLaws(falling)
	n := [model.NumStages]int32{model.Synth: 50}
	if got := l.slowdown(model.Synth, &n); got != 1.1 {
		t.Errorf("50 run at slowdown %v: want 1.1", got)
	}
	for _, factor := range []float64{math.SmallestNonzeroFloat64, 1e6} {
		in := lawOf(model.Synth, model.Synth, profile.SlowdownPoint{N: 1, Factor: profile.Exactly(factor)})
		in.Slowdowns = append(in.Slowdowns, in.Slowdowns[0], in.Slowdowns[0])
		c := NewClocks(in)
		c.Start(0, model.Synth, 0, model.Second)
		c.Settle(0)
		if at := c.Next(); at <= 0 || at == Forever || (factor < 1) != (at < model.Instant(model.Second)) {
			t.Errorf("a second of work at slowdown %v ends at %s", factor, at)
		}
	}
}

// A law says the same of a few runners, which are tabulated, and of as many as its points are about; a million of them
// take no table.
func TestALawIsAsDocumentedForManyRunners(t *testing.T) {
	in := lawOf(model.Synth, model.Kernel, profile.SlowdownPoint{N: 2, Factor: profile.Exactly(1.5)},
		profile.SlowdownPoint{N: 3002, Factor: profile.Exactly(4.5)}, profile.SlowdownPoint{N: model.MaxPartitions, Factor: profile.Exactly(5.0)})
	l := newLaws(in)
	for _, n := range []int32{0, 1, 2, 3, 3, 500, mostTabulated - 1, mostTabulated, 3000, 3002, 3003, model.MaxPartitions, 2 * model.MaxPartitions} {
		running := [model.NumStages]int{model.Kernel: int(n)}
		want, got := plainSlowdown(&in, model.Synth, &running), l.slowdown(model.Synth, &[model.NumStages]int32{model.Kernel: n})
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d kernels: slowdown %v, want %v", n, got, want)
		}
	}
	if n := len(l.slowdowns[model.Synth][0].table); n != mostTabulated {
		t.Errorf("a table of %d: want %d", n, mostTabulated)
	}
}

// Work that takes longer than time lasts is never due, however much of it there is.
func TestClocksDoNotOverflow(t *testing.T) {
	c := NewClocks(lawOf(model.Synth, model.Synth, profile.SlowdownPoint{N: 1, Factor: profile.Exactly(1e6)}))
	c.Start(5, model.Synth, 0, model.MaxSpan)
	c.Settle(5)
	if at := c.Next(); at != Forever {
		t.Errorf("a year of work a million times slower is due at %d: want never", at)
	}
	for _, in := range []profile.Interference{{}, lawOf(model.Synth, model.Synth, profile.SlowdownPoint{N: 2, Factor: profile.Exactly(1.5)})} {
		c := NewClocks(in)
		now := model.Instant(0)
		for c.Next(); now < Forever-1<<60; now = c.Next() {
			c.Pop(now, nil)
			c.Start(now, model.Synth, 0, 1<<60)
			c.Settle(now)
		}
		c.Pop(now, nil)
		c.Start(now, model.Synth, 0, 1<<61)
		c.Settle(now)
		if at := c.Next(); at != Forever {
			t.Errorf("after %s, work beyond the end of time is due at %s: want never", now, at)
		}
	}
}

// What ends together comes out downstream first and by lane, and equal work on one clock ends together.
func TestPopIsInOrder(t *testing.T) {
	c := NewClocks(profile.Interference{})
	for _, lane := range []int32{5, 1, 3} {
		c.Start(0, model.Synth, lane, 10)
		c.Start(0, model.Finish, lane, 10)
	}
	c.Start(0, model.Kernel, 0, 10)
	c.Start(0, model.Kernel, 1, 11)
	c.Settle(0)
	want := []Completion{{model.Finish, 1}, {model.Finish, 3}, {model.Finish, 5}, {model.Kernel, 0}, {model.Synth, 1}, {model.Synth, 3}, {model.Synth, 5}}
	if diff := cmp.Diff(want, c.Pop(c.Next(), nil)); diff != "" {
		t.Error(diff)
	}
}

// Every stage is due.
func TestNextKnowsEveryStage(t *testing.T) {
	for s := model.Load; s < model.NumStages; s++ {
		c := NewClocks(profile.Interference{})
		c.Start(0, s, 0, 10)
		c.Settle(0)
		if c.Next() != 10 || c.Take(10) != (Completion{s, 0}) || c.Next() != Forever {
			t.Errorf("%s of 10ns is not over then", s)
		}
	}
}

// A clock that changes its speed just before a key is due does not reach it: only the work of no length that begins
// at an instant is over at the same one.
func TestNothingBecomesDueAtAnInstantThatIsBeingDealtWith(t *testing.T) {
	for seed := range uint64(1500) {
		p := newPlay(seed)
		r := p.start(0)
		r.after = func(r *stageRun) {
			if r.clocks.Next() != r.now {
				return
			}
			for _, s := range playStages {
				if r.clocks.due[s] == r.now && !slices.ContainsFunc(r.tasks, func(k task) bool { return k.at == r.now && k.stage == s && k.work == 0 }) {
					t.Fatalf("seed %d: %s is due at %s again", seed, s, r.now)
				}
			}
		}
		r.run(Forever)
	}
}

// A clock is not read to be at the end of some work before that is due, however its speed is rounded: what begins in the
// nanosecond before makes nothing due at once. What an event may cost is a nanosecond of work, and one in a second.
func TestNothingIsOverBeforeItIsDue(t *testing.T) {
	for i := range 1000 {
		factor := 1 + float64(i)/700
		c := NewClocks(lawOf(model.Synth, model.Synth, profile.SlowdownPoint{N: 1, Factor: profile.Exactly(factor)}))
		c.Start(0, model.Synth, 0, 1000*model.Second)
		c.Settle(0)
		due := c.Next()
		c.Start(due-1, model.Synth, 1, 1000*model.Second)
		c.Settle(due - 1)
		if got := c.Next(); got < due || float64(got-due) > factor+1+1e-9*float64(due) {
			t.Fatalf("slowed %g times, what is due at %d is due at %d after another one began", factor, due, got)
		}
	}
}

// The agenda gives lanes in order of key and number, however many there are.
func TestAgendaAgreesWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newAgenda()
		var list []entry
		free := rapid.Permutation(lanesUpTo(200)).Draw(t, "lanes")
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			if len(free) > 0 && rapid.IntRange(0, 2).Draw(t, "add") > 0 {
				e := entry{rapid.Int64Range(0, 50).Draw(t, "key"), free[0]}
				free = free[1:]
				a.add(e.key, e.lane)
				list = append(list, e)
				slices.SortFunc(list, func(a, b entry) int { return stdcmp.Or(int(a.key-b.key), int(a.lane-b.lane)) })
			} else if len(list) > 0 {
				if lane := a.pop(); lane != list[0].lane {
					t.Fatalf("took out lane %d: want %d", lane, list[0].lane)
				}
				free = append(free, list[0].lane)
				list = list[1:]
			}
			first := int64(never)
			if len(list) > 0 {
				first = list[0].key
			}
			if a.first != first {
				t.Fatalf("the least key is %d: want %d", a.first, first)
			}
		}
	})
}

func lanesUpTo(n int32) []int32 {
	lanes := make([]int32, n)
	for i := range lanes {
		lanes[i] = int32(i)
	}
	return lanes
}

// The tree knows the least key and its lowest lane, whatever is set in whatever order.
func TestTreeAgreesWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tr tree
		keys := map[int32]int64{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			lane := rapid.Int32Range(0, 40).Draw(t, "lane")
			key := rapid.SampledFrom([]int64{0, 1, 2, 3, 1 << 40, never}).Draw(t, "key")
			tr.set(lane, key)
			keys[lane] = key
			least, first := int64(never), int32(-1)
			for lane := range int32(41) {
				if key, set := keys[lane]; set && key < least {
					least, first = key, lane
				}
			}
			if tr.min() != least || (least != never && tr.first() != first) {
				t.Fatalf("least key %d on lane %d: want %d on lane %d", tr.min(), tr.first(), least, first)
			}
			if got := tr.keys[tr.size+int(lane)]; got != key {
				t.Fatalf("lane %d has key %d: want %d", lane, got, key)
			}
		}
	})
}
