// Package livesim holds the test that the live driver and the simulator are the same pipeline. It is here because
// sim and backend do not know each other.
package livesim

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"headroom/backend"
	"headroom/backend/device/virtual"
	"headroom/model"
	"headroom/model/work"
	"headroom/sim"
)

// outcome is what both drivers must agree on.
type outcome struct {
	Records []model.Record
	Peak    model.Bytes
	PeakAt  model.Instant
	VRAM    []model.Bytes // peak of each device
	Pinned  model.Bytes   // peak, as is Shared
	Shared  model.Bytes
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
	out.Peak, out.PeakAt, out.Pinned, out.Shared = r.Peak, r.PeakAt, r.PinnedPeak, r.SharedPeak
	for _, d := range r.Devices {
		out.VRAM = append(out.VRAM, d.Peak)
	}
	return out
}

func live(t *testing.T, p sim.Plan) outcome {
	var out outcome
	setup := work.Setup{
		Interference: p.Profile.Interference, Config: p.Config, Baseline: p.Profile.Baseline.Value,
		DeviceBaseline: p.Profile.DeviceBaseline.Value, Seed: p.Seed, Fails: p.Disturb.Fails,
	}
	pipeline := backend.Pipeline{
		Config: p.Config, Workload: p.Workload, Seed: p.Seed, Cancels: p.Disturb.Cancels,
		Record: func(r *model.Record) { out.Records = append(out.Records, *r) },
		Settle: synctest.Wait,
	}
	for i := range p.Profile.Kinds {
		k, err := p.Profile.Kinds[i].Under(&p.Config)
		if err != nil {
			t.Fatal(err)
		}
		setup.Kinds = append(setup.Kinds, k)
		pipeline.Kinds = append(pipeline.Kinds, k.Model())
	}
	var failure error
	synctest.Test(t, func(t *testing.T) {
		device := virtual.New(setup)
		pipeline.Device, pipeline.Clock = device, backend.StartClock()
		_, failure = pipeline.Run(context.Background())
		failure = errors.Join(failure, device.Close())
		out.Peak, out.PeakAt = device.Peak()
		out.Pinned, out.Shared = device.Pinned().Peak, device.Shared().Peak
		for _, d := range device.Devices() {
			out.VRAM = append(out.VRAM, d.Peak)
		}
	})
	if failure != nil {
		t.Fatal(failure)
	}
	return out
}

// TestLiveEqualsSimulated draws every knob, profiles and disturbances, ties and zero lengths included, and compares the
// event streams, the peaks of all memories and their instants. All that the core can answer must come up.
func TestLiveEqualsSimulated(t *testing.T) {
	gen := rapid.Custom(drawPlan)
	seen := map[model.EffectOp]bool{}
	reused, loadFailed := false, false
	for seed := range 400 {
		p := gen.Example(seed)
		want, got := simulated(t, p), live(t, p)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("example %d: %+v\nlive differs from simulated (-simulated +live):\n%s", seed, p.Config, cut(diff))
		}
		for i := range want.Records {
			r := &want.Records[i]
			loadFailed = loadFailed || r.Input.Op == model.Failed && r.Input.Task.Stage == model.Load
			for _, e := range r.Effects {
				seen[e.Op] = true
				reused = reused || e.Reused
			}
		}
	}
	for op := model.JobStart; op <= model.Stall; op++ {
		if !seen[op] {
			t.Errorf("no example has the effect %s", op)
		}
	}
	if !reused || !loadFailed {
		t.Errorf("vectors came from the pool: %v, a load failed: %v; both must come up", reused, loadFailed)
	}
}

func cut(s string) string { return s[:min(len(s), 4000)] }
