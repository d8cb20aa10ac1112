package work

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/stat"

	"headroom/model"
	"headroom/model/profile"
)

func arrive(job, kind, count int) model.Input {
	return model.Input{Op: model.Arrive, Job: int32(job), Kind: uint16(kind), Count: int32(count)}
}

// Jobs of a closed workload are there at the start, those of one kind in a row as one input.
func TestJobsOfAClosedWorkloadArriveAtTheStart(t *testing.T) {
	w := model.Workload{
		Shares:  []model.Share{{Kind: "a", Jobs: 4}, {Kind: "b", Jobs: 2}},
		Arrival: model.Arrival{Pattern: model.Closed},
	}
	a := NewArrivals(&w, []uint16{3, 5}, 1, 0)
	var got []model.Input
	for a.At == 0 {
		got = append(got, a.Pop())
	}
	want := []model.Input{arrive(0, 3, 1), arrive(1, 5, 1), arrive(2, 3, 2), arrive(4, 5, 1), arrive(5, 3, 1)}
	if diff := cmp.Diff(want, got); diff != "" || a.At != Forever {
		t.Errorf("then at %s: %s", a.At, diff)
	}
}

// Poisson arrivals have exponential gaps of the mean that the rate says, one job each.
func TestPoissonArrivalsHaveExponentialGaps(t *testing.T) {
	const jobs, rate = 20_000, 4.0
	w := model.Workload{Shares: []model.Share{{Kind: "a", Jobs: jobs}}, Arrival: model.Arrival{Pattern: model.Poisson, Rate: rate}}
	a := NewArrivals(&w, []uint16{0}, 7, 1)
	last := model.Instant(0)
	var gaps []float64
	for n := 0; a.At != Forever; n++ {
		gaps = append(gaps, a.At.Sub(last).Seconds())
		last = a.At
		if in := a.Pop(); in != arrive(n, 0, 1) {
			t.Fatalf("arrival %d is %+v", n, in)
		}
	}
	mean, deviation := stat.MeanStdDev(gaps, nil)
	if len(gaps) != jobs || math.Abs(mean*rate-1) > 5/math.Sqrt(jobs) || math.Abs(deviation*rate-1) > 5*math.Sqrt(2.0/jobs) {
		t.Errorf("%d gaps of mean %v s and deviation %v s: want both %v", len(gaps), mean, deviation, 1/rate)
	}
}

func exactly(b model.Bytes) profile.Quantity[model.Bytes] { return profile.Exactly(b) }

// The engine answers starts with the profile's work, and its memory follows the effects.
func TestEngineCarriesOutEffects(t *testing.T) {
	second := func(n float64) profile.Work {
		return profile.Work{Law: profile.Constant, Mean: profile.Exactly(model.SpanOf(n))}
	}
	e := NewEngine(Setup{
		Kinds: []profile.Kind{{Name: "a", Partitions: 1,
			Work: map[model.Stage]profile.Work{model.Synth: second(2), model.Kernel: second(1)},
			Footprint: profile.Footprint{
				Parse: exactly(1), Vectors: exactly(20), Assignment: exactly(300), Call: exactly(4000),
				During: map[model.Stage][]profile.Point{model.Synth: {{Progress: 1, Bytes: exactly(50_000)}}},
			}}},
		Baseline: 700_000,
		Fails:    func(job, partition int32, s model.Stage) bool { return s == model.Kernel },
	})
	synth, kernel := model.Task{Stage: model.Synth, Slot: 3, Gen: 2}, model.Task{Stage: model.Kernel, Lane: 1, Slot: 3, Gen: 2}
	freed := func(b model.Block, call bool) model.Effect {
		return model.Effect{Op: model.Freed, Call: call, Proofs: 1, Task: model.Task{Block: b}}
	}
	for _, step := range []struct {
		at      model.Instant
		over    []Finished
		effects []model.Effect
		level   model.Bytes // after
	}{
		{0, nil, []model.Effect{{Op: model.JobStart, Proofs: 1}, {Op: model.Start, Proofs: 1, Task: synth}}, 750_001},
		{2e9, []Finished{{model.Input{Op: model.Done, Task: synth}, 0}}, []model.Effect{{Op: model.Take, Proofs: 1}, {Op: model.Start, Proofs: 1, Task: kernel}}, 704_321},
		{3e9, []Finished{{model.Input{Op: model.Failed, Task: kernel}, 2e9}}, []model.Effect{freed(model.Vectors, false), freed(model.Assignment, true), freed(model.ParseBuffer, false)}, 700_000},
	} {
		if step.at > 0 && e.Next() != step.at {
			t.Fatalf("the next completion is at %s: want %s", e.Next(), step.at)
		}
		e.Memory.Advance(step.at)
		var over []Finished
		if step.at > 0 {
			over = e.Pop(step.at, nil)
		}
		if diff := cmp.Diff(step.over, over); diff != "" {
			t.Errorf("at %s: %s", step.at, diff)
		}
		e.Apply(step.at, step.effects)
		e.Settle(step.at)
		if got := e.Memory.Level(); got != step.level {
			t.Errorf("at %s %d bytes are resident: want %d", step.at, got, step.level)
		}
	}
	if e.Next() != Forever || slices.ContainsFunc(playStages, func(s model.Stage) bool { return e.Running(s) != 0 }) {
		t.Errorf("something runs until %s", e.Next())
	}
}

// While blocks are freed, two at once here, a part of them is held, for each of their proofs, and of the call's memory
// only where the partition was on a worker.
func TestEngineHoldsAPartOfWhatIsFreed(t *testing.T) {
	none, freeing := profile.Exactly(0.0), profile.Exactly(0.25)
	second := profile.Work{Law: profile.Constant, Mean: profile.Exactly(model.Second), Batch: &none}
	e := NewEngine(Setup{Kinds: []profile.Kind{{Name: "a", Partitions: 2,
		Work: map[model.Stage]profile.Work{model.Synth: second, model.Kernel: second, model.Dealloc: second},
		Footprint: profile.Footprint{
			Vectors: exactly(40), Assignment: exactly(400), Call: exactly(4000), Freeing: &freeing,
			During: map[model.Stage][]profile.Point{model.Dealloc: {{Bytes: exactly(100_000)}}},
		}}}})
	const batch = 3
	effect := func(op model.EffectOp, partition int32, task model.Task) model.Effect {
		return model.Effect{Op: op, Partition: partition, Proofs: batch, Task: task}
	}
	dealloc := func(partition, lane int32, b model.Block) model.Effect {
		return effect(model.Start, partition, model.Task{Stage: model.Dealloc, Block: b, Lane: lane})
	}
	freed := func(partition int32, b model.Block, call bool) model.Effect {
		f := effect(model.Freed, partition, model.Task{Block: b})
		f.Call = call
		return f
	}
	for second, step := range []struct {
		effects []model.Effect
		level   model.Bytes // for each proof, after
	}{
		{[]model.Effect{effect(model.Start, 0, model.Task{Stage: model.Synth}), effect(model.Start, 1, model.Task{Stage: model.Synth, Lane: 1})}, 0},
		{[]model.Effect{effect(model.Take, 0, model.Task{}), dealloc(0, 0, model.Vectors), dealloc(0, 1, model.Assignment)}, 200_000 + 10 + 1100 + 440},
		{[]model.Effect{freed(0, model.Vectors, false), freed(0, model.Assignment, true),
			dealloc(1, 0, model.Vectors), dealloc(1, 1, model.Assignment)}, 200_000 + 10 + 100},
		{[]model.Effect{freed(1, model.Vectors, false), freed(1, model.Assignment, false)}, 0},
	} {
		now := model.Instant(second) * model.Instant(model.Second)
		for e.Next() <= now {
			e.Memory.Advance(e.Next())
			e.Pop(e.Next(), nil)
		}
		e.Memory.Advance(now)
		e.Apply(now, step.effects)
		e.Settle(now)
		if got := e.Memory.Level(); got != batch*step.level {
			t.Errorf("after %d s %d bytes are resident: want %d", second, got, batch*step.level)
		}
	}
}
