package sim_test

import (
	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/modeltest"
	"headroom/model/profile"
	"headroom/sim"
)

// shape says which of the things that a relation may not hold for a drawn plan can have.
type shape struct {
	steps        bool // footprints only step: none changes while its stage runs
	constant     bool // no stage's work varies
	interference bool
	freeing      bool // only a part of a block is held while it is freed
}

// drawPlan draws a plan of one or two kinds with any knobs set.
func drawPlan(t *rapid.T, s shape) sim.Plan {
	p := sim.Plan{Config: drawConfig(t), Seed: rapid.Uint64Range(1, 1<<40).Draw(t, "seed")}
	pr := &profile.Profile{Name: "drawn", Baseline: drawBytes(t, "baseline")}
	for _, name := range []string{"large", "small"}[:rapid.IntRange(1, 2).Draw(t, "kinds")] {
		pr.Kinds = append(pr.Kinds, drawKind(t, name, s))
		share := model.Share{Kind: name, Jobs: rapid.IntRange(1, 4).Draw(t, name+" jobs")}
		p.Workload.Shares = append(p.Workload.Shares, share)
	}
	if rapid.Bool().Draw(t, "resident") {
		pr.Resident = []model.Resident{{Name: "key", Bytes: 1 + drawBytes(t, "resident").Value}}
	}
	if s.interference {
		pr.Interference = drawInterference(t)
	}
	p.Profile = pr
	p.Workload.Arrival = model.Arrival{Pattern: model.Closed}
	if rapid.Bool().Draw(t, "open") {
		p.Workload.Arrival = model.Arrival{Pattern: model.Poisson, Rate: rapid.Float64Range(0.05, 2).Draw(t, "rate")}
	}
	return p
}

func drawConfig(t *rapid.T) model.Config { return modeltest.Pipeline(modeltest.By(t)) }

var releases = []model.Release{model.AfterSynthesis, model.AfterSend, model.AfterKernel, model.AfterFinish}

func drawKind(t *rapid.T, name string, s shape) profile.Kind {
	k := profile.Kind{Name: name, Partitions: rapid.IntRange(1, 5).Draw(t, name+" partitions"), Work: map[model.Stage]profile.Work{}}
	for stage := model.Parse; stage < model.NumStages; stage++ {
		always := stage == model.Synth || stage == model.Kernel
		if !always && !rapid.Bool().Draw(t, name+" has "+stage.String()) {
			continue
		}
		w := profile.Work{Law: profile.Lognormal, CV: profile.Exactly(0.5), JobCV: profile.Exactly(0.1)}
		if s.constant {
			w = profile.Work{Law: profile.Constant}
		}
		w.Mean = profile.Exactly(model.Span(rapid.Int64Range(1e6, 3e9).Draw(t, name+" "+stage.String())))
		k.Work[stage] = w
	}
	k.Footprint = drawFootprint(t, name, &k, s)
	return k
}

func drawFootprint(t *rapid.T, name string, k *profile.Kind, s shape) profile.Footprint {
	f := profile.Footprint{
		Parse: drawBytes(t, name+" parse"), Vectors: drawBytes(t, name+" vectors"),
		Assignment: drawBytes(t, name+" assignment"), Call: drawBytes(t, name+" call"),
		During: map[model.Stage][]profile.Point{},
	}
	for stage := model.Parse; stage < model.NumStages; stage++ {
		if _, there := k.Work[stage]; !there || !rapid.Bool().Draw(t, name+" during "+stage.String()) {
			continue
		}
		points := []profile.Point{{Bytes: drawBytes(t, "bytes")}}
		if !s.steps {
			for _, at := range []float64{0.25, 0.5, 0.5, 1} {
				points = append(points, profile.Point{Progress: at, Bytes: drawBytes(t, "bytes")})
			}
		}
		f.During[stage] = points
	}
	if s.freeing {
		f.Freeing = new(profile.Quantity[float64])
		f.Freeing.Value = rapid.Float64Range(0, 1).Draw(t, name+" freeing")
	}
	return f
}

// drawBytes draws a size. The sizes are of one order, so that no owner drowns the others.
func drawBytes(t *rapid.T, label string) profile.Quantity[model.Bytes] {
	return profile.Exactly(model.Bytes(rapid.Int64Range(0, int64(model.GiB)).Draw(t, label)))
}

// drawInterference draws slowdowns of synthesis and the kernel and cores that all stages share.
func drawInterference(t *rapid.T) profile.Interference {
	slow := func(s, by model.Stage, n int) profile.Slowdown {
		factor := rapid.Float64Range(1.1, 3).Draw(t, s.String()+" by "+by.String())
		return profile.Slowdown{Stage: s, By: by, Points: []profile.SlowdownPoint{{N: n, Factor: profile.Exactly(factor)}}}
	}
	return profile.Interference{
		Slowdowns: []profile.Slowdown{slow(model.Synth, model.Synth, 4), slow(model.Kernel, model.Synth, 3)},
		Resources: []profile.Resource{{
			Name: "cores", Capacity: profile.Exactly(rapid.Float64Range(1, 4).Draw(t, "cores")),
			Demand: map[model.Stage]profile.Quantity[float64]{
				model.Synth: profile.Exactly(1.0), model.Prep: profile.Exactly(0.5), model.Finish: profile.Exactly(2.0),
			},
		}},
	}
}

// drawDisturbance draws stages that fail and jobs that are given up in the first seconds.
func drawDisturbance(t *rapid.T, p sim.Plan) sim.Disturbance {
	var d sim.Disturbance
	if one := rapid.Int32Range(0, 20).Draw(t, "one stage in n fails"); one > 2 {
		d.Fails = func(job, partition int32, s model.Stage) bool { return (7*job+3*partition+int32(s))%one == 0 }
	}
	at := model.Instant(0)
	for range rapid.IntRange(0, 3).Draw(t, "cancellations") {
		at += model.Instant(rapid.Int64Range(0, 3e9).Draw(t, "after"))
		job := rapid.Int32Range(0, int32(p.Workload.Jobs())-1).Draw(t, "cancelled")
		d.Cancels = append(d.Cancels, model.Cancellation{At: at, Job: job})
	}
	return d
}
