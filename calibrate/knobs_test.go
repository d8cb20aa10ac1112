package calibrate_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/sim"
)

// Runs with batches, with data that comes and goes, and with a pool say the same of the kinds as runs without.
func TestFootprintsAreRecoveredUnderEveryKnob(t *testing.T) {
	for _, c := range []struct {
		name   string
		of     func() *profile.Profile
		change func(c *model.Config, recording int)
	}{
		{"batches of two and of one", truth, func(c *model.Config, i int) {
			if i > 0 {
				c.Batch = &model.Batch{Size: 2, Wait: model.Second}
				c.JobsInFlight = max(2, c.JobsInFlight)
			}
		}},
		{"batches of two alone", truth, func(c *model.Config, _ int) {
			c.Batch = &model.Batch{Size: 2, Wait: model.Second}
			c.JobsInFlight = max(2, c.JobsInFlight)
		}},
		{"data of one kind makes room for that of the other", twoKinds, func(c *model.Config, _ int) {
			c.Admission.Budget = &model.Budget{Total: 8 * model.GiB, Kinds: map[string]model.Demand{"small": {}, "large": {}}}
			for _, kind := range []string{"small", "large"} {
				c.Resident = append(c.Resident, model.Resident{
					Name: "data of " + kind, Bytes: 5 * model.GiB, Transient: 200 * model.MiB, LoadTime: 100 * model.Millisecond,
					OnDemand: true, Evictable: true, Kinds: []string{kind},
				})
			}
		}},
		{"data that is always there", truth, func(c *model.Config, i int) {
			c.Resident = []model.Resident{{Name: "data", Bytes: model.Bytes(i) * 300 * model.MiB}}
		}},
		{"a pool in two of three", truth, func(c *model.Config, i int) {
			if i > 0 {
				c.Pool = model.PoolRetain
			}
		}},
		{"all of it", truth, func(c *model.Config, i int) {
			if i > 0 {
				c.Pool = model.PoolRetain
			}
			c.Batch = &model.Batch{Size: 2, Wait: model.Second}
			c.JobsInFlight = max(2, c.JobsInFlight)
			c.Resident = []model.Resident{{Name: "data", Bytes: 300 * model.MiB, LoadTime: model.Second, OnDemand: true}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.of()
			got, err := calibrate.FitUnjudged(changed(want, c.change), "both")
			if err != nil {
				t.Fatal(err)
			}
			if e := got.Baseline.Value - want.Baseline.Value; e < -model.MiB || e > model.MiB {
				t.Errorf("the baseline is %s, not %s", got.Baseline.Value.Short(), want.Baseline.Value.Short())
			}
			for i := range want.Kinds {
				sameKind(t, &want.Kinds[i], &got.Kinds[i])
			}
		})
	}
}

// twoKinds is the truth with a second kind of larger jobs.
func twoKinds() *profile.Profile {
	p := truth()
	large := p.Kinds[0]
	large.Name = "large"
	large.Work = map[model.Stage]profile.Work{}
	for s, w := range p.Kinds[0].Work {
		w.Mean.Value = 2 * w.Mean.Value
		large.Work[s] = w
	}
	large.Footprint.Vectors.Value = 150 * model.MiB
	large.Footprint.During = map[model.Stage][]profile.Point{
		model.Synth: {{Bytes: profile.Exactly(10 * model.MiB)}, {Progress: 1, Bytes: profile.Exactly(162 * model.MiB)}},
	}
	p.Kinds = []profile.Kind{large, p.Kinds[0]}
	return p
}

// changed returns three recordings, whose configurations are changed.
func changed(p *profile.Profile, change func(c *model.Config, recording int)) []*trace.Trace {
	var traces []*trace.Trace
	for i, c := range []model.Config{
		config(1, model.AfterFinish, 1), config(2, model.AfterSend, 2), config(3, model.AfterSynthesis, 4),
	} {
		change(&c, i)
		traces = append(traces, record(sim.Plan{Config: c, Profile: p, Seed: uint64(i) + 1}, 12, 1e6))
	}
	return traces
}

// sameKind holds the footprint and the work of a kind against the true ones.
func sameKind(t *testing.T, want, got *profile.Kind) {
	t.Helper()
	near := func(what string, is, shall float64) {
		if math.Abs(is/shall-1) > 0.05 {
			t.Errorf("%s of %s is %g, not %g", what, want.Name, is, shall)
		}
	}
	near("vectors", float64(got.Footprint.Vectors.Value), float64(want.Footprint.Vectors.Value))
	// So few jobs do not tell well what of the rest is the call's.
	rest := func(f *profile.Footprint) float64 { return float64(f.Assignment.Value + f.Call.Value) }
	near("assignment and call", rest(&got.Footprint), rest(&want.Footprint))
	for _, p := range want.Footprint.During[model.Synth] {
		if p.Progress > 0 {
			near(fmt.Sprintf("the ramp at %g", p.Progress), float64(rampAt(got.Footprint.During[model.Synth], p.Progress).Value), float64(p.Bytes.Value))
		}
	}
	for _, s := range []model.Stage{model.Synth, model.Kernel, model.Tail, model.Finish} {
		near(s.String(), float64(got.Work[s].Mean.Value), float64(want.Work[s].Mean.Value))
	}
}

// A pool shows that vectors are held, and not how a synthesis comes to hold them.
func TestAPoolAloneIsRefused(t *testing.T) {
	traces := changed(twoKinds(), func(c *model.Config, _ int) { c.Pool = model.PoolRetain })
	_, _, err := calibrate.Fit(traces, calibrate.Options{Name: "both"})
	if part := "every trace ran with config.pool: retain"; err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v does not say %q", err, part)
	}
}

// A further proof that takes less time than the first is said to.
func TestUnequalProofsOfABatchAreReported(t *testing.T) {
	p := truth()
	w := p.Kinds[0].Work[model.Synth]
	w.Batch = new(profile.Exactly(0.2))
	p.Kinds[0].Work[model.Synth] = w
	var traces []*trace.Trace
	for size := range model.Count(3) { // one thing at a time, so that there is no interference
		c := config(1, model.AfterFinish, size+1)
		c.Batch = &model.Batch{Size: size + 1, Wait: model.Second}
		traces = append(traces, record(sim.Plan{Config: c, Profile: p, Seed: uint64(size) + 1}, 12, 1e6))
	}
	warnings, err := calibrate.UnequalBatches(traces)
	if part := `synth of "small" takes 0.4`; err != nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], part) {
		t.Errorf("%q, %v: want one that says %q", warnings, err, part)
	}
}
