package calibrate_test

import (
	"testing"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/stream"
	"headroom/model/trace"
	"headroom/model/work"
	"headroom/sim"
)

// truth is a profile to be found again: two cores, synthesis and kernel in each other's way, a synthesis with a
// transient near its end.
func truth() *profile.Profile {
	work := func(mean model.Span, cv, jobCV float64) profile.Work {
		return profile.Work{Law: profile.Lognormal, Mean: profile.Exactly(mean), CV: profile.Exactly(cv), JobCV: profile.Exactly(jobCV)}
	}
	point := func(progress float64, mib model.Bytes) profile.Point {
		return profile.Point{Progress: progress, Bytes: profile.Exactly(mib * model.MiB)}
	}
	return &profile.Profile{
		Name:     "truth",
		Baseline: profile.Exactly(100 * model.MiB),
		Interference: profile.Interference{
			Slowdowns: []profile.Slowdown{{Stage: model.Synth, By: model.Kernel, Points: []profile.SlowdownPoint{
				{N: 1, Factor: profile.Exactly(1.25)}, {N: 2, Factor: profile.Exactly(1.25)},
			}}},
			Resources: []profile.Resource{{Name: "cores", Capacity: profile.Exactly(1.8), Demand: onEach()}},
		},
		Kinds: []profile.Kind{{
			Name: "small", Partitions: 4,
			Work: map[model.Stage]profile.Work{
				model.Synth:   work(300*model.Millisecond, 0.08, 0.05),
				model.Prep:    work(30*model.Millisecond, 0.1, 0),
				model.Kernel:  work(150*model.Millisecond, 0.06, 0.04),
				model.Tail:    work(120*model.Millisecond, 0.06, 0),
				model.Finish:  work(80*model.Millisecond, 0.1, 0.05),
				model.Dealloc: work(8*model.Millisecond, 0.1, 0),
			},
			Footprint: profile.Footprint{
				Vectors:    profile.Exactly(70 * model.MiB),
				Assignment: profile.Exactly(12 * model.MiB),
				Call:       profile.Exactly(9 * model.MiB),
				During: map[model.Stage][]profile.Point{
					model.Synth: {point(0, 4), point(0.5, 64), point(0.875, 110), point(1, 84)},
				},
			},
		}},
	}
}

func onEach() map[model.Stage]profile.Quantity[float64] {
	demand := map[model.Stage]profile.Quantity[float64]{}
	for s := model.Parse; s < model.NumStages; s++ {
		demand[s] = profile.Exactly(1.0)
	}
	return demand
}

// config returns a configuration with that many permits.
func config(permits model.Count, release model.Release, jobs model.Count) model.Config {
	c := model.DefaultConfig(1)
	c.JobsInFlight = jobs
	c.Admission = model.Admission{Permits: permits, Release: release}
	c.GPU.WorkersPerDevice = 1
	c.Finalizers = 1
	return c
}

// recorded returns the trace of a simulated run with samples of memory every 50 ms, which scatter by that many bytes.
func recorded(t testing.TB, p *profile.Profile, c model.Config, jobs int, seed uint64, noise float64) *trace.Trace {
	t.Helper()
	out := &trace.Trace{Header: trace.Header{
		Schema: trace.Schema, Tool: "test", Clock: trace.Virtual, Config: c, Seed: seed,
		Machine:  trace.Machine{CPU: "test", Cores: 2, RAM: 8 * model.GiB},
		Workload: model.Workload{Arrival: model.Arrival{Pattern: model.Closed}},
	}}
	for i := range p.Kinds {
		out.Header.Kinds = append(out.Header.Kinds, p.Kinds[i].Model())
		out.Header.Workload.Shares = append(out.Header.Workload.Shares, model.Share{Kind: p.Kinds[i].Name, Jobs: jobs})
	}
	plan := sim.Plan{Config: c, Workload: out.Header.Workload, Profile: p, Seed: seed}
	result, err := sim.Run(plan, func(r *model.Record) {
		kept := *r
		kept.Effects = append([]model.Effect(nil), r.Effects...)
		out.Records = append(out.Records, kept)
	})
	if err != nil {
		t.Fatal(err)
	}
	out.End = &trace.End{Outcome: trace.Finished, JobsDone: result.JobsDone, MakespanNs: result.Makespan, VmHWMBytes: result.Peak}
	out.Baseline = &trace.Baseline{Memory: trace.Memory{RSSBytes: p.Baseline.Value}}
	sample(out, plan, noise)
	return out
}

// sample goes through the records with an engine of its own and reads its memory in between.
func sample(t *trace.Trace, plan sim.Plan, noise float64) {
	const tick = 50 * model.Instant(model.Millisecond)
	e := work.NewEngine(work.Setup{Kinds: plan.Profile.Kinds, Interference: plan.Profile.Interference, Base: plan.Profile.Baseline.Value, Seed: plan.Seed})
	key := stream.NewKey(plan.Seed, 0, 1<<20)
	next := tick / 2
	var round []work.Finished
	for i := 0; i < len(t.Records); {
		now := t.Records[i].At
		for ; next < now; next += tick {
			e.Advance(next)
			level := float64(e.Memory.Level()) + noise*stream.Normal(key.Uniform(uint32(next/tick), 0))
			t.Samples = append(t.Samples, trace.Sample{At: next, Memory: trace.Memory{RSSBytes: model.Bytes(level)}})
		}
		e.Advance(now)
		if e.Next() == now {
			round = e.Pop(now, round[:0])
		}
		for ; i < len(t.Records) && t.Records[i].At == now; i++ {
			e.Apply(now, t.Records[i].Effects)
		}
		e.Settle(now)
	}
}
