// Package livesim holds the test that the live driver and the simulator are the same pipeline. It is here because
// sim and backend do not know each other.
package livesim

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"headroom/backend"
	"headroom/backend/device/virtual"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/work"
	"headroom/sim"
)

// outcome is what both drivers must agree on.
type outcome struct {
	Records []model.Record
	Peak    model.Bytes
	PeakAt  model.Instant
}

func simulated(t *testing.T, p sim.Plan) outcome {
	var out outcome
	r, err := sim.Run(p, func(r *model.Record) {
		kept := *r
		kept.Effects = slices.Clone(r.Effects)
		out.Records = append(out.Records, kept)
	})
	if err != nil {
		t.Fatal(err)
	}
	out.Peak, out.PeakAt = r.Peak, r.PeakAt
	return out
}

func live(t *testing.T, p sim.Plan) outcome {
	var out outcome
	var failure error
	synctest.Test(t, func(t *testing.T) {
		device := virtual.New(work.Setup{
			Kinds: p.Profile.Kinds, Interference: p.Profile.Interference, Baseline: p.Profile.Baseline.Value,
			Seed: p.Seed, Fails: p.Disturb.Fails,
		})
		pipeline := backend.Pipeline{
			Config: p.Config, Workload: p.Workload, Seed: p.Seed, Cancels: p.Disturb.Cancels, Device: device, Clock: backend.StartClock(),
			Record: func(r *model.Record) { out.Records = append(out.Records, *r) },
			Settle: synctest.Wait,
		}
		for i := range p.Profile.Kinds {
			pipeline.Kinds = append(pipeline.Kinds, p.Profile.Kinds[i].Model())
		}
		_, failure = pipeline.Run(context.Background())
		if err := device.Close(); failure == nil {
			failure = err
		}
		out.Peak, out.PeakAt = device.Peak()
	})
	if failure != nil {
		t.Fatal(failure)
	}
	return out
}

// TestLiveEqualsSimulated draws configurations, profiles and disturbances, ties and zero lengths included, and
// compares the event streams, the peaks and their instants.
func TestLiveEqualsSimulated(t *testing.T) {
	gen := rapid.Custom(drawPlan)
	for seed := range 400 {
		p := gen.Example(seed)
		want, got := simulated(t, p), live(t, p)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("example %d: %+v\nlive differs from simulated (-simulated +live):\n%s", seed, p.Config, cut(diff))
		}
		if len(want.Records) == 0 {
			t.Fatalf("example %d did nothing", seed)
		}
	}
}

func cut(s string) string { return s[:min(len(s), 4000)] }

func drawPlan(t *rapid.T) sim.Plan {
	var p sim.Plan
	p.Seed = rapid.Uint64().Draw(t, "seed")
	p.Config = drawConfig(t)
	p.Profile = &profile.Profile{Name: "drawn", Baseline: profile.Exactly(model.MiB)}
	kinds := rapid.IntRange(1, 2).Draw(t, "kinds")
	for k := range kinds {
		p.Profile.Kinds = append(p.Profile.Kinds, drawKind(t, fmt.Sprintf("kind%d", k)))
		p.Workload.Shares = append(p.Workload.Shares, model.Share{Kind: p.Profile.Kinds[k].Name, Jobs: rapid.IntRange(1, 5).Draw(t, "jobs")})
	}
	p.Workload.Arrival = model.Arrival{Pattern: model.Closed}
	if rapid.Bool().Draw(t, "poisson") {
		p.Workload.Arrival = model.Arrival{Pattern: model.Poisson, Rate: 0.5}
	}
	p.Profile.Interference = drawInterference(t)
	drawDisturbance(t, &p)
	return p
}

func drawConfig(t *rapid.T) model.Config {
	count := func(name string, options ...model.Count) model.Count { return rapid.SampledFrom(options).Draw(t, name) }
	c := model.DefaultConfig(rapid.IntRange(1, 2).Draw(t, "devices"))
	c.JobsInFlight = count("jobs in flight", 1, 2, 3, model.Unbounded)
	c.Admission.Permits = count("permits", 1, 2, 3, 5, model.Unbounded)
	c.Admission.Release = rapid.SampledFrom([]model.Release{model.AfterSynthesis, model.AfterSend, model.AfterKernel, model.AfterFinish}).Draw(t, "release")
	c.Channel.Capacity = count("capacity", 0, 1, 3, model.Auto, model.Unbounded)
	c.GPU.WorkersPerDevice = count("workers", 1, 2, 3)
	c.GPU.Lock = rapid.SampledFrom([]model.LockScope{model.LockCall, model.LockKernel}).Draw(t, "lock")
	c.GPU.Prep = rapid.SampledFrom([]model.PrepPlace{model.PrepBeforeLock, model.PrepBesideLock}).Draw(t, "prep")
	if c.GPU.Lock == model.LockCall {
		c.GPU.Prep = ""
	}
	c.GPU.Split = rapid.Bool().Draw(t, "split")
	if c.GPU.Split {
		c.Finalizers = count("finalizers", 1, 2, model.Unbounded)
	}
	c.FreeVectors = rapid.SampledFrom([]model.Release{model.AfterKernel, model.AfterFinish}).Draw(t, "free")
	c.Dealloc.Workers = count("dealloc", 1, 2, model.Unbounded)
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
		k.Work[s] = w
	}
	k.Footprint = profile.Footprint{
		Parse: profile.Exactly(model.Bytes(100)), Vectors: profile.Exactly(3 * model.MiB),
		Assignment: profile.Exactly(model.MiB), Call: profile.Exactly(2 * model.MiB),
		During: map[model.Stage][]profile.Point{
			model.Synth:  {{Progress: 0.2, Bytes: profile.Exactly(model.MiB)}, {Progress: 0.9, Bytes: profile.Exactly(6 * model.MiB)}, {Progress: 1, Bytes: profile.Exactly(4 * model.MiB)}},
			model.Kernel: {{Progress: 0.5, Bytes: profile.Exactly(model.MiB)}, {Progress: 0.5, Bytes: profile.Exactly(model.KiB)}},
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
	if rapid.IntRange(0, 3).Draw(t, "cancels") == 0 {
		for i := range rapid.IntRange(1, 2).Draw(t, "number of cancels") {
			at := model.Instant(model.SpanOf(float64(rapid.IntRange(0, 20).Draw(t, "cancel at")+20*i) / 10))
			p.Disturb.Cancels = append(p.Disturb.Cancels, model.Cancellation{At: at, Job: int32(rapid.IntRange(0, jobs-1).Draw(t, "cancelled"))})
		}
	}
}
