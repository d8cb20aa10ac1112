package sim_test

import (
	"testing"

	"headroom/model"
	"headroom/model/profile"
)

// TestInterferenceSlowsWhatRunsTogether has two partitions of 10 s in each of two stages, one at a time in each: the
// second is synthesized from 10 s on, while the first is in the kernel.
func TestInterferenceSlowsWhatRunsTogether(t *testing.T) {
	one := profile.Exactly(1.0)
	for _, c := range []struct {
		name string
		in   profile.Interference
		want model.Span
	}{
		{"none", profile.Interference{}, 30e9},
		// Half of the first kernel is done at 20 s, when nothing slows it any more.
		{"synthesis halves the speed of the kernel", profile.Interference{Slowdowns: []profile.Slowdown{{
			Stage: model.Kernel, By: model.Synth, Points: []profile.SlowdownPoint{{N: 1, Factor: profile.Exactly(2.0)}},
		}}}, 35e9},
		// Both run at half speed until both are over at 30 s.
		{"one core for both", profile.Interference{Resources: []profile.Resource{{
			Name: "cores", Capacity: one, Demand: map[model.Stage]profile.Quantity[float64]{model.Synth: one, model.Kernel: one},
		}}}, 40e9},
		// The kernel wants little and gets it; synthesis gets three quarters until 20 s, and all for the last 2.5 s.
		{"one core that one stage wants a quarter of", profile.Interference{Resources: []profile.Resource{{
			Name: "cores", Capacity: one, Demand: map[model.Stage]profile.Quantity[float64]{model.Synth: one, model.Kernel: profile.Exactly(0.25)},
		}}}, 32_500_000_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := openConfig()
			config.Admission = model.Admission{Permits: 1, Release: model.AfterSynthesis}
			k := kindOf(2, map[model.Stage]profile.Work{model.Synth: seconds(10), model.Kernel: seconds(10)})
			got, _ := run(t, planOf(config, k, c.in, 1))
			if got.Makespan != c.want {
				t.Errorf("the makespan is %s, want %s", got.Makespan, c.want)
			}
		})
	}
}
