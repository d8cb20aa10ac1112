package work

import (
	"math"
	"slices"
	"strings"
	"testing"

	"headroom/model"
	"headroom/model/profile"
)

// plainMemory sums up footprints from scratch at every instant at which the sum can turn: wherever something
// begins or ends, and on both sides of every corner that a runner passes in between.
type plainMemory struct {
	r        *stageRun
	constant float64
	starts   map[int]int64 // work on the stage's clock at which each task began
	shown    map[model.Stage]int64
	peak     float64
	slack    float64 // how far the fixed point may be off
}

// position returns where on a task's work a corner lies.
func position(c corner, work model.Span) int64 { return int64(math.Round(c.progress * float64(work))) }

// value returns the bytes of a task after some of its work: at a step those before it, or with right those after
// it. A step at the very end is never taken, not even one that so little work brings there by rounding.
func value(s shape, work model.Span, done int64, right bool) float64 {
	i := 0
	for i < len(s)-1 && (position(s[i], work) < done || i == 0) {
		i++
	}
	if right && done < int64(work) {
		for i < len(s)-1 && position(s[i], work) <= done {
			i++
		}
	}
	from, to := position(s[i-1], work), position(s[i], work)
	if from == to {
		return float64(s[i-1].bytes)
	}
	part := float64(done-from) / float64(to-from)
	return float64(s[i-1].bytes) + part*float64(s[i].bytes-s[i-1].bytes)
}

// running calls visit with the tasks under way that have a footprint.
func (m *plainMemory) running(visit func(task int, s shape)) {
	for s, lanes := range m.r.lanes {
		for _, i := range lanes {
			if i < 0 {
				continue
			}
			if shapes := m.r.memory.ramps[s].shapes; shapes != nil && shapes[m.r.tasks[i].kind] != nil && m.r.tasks[i].work > 0 {
				visit(i, shapes[m.r.tasks[i].kind])
			}
		}
	}
}

// level sums up at an instant, with the clock of one stage at a given work.
func (m *plainMemory) level(at model.Instant, exact model.Stage, work int64, right bool) float64 {
	sum := m.constant
	m.slack = float64(len(playStages) + 1)
	m.running(func(i int, s shape) {
		k := m.r.tasks[i]
		shown := work
		if k.stage != exact {
			shown = m.r.clocks.clocks[k.stage].read(at)
		}
		sum += value(s, k.work, shown-m.starts[i], right)
		m.slack += float64(k.work)/(1<<21) + 1
	})
	return sum
}

func (m *plainMemory) see(level float64) { m.peak = max(m.peak, level) }

// before visits the corners since the last instant, and the instant itself before anything changes.
func (m *plainMemory) before(r *stageRun) {
	m.running(func(i int, s shape) {
		k := r.tasks[i]
		c := &r.clocks.clocks[k.stage]
		for _, corner := range s[1 : len(s)-1] {
			work := m.starts[i] + position(corner, k.work)
			if work > m.shown[k.stage] && work <= c.read(r.now) {
				at := min(c.when(work), r.now)
				m.see(m.level(at, k.stage, work, false))
				m.see(m.level(at, k.stage, work, true))
			}
		}
	})
	m.see(m.level(r.now, model.NoStage, 0, false))
}

// after takes in what began, and visits the instant again.
func (m *plainMemory) after(r *stageRun) {
	for _, s := range playStages {
		m.shown[s] = r.clocks.clocks[s].read(r.now)
	}
	for i, k := range r.tasks {
		if _, begun := m.starts[i]; !begun && k.at == r.now {
			m.starts[i] = m.shown[k.stage]
		}
	}
	for _, j := range r.jumps {
		if j.at == r.now {
			m.constant += float64(j.bytes)
		}
	}
	m.see(m.level(r.now, model.NoStage, 0, true))
}

// The level at every instant and the peak are those of a sum from scratch.
func TestMemoryAgreesWithASumFromScratch(t *testing.T) {
	for seed := range uint64(1500) {
		r := newPlay(seed).start(0)
		m := &plainMemory{r: r, constant: float64(playBase), starts: map[int]int64{}, shown: map[model.Stage]int64{}, peak: float64(playBase)}
		worst := 0.0
		r.before = m.before
		r.after = func(r *stageRun) {
			m.after(r)
			want := m.level(r.now, model.NoStage, 0, true)
			worst = max(worst, m.slack)
			if off := float64(r.memory.Level()) - want; math.Abs(off) > m.slack {
				t.Fatalf("seed %d: at %s the level is off by %.0f B, at most %.0f", seed, r.now, off, m.slack)
			}
		}
		r.run(Forever)
		peak, _ := r.memory.Peak()
		if off := float64(peak) - m.peak; math.Abs(off) > worst {
			t.Fatalf("seed %d: the peak is off by %.0f B of %.0f, at most %.0f", seed, off, m.peak, worst)
		}
	}
}

// After every run nothing is left of any footprint, to the last bit.
func TestMemoryReturnsToItsBase(t *testing.T) {
	for seed := range uint64(500) {
		p := newPlay(seed)
		r := p.start(0)
		r.run(Forever)
		want := playBase
		for _, j := range p.jumps {
			want += j.bytes
		}
		if got := r.memory.Level(); got != want {
			t.Errorf("seed %d: %s are left, want %s", seed, got, want)
		}
		for s := range r.memory.ramps {
			if m := &r.memory.ramps[s]; m.offset != 0 || m.slope != 0 || m.breaks.first != never {
				t.Errorf("seed %d: stage %s is left with offset %d and slope %d", seed, model.Stage(s), m.offset, m.slope)
			}
		}
	}
}

// Reading the memory, at whatever instants, changes neither when stages end nor any level at an event.
func TestReadingChangesNothing(t *testing.T) {
	for seed := range uint64(500) {
		p := newPlay(seed)
		var want, got []model.Bytes
		plain := p.start(0)
		plain.after = func(r *stageRun) { want = append(want, r.memory.Level()) }
		plain.run(Forever)

		read := p.start(0)
		read.after = func(r *stageRun) { got = append(got, r.memory.Level()) }
		read.between = func(r *stageRun, next model.Instant) {
			for i := range model.Instant(5) {
				r.memory.Advance(r.now + (next-r.now)*i/5)
			}
		}
		read.run(Forever)

		alone := p.start(0)
		alone.memory = nil
		alone.run(Forever)
		if !slices.Equal(want, got) {
			t.Errorf("seed %d: the levels depend on reading", seed)
		}
		if !slices.Equal(plain.ends, read.ends) || !slices.Equal(plain.ends, alone.ends) {
			t.Errorf("seed %d: the completions depend on the memory", seed)
		}
	}
}

// The limit is crossed at the first instant at which the memory is above it, and not before; but for some
// nanoseconds, since clocks show whole ones and round down.
func TestCrossingIsWhereTheLimitIsPassed(t *testing.T) {
	const slack = 50
	for seed := range uint64(500) {
		p := newPlay(seed)
		free := p.start(0)
		free.run(Forever)
		peak, _ := free.memory.Peak()
		for part := range model.Bytes(4) {
			limit := playBase + (peak-playBase)*part/4
			limited := p.start(limit)
			limited.run(Forever)
			if peak <= limit {
				if limited.memory.Crossed() {
					t.Fatalf("seed %d: a limit of %s is crossed by a peak of %s", seed, limit, peak)
				}
				continue
			}
			above, at := limited.memory.Peak()
			if !limited.memory.Crossed() || above <= limit {
				t.Fatalf("seed %d: a limit of %s is not crossed by a peak of %s", seed, limit, peak)
			}
			before := p.start(0)
			before.run(at - slack)
			if below, _ := before.memory.Peak(); at >= slack && below > limit {
				t.Fatalf("seed %d: %s is passed before %s, where it is said to be", seed, limit, at)
			}
			upTo := p.start(0)
			upTo.run(at + slack)
			if passed, _ := upTo.memory.Peak(); passed <= limit {
				t.Fatalf("seed %d: %s is not passed at %s, where it is said to be", seed, limit, at)
			}
		}
	}
}

// What a peak is made of adds up to it.
func TestPartsOfThePeakAddUpToIt(t *testing.T) {
	for seed := range uint64(300) {
		p := newPlay(seed)
		r := p.start(0)
		r.run(Forever)
		peak, at := r.memory.Peak()
		sum := playBase
		for _, j := range p.jumps {
			if j.at <= at {
				sum += j.bytes
			}
		}
		for _, s := range playStages {
			sum += r.memory.AtPeak(s)
		}
		// A jump at the instant of the peak may have come after it.
		if sum != peak && !slices.ContainsFunc(p.jumps, func(j jump) bool { return j.at == at }) {
			t.Errorf("seed %d: the parts of the peak add up to %s, the peak is %s", seed, sum, peak)
		}
	}
}

// Runners that may hold more than can be added up are found out, and only then, whether it changes meanwhile or not.
func TestMemoryKnowsWhatItCannotAddUp(t *testing.T) {
	for name, points := range map[string][]profile.Point{
		"a ramp":  {holding(0, 0), holding(0.5, 3*model.TiB), holding(1, 0)},
		"a level": {holding(0, 3*model.TiB)},
	} {
		kinds := []profile.Kind{{Name: "a", Footprint: profile.Footprint{During: map[model.Stage][]profile.Point{model.Synth: points}}}}
		m := NewMemory(NewClocks(profile.Interference{}), kinds, 0, 0)
		begin := func(lane int32) { m.Begin(model.Synth, lane, 0, 1, model.Second) }
		begin(0)
		for range 3 { // one after the other
			begin(1)
			m.End(model.Synth, 1)
		}
		begin(1)
		if m.Overflowed() != "" {
			t.Errorf("%s: two runners of 3TiB are too many", name)
		}
		if begin(2); m.Overflowed() == "" {
			t.Errorf("%s: three runners of 3TiB are not too many", name)
		}
	}
	for _, base := range []model.Bytes{0, mostHeld} {
		m := NewMemory(NewClocks(profile.Interference{}), nil, base, 0)
		const most = model.MaxBytes * model.Bytes(model.MaxBatch)
		for held := base; held <= mostHeld; held += most {
			if m.Overflowed() != "" {
				t.Fatalf("with %s: overflowed is %q", held, m.Overflowed())
			}
			m.Add(most)
		}
		if m.Add(-most); !strings.Contains(m.Overflowed(), "more than 4194304TiB") {
			t.Errorf("after more than %s: overflowed is %q", model.Bytes(mostHeld), m.Overflowed())
		}
	}
}

// Corners that so little work brings to the end of the stage by rounding are a step at the very end, which nobody sees.
func TestMemorySeesNoStepAtTheVeryEnd(t *testing.T) {
	gib := profile.Exactly(model.GiB)
	kinds := []profile.Kind{{Name: "a", Footprint: profile.Footprint{During: map[model.Stage][]profile.Point{
		model.Synth: {{Progress: 0}, {Progress: 0.5}, {Progress: 0.5, Bytes: gib}, {Progress: 1}},
	}}}}
	for work, want := range map[model.Span]model.Bytes{1: 0, 2: model.GiB} {
		clocks := NewClocks(profile.Interference{})
		m := NewMemory(clocks, kinds, 0, 0)
		clocks.Start(0, model.Synth, 0, work)
		m.Begin(model.Synth, 0, 0, 1, work)
		m.Advance(model.Instant(work))
		if peak, _ := m.Peak(); peak != want {
			t.Errorf("in %d ns of work: peak %v, want %v", work, peak, want)
		}
	}
}

// alone returns the memory of one runner of an amount of work, which starts at instant 0 and holds that.
func alone(work model.Span, points ...profile.Point) *Memory {
	clocks := NewClocks(profile.Interference{})
	m := NewMemory(clocks, []profile.Kind{{Name: "a", Footprint: profile.Footprint{
		During: map[model.Stage][]profile.Point{model.Synth: points},
	}}}, 0, 0)
	clocks.Start(0, model.Synth, 0, work)
	m.Begin(model.Synth, 0, 0, 1, work)
	clocks.Settle(0)
	m.Observe(0)
	return m
}

func holding(progress float64, bytes model.Bytes) profile.Point {
	return profile.Point{Progress: progress, Bytes: profile.Exactly(bytes)}
}

// Slopes are rounded, but what is held at the higher end of a line is exact, whichever end that is.
func TestPeaksOfLinesAreExact(t *testing.T) {
	const high, work = 5*model.GiB + 1, 7*model.Second + 3
	for name, points := range map[string][]profile.Point{
		"rises":           {holding(0, 0), holding(1, high)},
		"falls":           {holding(0, high), holding(1, 0)},
		"rises and falls": {holding(0, 0), holding(0.3, high), holding(1, 0)},
	} {
		m := alone(work, points...)
		m.Advance(model.Instant(work))
		if peak, _ := m.Peak(); peak != high {
			t.Errorf("what %s peaks at %d bytes, want %d", name, peak, high)
		}
	}
}

// What falls at the instant at which something else is taken is not held together with it.
func TestACornerIsPassedBeforeAChangeOfItsInstant(t *testing.T) {
	m := alone(10, holding(0, 6), holding(0.5, 6), holding(0.5, 1), holding(1, 1))
	m.Advance(5)
	m.Add(4)
	m.Observe(5)
	if peak, at := m.Peak(); peak != 6 || at != 0 || m.Level() != 5 {
		t.Errorf("the peak is %d bytes at %s, and then %d are held: want 6 at 0s, and 5", peak, at, m.Level())
	}
}

// What a footprint says of a part of the progress only holds before and after it too.
func TestFootprintsGoOnAtBothEnds(t *testing.T) {
	m := alone(10, holding(0.3, 6), holding(0.7, 4))
	for _, want := range []struct {
		at    model.Instant
		bytes model.Bytes
	}{{0, 6}, {2, 6}, {5, 5}, {8, 4}, {10, 4}} {
		m.Advance(want.at)
		if got := m.Level(); got != want.bytes {
			t.Errorf("at %s %d bytes are held, want %d", want.at, got, want.bytes)
		}
	}
}

// A new peak is told of once.
func TestANewPeakIsToldOfOnce(t *testing.T) {
	m := alone(10, holding(0, 6), holding(0.5, 8), holding(1, 0))
	for _, asked := range []struct {
		at   model.Instant
		want bool
	}{{0, true}, {0, false}, {5, true}, {5, false}, {10, false}} {
		m.Advance(asked.at)
		if got := m.Rose(); got != asked.want {
			t.Errorf("at %s: a new peak: %v, want %v", asked.at, got, asked.want)
		}
	}
}
