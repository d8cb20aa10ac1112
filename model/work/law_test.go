package work

import (
	"math"
	"math/rand/v2"
	"testing"

	"headroom/model"
	"headroom/model/profile"
)

func TestSlowdownsOfStagesThatRunAtOnce(t *testing.T) {
	type running = [model.NumStages]int32
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
		who  running
		want [model.NumStages]float64
	}{
		{running{model.Synth: 1}, [model.NumStages]float64{model.Synth: 1}},
		{running{model.Synth: 2, model.Dealloc: 3}, [model.NumStages]float64{model.Synth: 1, model.Dealloc: 1}},
		{running{model.Synth: 3}, [model.NumStages]float64{model.Synth: 1.5}},
		// The kernel slows the synthesis by half and four share two cores.
		{running{model.Synth: 3, model.Kernel: 1}, [model.NumStages]float64{model.Synth: 3, model.Kernel: 2}},
		// The finish gets the half core that it asks for; the others share the rest.
		{running{model.Synth: 2, model.Finish: 1}, [model.NumStages]float64{model.Synth: 4.0 / 3, model.Finish: 1}},
	} {
		got := NewSlowdowns(in).Of(&c.who)
		for s := range got {
			if math.Abs(got[s]-c.want[s]) > 1e-6 {
				t.Errorf("of %v %s is slowed %g times, not %g", c.who, model.Stage(s), got[s], c.want[s])
			}
		}
	}
}

// Slowdowns are by what factor clocks are longer about some work than it is, to the last bit.
func TestSlowdownsAreThoseOfTheClocks(t *testing.T) {
	const amount = model.Span(1) << 40 // so that instants are whole in units of the fixed point
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		in := drawInterference(rng)
		var running [model.NumStages]int32
		for _, s := range playStages {
			running[s] = rng.Int32N(6)
		}
		c := NewClocks(in)
		for _, s := range playStages {
			for lane := range running[s] {
				c.Start(0, s, lane, amount)
			}
		}
		c.Settle(0)
		var want [model.NumStages]float64
		for now := c.Next(); now != Forever; now = c.Next() {
			for _, over := range c.Pop(now, nil) { // without Settle: all go on as with everybody there
				want[over.Stage] = float64(now) / float64(amount)
			}
		}
		if got := NewSlowdowns(in).Of(&running); got != want {
			t.Fatalf("%v running: slowed %v times, the clocks %v times, under %+v", running, got, want, in)
		}
	}
}
