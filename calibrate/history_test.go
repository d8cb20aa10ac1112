package calibrate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
)

func TestTheTimelineCountsWhoRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var busy []interval
		for range rapid.IntRange(0, 12).Draw(t, "intervals") {
			begin := rapid.Int64Range(0, 20).Draw(t, "begin")
			busy = append(busy, interval{
				stage: model.Stage(rapid.IntRange(1, int(model.NumStages)-1).Draw(t, "stage")),
				begin: model.Instant(begin), end: model.Instant(begin + rapid.Int64Range(0, 10).Draw(t, "length")),
			})
		}
		line := newTimeline(busy)
		for at := model.Instant(-1); at < 32; at++ {
			var want, got occupancy
			for _, b := range busy {
				if b.begin <= at && at < b.end {
					want[b.stage]++
				}
			}
			if i := line.segment(at); i >= 0 {
				got = line.who[i]
			}
			if got != want {
				t.Fatalf("at %d: %v run, the timeline says %v", at, want, got)
			}
		}
	})
}

func TestSlowdownsAreThoseOfTheLaws(t *testing.T) {
	in := profile.Interference{
		Slowdowns: []profile.Slowdown{{
			Stage: model.Synth, By: model.Kernel, Points: []profile.SlowdownPoint{{N: 1, Factor: profile.Exactly(1.5)}},
		}},
		Resources: []profile.Resource{{
			Name: "cores", Capacity: profile.Exactly(2.0),
			Demand: map[model.Stage]profile.Quantity[float64]{
				model.Synth: profile.Exactly(1.0), model.Kernel: profile.Exactly(1.0), model.Finish: profile.Exactly(0.5),
			},
		}},
	}
	for _, c := range []struct {
		who  occupancy
		want [model.NumStages]float64
	}{
		{occupancy{model.Synth: 1}, [model.NumStages]float64{model.Synth: 1}},
		{occupancy{model.Synth: 2, model.Dealloc: 3}, [model.NumStages]float64{model.Synth: 1, model.Dealloc: 1}},
		{occupancy{model.Synth: 3}, [model.NumStages]float64{model.Synth: 1.5}},
		// The kernel slows the synthesis by half and four share two cores.
		{occupancy{model.Synth: 3, model.Kernel: 1}, [model.NumStages]float64{model.Synth: 3, model.Kernel: 2}},
		// The finish gets the half core that it asks for; the others share the rest.
		{occupancy{model.Synth: 2, model.Finish: 1}, [model.NumStages]float64{model.Synth: 4.0 / 3, model.Finish: 1}},
	} {
		got := slowdowns(in, c.who)
		for s := range got {
			if math.Abs(got[s]-c.want[s]) > 1e-6 {
				t.Errorf("of %v %s is slowed %g times, not %g", c.who, model.Stage(s), got[s], c.want[s])
			}
		}
	}
}
