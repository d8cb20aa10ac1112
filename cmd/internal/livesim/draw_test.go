package livesim

import (
	"fmt"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/modeltest"
	"headroom/model/profile"
	"headroom/sim"
)

func drawPlan(t *rapid.T) sim.Plan {
	var p sim.Plan
	p.Seed = rapid.Uint64().Draw(t, "seed")
	p.Config = drawConfig(t)
	p.Profile = &profile.Profile{Name: "drawn", Baseline: profile.Exactly(model.MiB)}
	p.Profile.DeviceBaseline = profile.Exactly(2 * model.KiB)
	kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
	for k := range kinds {
		p.Profile.Kinds = append(p.Profile.Kinds, drawKind(t, fmt.Sprintf("kind%d", k)))
		p.Workload.Shares = append(p.Workload.Shares, model.Share{Kind: p.Profile.Kinds[k].Name, Jobs: rapid.IntRange(1, 5).Draw(t, "jobs")})
	}
	p.Workload.Arrival = drawArrival(t, p.Workload.Jobs())
	p.Profile.Interference = drawInterference(t)
	drawDisturbance(t, &p)
	return p
}

// drawArrival draws one of the patterns. The instants of a list may be equal.
func drawArrival(t *rapid.T, jobs int) model.Arrival {
	a := model.Arrival{Pattern: rapid.SampledFrom([]model.ArrivalPattern{model.Closed, model.Poisson, model.Listed, model.Backlog}).Draw(t, "arrival")}
	switch a.Pattern {
	case model.Poisson:
		a.Rate = 0.5
	case model.Backlog:
		a.Rate, a.Backlog = 0.5, rapid.IntRange(1, jobs).Draw(t, "backlog")
	case model.Listed:
		at := model.Instant(0)
		for range jobs {
			a.Instants = append(a.Instants, at)
			at += model.Instant(model.SpanOf(float64(rapid.IntRange(0, 8).Draw(t, "gap")) / 10))
		}
	}
	return a
}

// drawConfig draws every knob. Loads take no time, some or a second, and some of the data is pinned.
func drawConfig(t *rapid.T) model.Config {
	c := modeltest.Config(modeltest.By(t))
	c.GPU.BG2 = rapid.SampledFrom([]model.Side{model.OnHost, model.OnDevice}).Draw(t, "b_g2")
	if c.Batch != nil {
		c.Batch.Wait = model.SpanOf(float64(rapid.IntRange(1, 10).Draw(t, "batch wait")) / 10)
	}
	for i := range c.Resident {
		r := &c.Resident[i]
		r.LoadTime = rapid.SampledFrom([]model.Span{0, model.SpanOf(0.3), model.Second}).Draw(t, "load time")
		r.Pinned = rapid.Bool().Draw(t, "pinned")
	}
	return c
}

// drawKind draws work in whole tenths of seconds, so that many events fall together, or with a spread.
func drawKind(t *rapid.T, name string) profile.Kind {
	k := profile.Kind{Name: name, Partitions: rapid.IntRange(1, 4).Draw(t, "partitions"), Work: map[model.Stage]profile.Work{}}
	for s := model.Parse; s < model.NumStages; s++ {
		if s != model.Synth && s != model.Kernel && rapid.Bool().Draw(t, "without "+s.String()) {
			continue
		}
		w := profile.Work{Law: profile.Constant, Mean: profile.Exactly(model.SpanOf(float64(rapid.IntRange(0, 5).Draw(t, s.String())) / 10))}
		if rapid.Bool().Draw(t, "spread") {
			w.Law, w.CV, w.JobCV = profile.Lognormal, profile.Exactly(0.2), profile.Exactly(0.1)
		}
		if rapid.Bool().Draw(t, "batched") {
			each := profile.Exactly(0.5)
			w.Batch = &each
		}
		k.Work[s] = w
	}
	k.Priority = rapid.IntRange(0, 2).Draw(t, "priority")
	k.BG2 = &profile.BG2{Recorded: model.OnHost, Host: profile.Exactly(model.SpanOf(0.2)), Device: profile.Exactly(model.SpanOf(0.1))}
	k.Footprint = profile.Footprint{
		Parse: profile.Exactly(model.Bytes(100)), Vectors: profile.Exactly(3 * model.MiB),
		Assignment: profile.Exactly(model.MiB), Call: profile.Exactly(2 * model.MiB),
		During: map[model.Stage][]profile.Point{
			model.Synth:  {{Progress: 0.2, Bytes: profile.Exactly(model.MiB)}, {Progress: 0.9, Bytes: profile.Exactly(6 * model.MiB)}, {Progress: 1, Bytes: profile.Exactly(4 * model.MiB)}},
			model.Kernel: {{Progress: 0.5, Bytes: profile.Exactly(model.MiB)}, {Progress: 0.5, Bytes: profile.Exactly(model.KiB)}},
		},
		Pinned: profile.Exactly(2 * model.MiB), Shm: profile.Exactly(model.MiB),
		VRAM: map[model.Stage]profile.Quantity[model.Bytes]{
			model.Prep: profile.Exactly(model.KiB), model.Kernel: profile.Exactly(5 * model.MiB), model.Tail: profile.Exactly(3 * model.MiB),
		},
	}
	return k
}

func drawInterference(t *rapid.T) profile.Interference {
	var in profile.Interference
	if rapid.Bool().Draw(t, "slowdown") {
		in.Slowdowns = []profile.Slowdown{
			{Stage: model.Synth, By: model.Synth, Points: []profile.SlowdownPoint{{N: 2, Factor: profile.Exactly(1.3)}, {N: 4, Factor: profile.Exactly(2.0)}}},
			{Stage: model.Kernel, By: model.Synth, Points: []profile.SlowdownPoint{{N: 1, Factor: profile.Exactly(1.1)}, {N: 3, Factor: profile.Exactly(1.7)}}},
		}
	}
	if rapid.Bool().Draw(t, "cores") {
		in.Resources = []profile.Resource{{Name: "cores", Capacity: profile.Exactly(2.0), Demand: map[model.Stage]profile.Quantity[float64]{
			model.Synth: profile.Exactly(1.0), model.Kernel: profile.Exactly(1.5), model.Finish: profile.Exactly(0.5),
		}}}
	}
	return in
}

func drawDisturbance(t *rapid.T, p *sim.Plan) {
	jobs := p.Workload.Jobs()
	if rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
		victim := int32(rapid.IntRange(0, jobs-1).Draw(t, "victim"))
		stage := rapid.SampledFrom([]model.Stage{model.Parse, model.Synth, model.Prep, model.Kernel, model.Tail, model.Finish}).Draw(t, "failing stage")
		p.Disturb.Fails = func(job, partition int32, s model.Stage) bool { return job == victim && s == stage }
	}
	if data := len(p.Config.Resident); data > 0 && rapid.IntRange(0, 3).Draw(t, "load fails") == 0 {
		victim, others := int32(rapid.IntRange(0, data-1).Draw(t, "unloadable")), p.Disturb.Fails
		p.Disturb.Fails = func(job, partition int32, s model.Stage) bool {
			return s == model.Load && partition == victim || others != nil && others(job, partition, s)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "cancels") == 0 {
		for i := range rapid.IntRange(1, 2).Draw(t, "number of cancels") {
			at := model.Instant(model.SpanOf(float64(rapid.IntRange(0, 20).Draw(t, "cancel at")+20*i) / 10))
			p.Disturb.Cancels = append(p.Disturb.Cancels, model.Cancellation{At: at, Job: int32(rapid.IntRange(0, jobs-1).Draw(t, "cancelled"))})
		}
	}
}
