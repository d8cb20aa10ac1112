package calibrate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/sim"
)

// limited returns a recording under a memory limit, as it came out.
func limited(limit model.Bytes, outcome trace.Outcome) *trace.Trace {
	t := recorded(truth(), config(3, model.AfterSynthesis, 3), 6, 5, 1e6)
	t.Header.LimitBytes = limit
	t.End.Outcome = outcome
	return t
}

func TestAVerdictIsRightIfTheRunCameOutThatWay(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   model.Bytes
		outcome trace.Outcome
		verdict sim.Verdict
		right   bool
	}{
		{"ample memory, finished", 4 * model.GiB, trace.Finished, sim.Fits, true},
		{"ample memory, killed", 4 * model.GiB, trace.Killed, sim.Fits, false},
		{"little memory, killed", 400 * model.MiB, trace.Killed, sim.OOM, true},
		{"little memory, finished", 400 * model.MiB, trace.Finished, sim.OOM, false},
		{"ended by its operator", 400 * model.MiB, trace.Cancelled, sim.OOM, false},
		{"not enough for the baseline, killed", 90 * model.MiB, trace.Killed, sim.Refuse, true},
		{"not enough for the baseline, finished", 90 * model.MiB, trace.Finished, sim.Refuse, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := calibrate.Compare(truth(), limited(c.limit, c.outcome), calibrate.DefaultReplications)
			if err != nil {
				t.Fatal(err)
			}
			if got.Verdict != c.verdict || got.VerdictRight != c.right {
				t.Errorf("verdict %s, right %t; want %s, %t", got.Verdict, got.VerdictRight, c.verdict, c.right)
			}
			if measured := got.Metric(calibrate.SecondsPerJob) != nil; measured != (c.outcome == trace.Finished) {
				t.Errorf("seconds per job are compared: %t", measured)
			}
		})
	}
}

// The truth predicts its own runs: nearly every measured number lies in its band, and the bands are narrow.
func TestTheTruthIsInsideItsBands(t *testing.T) {
	inside, all := 0, 0
	for seed := uint64(1); seed <= 10; seed++ {
		c, err := calibrate.Compare(truth(), recorded(truth(), config(2, model.AfterSend, 2), 8, seed, 0), 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Metrics {
			all++
			if m.Inside {
				inside++
			}
			if m.Error < -0.25 || m.Error > 0.25 {
				t.Errorf("seed %d: %s is predicted as %+v, measured as %g", seed, m.Name, m.Predicted, m.Measured)
			}
		}
	}
	if inside*10 < all*8 {
		t.Errorf("%d of %d measured numbers are inside their bands", inside, all)
	}
}

func TestTheOutcomeOfARunCutOffIsNotKnown(t *testing.T) {
	c, err := calibrate.Compare(truth(), cut(limited(4*model.GiB, trace.Finished), 0.5), 10)
	if err != nil {
		t.Fatal(err)
	}
	if c.Outcome != "" || c.VerdictRight || c.Metric(calibrate.PeakBytes) != nil || c.Metric("busy_kernel_s") == nil {
		t.Errorf("comparison %+v", c)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

func TestAProfileOfAnotherKindIsRefused(t *testing.T) {
	recording := limited(4*model.GiB, trace.Finished)
	recording.Header.Circuits = map[string]model.Circuit{
		"small": {Family: "mimc", Log2Constraints: 13, Data: 64 * model.MiB, Leaf: 4 * model.KiB},
	}
	for _, c := range []struct {
		name string
		edit func(p *profile.Profile)
		want string
	}{
		{
			"the kind is missing", func(p *profile.Profile) { p.Kinds[0].Name = "large" },
			`kind "small", which profile "truth" does not have`,
		},
		{
			"other partitions", func(p *profile.Profile) { p.Kinds[0].Partitions = 10 },
			"4 partitions and stages synth, prep, kernel, tail, finish, dealloc in the trace, 10 and",
		},
		{
			"another circuit", func(p *profile.Profile) {
				p.Kinds[0].Circuit = &model.Circuit{Family: "sha256", Log2Constraints: 15, Data: 8 * model.KiB, Leaf: 4 * model.KiB}
			},
			`proves {circuit: mimc, log2_constraints: 13, data: 64MiB, leaf: 4KiB} in the trace, ` +
				`{circuit: sha256, log2_constraints: 15, data: 8KiB, leaf: 4KiB} in profile "truth"`,
		},
	} {
		p := truth()
		c.edit(p)
		if _, err := calibrate.Compare(p, recording, 10); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v does not say %q", c.name, err, c.want)
		}
	}
}

func TestAPredictionNeedsReplications(t *testing.T) {
	_, err := calibrate.Predict(sim.Plan{Profile: truth()}, 0)
	if err == nil || !strings.Contains(err.Error(), "0 replications: at least 1") {
		t.Errorf("error %v", err)
	}
}

func TestWithoutALimitEverythingFits(t *testing.T) {
	c := config(1, model.AfterFinish, 1)
	plan := sim.Plan{Config: c, Profile: truth(), Workload: model.Workload{
		Shares: []model.Share{{Kind: "small", Jobs: 2}}, Arrival: model.Arrival{Pattern: model.Closed},
	}}
	p, err := calibrate.Predict(plan, 5)
	if err != nil {
		t.Fatal(err)
	}
	if p.Verdict != sim.Fits || !strings.Contains(p.Reason, "names no limit") {
		t.Errorf("without a limit: %s, %s", p.Verdict, p.Reason)
	}
	above := p.AboveBaseline
	if above.Median >= p.Peak.Median || above.Low > above.Median || above.Median > above.High {
		t.Errorf("peak %+v, above the baseline %+v", p.Peak, p.AboveBaseline)
	}
}
