package calibrate_test

import (
	"slices"

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
		return profile.Work{
			Law: profile.Lognormal, Mean: profile.Exactly(mean), CV: profile.Exactly(cv), JobCV: profile.Exactly(jobCV),
		}
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

// recordings returns three short recordings of the truth, as one would make them.
func recordings() []*trace.Trace {
	p := truth()
	return []*trace.Trace{
		recorded(p, config(1, model.AfterFinish, 1), 12, 1, 1e6),
		recorded(p, config(2, model.AfterSend, 2), 12, 2, 1e6),
		recorded(p, config(3, model.AfterSynthesis, 3), 12, 3, 1e6),
	}
}

// recorded returns the trace of a simulated run with samples of memory every 50 ms, which scatter by that many bytes.
func recorded(p *profile.Profile, c model.Config, jobs int, seed uint64, noise float64) *trace.Trace {
	return record(sim.Plan{Config: c, Profile: p, Seed: seed}, jobs, noise)
}

// record returns the trace of a simulated plan, likewise.
func record(plan sim.Plan, jobs int, noise float64) *trace.Trace {
	p := plan.Profile
	plan.Workload.Arrival = model.Arrival{Pattern: model.Closed}
	out := &trace.Trace{Header: trace.Header{
		Schema: trace.Schema, Tool: "test", Clock: trace.Virtual, Config: plan.Config, Seed: plan.Seed,
		Machine: trace.Machine{CPU: "test", Cores: 2, RAM: 8 * model.GiB},
	}}
	for i := range p.Kinds {
		out.Header.Kinds = append(out.Header.Kinds, p.Kinds[i].Model())
		plan.Workload.Shares = append(plan.Workload.Shares, model.Share{Kind: p.Kinds[i].Name, Jobs: jobs})
	}
	out.Header.Workload = plan.Workload
	result, err := sim.Run(plan, func(r *model.Record) {
		kept := *r
		kept.Effects = slices.Clone(r.Effects)
		out.Records = append(out.Records, kept)
	})
	if err != nil {
		panic(err) // the plans of these tests are valid
	}
	out.End = &trace.End{
		Outcome: trace.Finished, JobsDone: result.JobsDone, MakespanNs: result.Makespan, VmHWMBytes: result.Peak,
	}
	sample(out, plan, noise)
	return out
}

// sample goes through the records with an engine of its own and reads its memory before the first and in between.
func sample(t *trace.Trace, plan sim.Plan, noise float64) {
	const tick = 50 * model.Instant(model.Millisecond)
	setup := work.Setup{
		Interference: plan.Profile.Interference, Config: plan.Config, Baseline: plan.Profile.Baseline.Value,
		Seed: plan.Seed, Fails: plan.Disturb.Fails,
	}
	for _, k := range plan.Profile.Kinds {
		under, err := k.Under(&plan.Config)
		if err != nil {
			panic(err) // the plans of these tests are valid
		}
		setup.Kinds = append(setup.Kinds, under)
	}
	e := work.NewEngine(setup)
	t.Baseline = &trace.Baseline{Memory: trace.Memory{RSSBytes: e.Memory.Level()}}
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
