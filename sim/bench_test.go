package sim_test

import (
	"fmt"
	"testing"

	"headroom/model"
	"headroom/model/profile"
	"headroom/scenarios"
	"headroom/sim"
)

// plainPlan is the three-event model that other engines were measured on: exponential synthesis on ten permits
// kept through the send, two GPU workers behind one lock, one finalizer, no interference and no ramps.
func plainPlan(jobs int) sim.Plan {
	config := model.DefaultConfig(1)
	config.JobsInFlight = model.Unbounded
	config.Admission = model.Admission{Permits: 10, Release: model.AfterSend}
	config.Channel.Capacity = 10
	config.Finalizers = 1
	config.GPU.Prep = model.PrepBeforeLock
	kind := profile.Kind{
		Name: "porep", Partitions: 10,
		Work: map[model.Stage]profile.Work{
			model.Synth:  {Law: profile.Exponential, Mean: profile.Exactly(model.SpanOf(36.5))},
			model.Kernel: {Law: profile.Constant, Mean: profile.Exactly(model.SpanOf(3.6))},
			model.Finish: {Law: profile.Constant, Mean: profile.Exactly(model.SpanOf(1.7))},
		},
		Footprint: profile.Footprint{
			Vectors:    profile.Exactly(model.GiB * 7 / 2),
			Assignment: profile.Exactly(model.GiB / 2),
			During:     map[model.Stage][]profile.Point{model.Synth: {{Progress: 0, Bytes: profile.Exactly(6 * model.GiB)}}},
		},
	}
	return planOf(config, kind, profile.Interference{}, jobs)
}

// fullPlan adds what a calibrated profile has: slow-down of synthesis, a ramp with a transient, prep beside the
// lock, a tail, a dealloc stage and lognormal draws throughout.
func fullPlan(jobs int) sim.Plan {
	p := plainPlan(jobs)
	p.Config.GPU.Prep = model.PrepBesideLock
	p.Config.Finalizers = model.Unbounded
	k := &p.Profile.Kinds[0]
	spread := func(seconds float64) profile.Work {
		return profile.Work{Law: profile.Lognormal, Mean: profile.Exactly(model.SpanOf(seconds)), CV: profile.Exactly(0.05)}
	}
	k.Work = map[model.Stage]profile.Work{
		model.Synth: spread(28.9), model.Kernel: spread(3), model.Finish: spread(1.7),
	}
	k.Footprint.During = map[model.Stage][]profile.Point{model.Synth: {
		{Progress: 0, Bytes: profile.Exactly(model.Bytes(0))},
		{Progress: 0.85, Bytes: profile.Exactly(4 * model.GiB)},
		{Progress: 0.95, Bytes: profile.Exactly(6 * model.GiB)},
		{Progress: 1, Bytes: profile.Exactly(4 * model.GiB)},
	}}
	p.Profile.Interference.Slowdowns = []profile.Slowdown{{Stage: model.Synth, By: model.Synth, Points: []profile.SlowdownPoint{
		{N: 5, Factor: profile.Exactly(1.17)}, {N: 10, Factor: profile.Exactly(1.26)},
	}}}
	return p
}

// publishedPlan is what operators run: the profile of a published prover, in which most stages slow each other.
func publishedPlan(jobs int) sim.Plan {
	s, err := scenarios.Load("phase12-post-12", nil)
	if err != nil {
		panic(err)
	}
	s.Workload.Shares[0].Jobs = jobs
	return sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: s.Profile, Seed: s.Seed}
}

func BenchmarkRun(b *testing.B) {
	for _, m := range []struct {
		name string
		plan func(int) sim.Plan
	}{{"plain", plainPlan}, {"full", fullPlan}, {"published", publishedPlan}} {
		for _, jobs := range []int{2000, 20_000, 200_000} {
			b.Run(fmt.Sprintf("%s/jobs=%d", m.name, jobs), func(b *testing.B) {
				plan := m.plan(jobs)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := sim.Run(plan, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(10*jobs), "ns/partition")
			})
		}
	}
}
