package sim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// TestOwnersAtThePeakAreThoseComputedByHand has a case for each owner. Blocks are 1000 (vectors), 100 (assignment),
// 10 (call) and 1 (parse buffer), so that the digits of a sum tell who holds it.
func TestOwnersAtThePeakAreThoseComputedByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*sim.Plan, *profile.Kind)
		at     float64 // seconds
		want   []sim.Holding
	}{{
		// All three are in synthesis from the start, which takes more than what comes after.
		name: "synth",
		change: func(p *sim.Plan, k *profile.Kind) {
			k.Footprint.During = map[model.Stage][]profile.Point{model.Synth: flat(5000)}
		},
		want: []sim.Holding{{Owner: "synth", Count: 3, Bytes: 15_000}, {Owner: "parse", Count: 1, Bytes: 1}},
	}, {
		// One permit: synthesis ends at 1, 2 and 3 s. The kernel takes the first; nobody takes the others.
		name: "send",
		change: func(p *sim.Plan, k *profile.Kind) {
			p.Config.Admission = model.Admission{Permits: 1, Release: model.AfterSynthesis}
			p.Config.Channel.Capacity = 0
		},
		at: 3,
		want: []sim.Holding{
			{Owner: "send", Count: 2, Bytes: 2200}, {Owner: "gpu", Count: 1, Bytes: 1110}, {Owner: "parse", Count: 1, Bytes: 1},
		},
	}, {
		name:   "channel",
		change: func(p *sim.Plan, k *profile.Kind) { p.Config.Channel.Capacity = 1 },
		at:     1,
		want: []sim.Holding{
			{Owner: "gpu", Count: 1, Bytes: 1110}, {Owner: "send", Count: 1, Bytes: 1100}, {Owner: "channel", Count: 1, Bytes: 1100},
			{Owner: "parse", Count: 1, Bytes: 1},
		},
	}, {
		// Both workers prepare, one of them has the lock.
		name: "gpu, with what its stages hold as they run",
		change: func(p *sim.Plan, k *profile.Kind) {
			p.Config.GPU.WorkersPerDevice = 2
			k.Work[model.Prep] = seconds(1)
			k.Footprint.During = map[model.Stage][]profile.Point{model.Prep: flat(20_000), model.Kernel: flat(300_000)}
		},
		at: 1,
		want: []sim.Holding{
			{Owner: "gpu", Count: 2, Bytes: 342_220}, {Owner: "channel", Count: 1, Bytes: 1100}, {Owner: "parse", Count: 1, Bytes: 1},
		},
	}, {
		// The third kernel ends at 31 s, the first finish at 111 s. Vectors go at the end of a kernel.
		name: "finish, waiting for a finalizer included",
		change: func(p *sim.Plan, k *profile.Kind) {
			k.Work[model.Finish] = seconds(100)
			p.Config.Finalizers = 1
			k.Footprint.During = map[model.Stage][]profile.Point{model.Finish: flat(5000)}
		},
		at: 11,
		want: []sim.Holding{
			{Owner: "finish", Count: 1, Bytes: 5110}, {Owner: "gpu", Count: 1, Bytes: 1110}, {Owner: "channel", Count: 1, Bytes: 1100},
			{Owner: "parse", Count: 1, Bytes: 1},
		},
	}, {
		name: "finish with vectors that are freed after it",
		change: func(p *sim.Plan, k *profile.Kind) {
			k.Work[model.Finish] = seconds(100)
			p.Config.FreeVectors = model.AfterFinish
			k.Footprint.During = map[model.Stage][]profile.Point{model.Finish: flat(5000)}
		},
		at:   31,
		want: []sim.Holding{{Owner: "finish", Count: 3, Bytes: 18_330}, {Owner: "parse", Count: 1, Bytes: 1}},
	}, {
		// At 21 s two are through; of their blocks none is freed yet. A third in the kernel adds its call.
		name:   "dealloc",
		change: func(p *sim.Plan, k *profile.Kind) { k.Work[model.Dealloc] = seconds(1000) },
		at:     21,
		want: []sim.Holding{
			{Owner: "dealloc", Count: 4, Bytes: 2220}, {Owner: "gpu", Count: 1, Bytes: 1110}, {Owner: "parse", Count: 1, Bytes: 1},
		},
	}, {
		// One at a time: at 23 s the third is in the kernel. The vectors of the first are being freed, and a quarter of them
		// is held; the other three blocks wait.
		name: "dealloc, of which a part is gone",
		change: func(p *sim.Plan, k *profile.Kind) {
			p.Config.Admission = model.Admission{Permits: 1, Release: model.AfterFinish}
			k.Work[model.Dealloc] = seconds(1000)
			freeing := profile.Exactly(0.25)
			k.Footprint.Freeing = &freeing
		},
		at: 23,
		want: []sim.Holding{
			{Owner: "dealloc", Count: 4, Bytes: 1470}, {Owner: "gpu", Count: 1, Bytes: 1110}, {Owner: "parse", Count: 1, Bytes: 1},
		},
	}, {
		name: "parse, with what parsing holds",
		change: func(p *sim.Plan, k *profile.Kind) {
			k.Work[model.Parse] = seconds(1)
			k.Footprint.During = map[model.Stage][]profile.Point{model.Parse: flat(9000)}
			p.Workload.Shares[0].Jobs = 2
		},
		want: []sim.Holding{{Owner: "parse", Count: 2, Bytes: 18_002}},
	}, {
		name: "resident and baseline",
		change: func(p *sim.Plan, k *profile.Kind) {
			k.Footprint = profile.Footprint{}
			p.Profile.Baseline = profile.Exactly(model.Bytes(40))
			p.Profile.Resident = []model.Resident{{Name: "key", Bytes: 50}, {Name: "circuit", Bytes: 5}}
		},
		want: []sim.Holding{{Owner: "resident", Count: 2, Bytes: 55}, {Owner: "baseline", Bytes: 40}},
	}, {
		name: "parse of a mix",
		change: func(p *sim.Plan, k *profile.Kind) {
			k.Footprint.During = map[model.Stage][]profile.Point{model.Synth: flat(5000)}
			other := *k
			other.Name, other.Partitions, other.Footprint.Parse.Value = "other", 1, 200
			p.Profile.Kinds = append(p.Profile.Kinds, other)
			p.Workload.Shares = append(p.Workload.Shares, model.Share{Kind: "other", Jobs: 2})
		},
		want: []sim.Holding{{Owner: "synth", Count: 5, Bytes: 25_000}, {Owner: "parse", Count: 3, Bytes: 401}},
	}} {
		t.Run(c.name, func(t *testing.T) {
			k := kindOf(3, map[model.Stage]profile.Work{model.Synth: seconds(1), model.Kernel: seconds(10)})
			k.Footprint = profile.Footprint{
				Vectors: profile.Exactly(model.Bytes(1000)), Assignment: profile.Exactly(model.Bytes(100)),
				Call: profile.Exactly(model.Bytes(10)), Parse: profile.Exactly(model.Bytes(1)),
			}
			p := planOf(openConfig(), k, profile.Interference{}, 1)
			c.change(&p, &p.Profile.Kinds[0])
			got, _ := run(t, p)
			if diff := cmp.Diff(c.want, got.AtPeak); diff != "" {
				t.Errorf("the owners at the peak differ (-want +got):\n%s", diff)
			}
			if got.PeakAt.Seconds() != c.at {
				t.Errorf("the peak is at %s, want %v s", got.PeakAt, c.at)
			}
		})
	}
}
