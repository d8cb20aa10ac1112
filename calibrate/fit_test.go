package calibrate_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/model/work"
)

func TestUnseenConfigurationsArePredicted(t *testing.T) {
	p, err := calibrate.FitUnjudged(recordings(), "small")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []model.Config{
		config(4, model.AfterSynthesis, 4), config(2, model.AfterSynthesis, 4), config(2, model.AfterKernel, 2),
	} {
		unseen := recorded(truth(), c, 20, uint64(100+i), 1e6)
		compared, err := calibrate.Compare(p, unseen, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{calibrate.AboveBaseline, calibrate.SecondsPerJob} {
			if m := compared.Metric(name); math.Abs(m.Error) > 0.03 {
				t.Errorf("configuration %d: %s is predicted as %+v, measured as %g", i, name, m.Predicted, m.Measured)
			}
		}
		if !compared.VerdictRight {
			t.Errorf("configuration %d: verdict %s, outcome %s", i, compared.Verdict, compared.Outcome)
		}
	}
}

// The caller hears of the fit, and of each trace that it is held against.
func TestProgressIsToldOfEachStep(t *testing.T) {
	var heard [][2]int
	_, _, err := calibrate.Fit(recordings()[:2], calibrate.Options{Name: "small", Progress: func(done, of int) {
		heard = append(heard, [2]int{done, of})
	}})
	if diff := cmp.Diff([][2]int{{1, 3}, {2, 3}, {3, 3}}, heard); err != nil || diff != "" {
		t.Errorf("error %v; progress (-want +got):\n%s", err, diff)
	}
}

// TestAReportSaysHowFarOffLeftOutTracesAre holds it to what the profile says of each.
func TestAReportSaysHowFarOffLeftOutTracesAre(t *testing.T) {
	p, report, err := calibrate.Fit(recordings(), calibrate.Options{Name: "small"})
	if err != nil {
		t.Fatal(err)
	}
	var peaks, seconds []float64
	for _, q := range p.Provenance.Fit {
		if q.HeldOut {
			peaks, seconds = append(peaks, math.Abs(q.PeakError)), append(seconds, math.Abs(q.SecondsError))
		}
	}
	slices.Sort(peaks)
	slices.Sort(seconds)
	if len(peaks) != 3 {
		t.Fatalf("%d traces were left out in turn, not 3", len(peaks))
	}
	want := &calibrate.LeftOut{
		Peak: calibrate.Off{Median: peaks[1], Largest: peaks[2]}, Seconds: calibrate.Off{Median: seconds[1], Largest: seconds[2]},
	}
	if diff := cmp.Diff(want, report.LeftOut); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Where the machine was slower in one run than in another, what to do is to record again, and not to record longer.
func TestMoreJobsAreNoCureForAMachineThatDrifts(t *testing.T) {
	slow := truth()
	for stage, w := range slow.Kinds[0].Work {
		w.Mean.Value = w.Mean.Value * 3 / 2
		slow.Kinds[0].Work[stage] = w
	}
	drifting := append(recordings()[:2], recorded(slow, config(2, model.AfterSend, 2), 12, 4, 1e6))
	_, report, err := calibrate.Fit(drifting, calibrate.Options{Name: "small"})
	if err != nil {
		t.Fatal(err)
	}
	advice := strings.Join(report.Record, "\n")
	if !strings.Contains(advice, "again when nothing else runs") || strings.Contains(advice, "times as many jobs") {
		t.Errorf("to a drift of %.1f %% the advice is\n%s", 100*report.Drift, advice)
	}
}

// Two kinds that share the machine are told apart, by work and by memory.
func TestKindsAreToldApart(t *testing.T) {
	want := truth()
	large := want.Kinds[0]
	large.Name, large.Partitions = "large", 3
	large.Work = map[model.Stage]profile.Work{}
	for s, w := range want.Kinds[0].Work {
		w.Mean.Value = 2 * w.Mean.Value
		large.Work[s] = w
	}
	large.Work[model.Parse] = profile.Work{
		Law: profile.Lognormal, Mean: profile.Exactly(100 * model.Millisecond), CV: profile.Exactly(0.1),
	}
	large.Footprint.Vectors.Value = 150 * model.MiB
	large.Footprint.Parse.Value = 40 * model.MiB
	want.Kinds = []profile.Kind{large, want.Kinds[0]}
	got, err := calibrate.FitUnjudged(three(want, 10), "both")
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Kinds {
		w, g := &want.Kinds[i], &got.Kinds[i]
		if w.Name != g.Name || w.Partitions != g.Partitions {
			t.Fatalf("kind %d is %q with %d partitions, not %q with %d", i, g.Name, g.Partitions, w.Name, w.Partitions)
		}
		near(t, w.Name+" vectors", float64(g.Footprint.Vectors.Value), float64(w.Footprint.Vectors.Value))
		if w.Footprint.Parse.Value > 0 {
			near(t, w.Name+" parse buffer", float64(g.Footprint.Parse.Value), float64(w.Footprint.Parse.Value))
		}
		for _, s := range []model.Stage{model.Synth, model.Kernel, model.Finish} {
			near(t, w.Name+" "+s.String(), float64(g.Work[s].Mean.Value), float64(w.Work[s].Mean.Value))
		}
	}
}

// near reports a number that is more than a tenth off.
func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got/want-1) > 0.1 {
		t.Errorf("%s is %g, not %g", name, got, want)
	}
}

// On many cores stages slow each other, in memory and caches, long before each core has its own.
func TestStagesSlowEachOtherOnManyCores(t *testing.T) {
	want := truth()
	want.Interference = profile.Interference{Slowdowns: []profile.Slowdown{{
		Stage: model.Synth, By: model.Synth, Points: []profile.SlowdownPoint{{N: 16, Factor: profile.Exactly(1.8)}},
	}}}
	var traces []*trace.Trace
	for i, permits := range []model.Count{1, 4, 9} {
		r := recorded(want, config(permits, model.AfterSynthesis, permits), 12, uint64(i)+1, 1e6)
		r.Header.Machine.Cores = 16
		traces = append(traces, r)
	}
	got, err := calibrate.FitUnjudged(traces, "small")
	if err != nil {
		t.Fatal(err)
	}
	near(t, "synth", float64(got.Kinds[0].Work[model.Synth].Mean.Value), float64(want.Kinds[0].Work[model.Synth].Mean.Value))
	if s := got.Interference.Slowdowns; len(s) == 0 || s[0].Stage != model.Synth || s[0].By != model.Synth {
		t.Fatalf("the interference is %+v", got.Interference)
	}
	near(t, "slowdown of sixteen", got.Interference.Slowdowns[0].Points[0].Factor.Value, 1.8)
}

// Where stages wait for memory or the kernel more than for a core, each doubling of the runners costs as much: times at
// numbers of runners that were not recorded are predicted too, and a law that grows with each runner is kept for one.
func TestTheFormOfASlowdownIsFound(t *testing.T) {
	byDoubling := []profile.SlowdownPoint{}
	for n, factor := 2, 1.35; n <= 16; n, factor = 2*n, factor*1.35 {
		byDoubling = append(byDoubling, profile.SlowdownPoint{N: n, Factor: profile.Exactly(factor)})
	}
	for _, c := range []struct {
		law    string
		points []profile.SlowdownPoint
		at     []int // of those that are fitted, the last of which ends the growth
	}{
		{"by doublings", byDoubling, []int{2, 4, 8, 16, 17}},
		{"by runners", []profile.SlowdownPoint{{N: 16, Factor: profile.Exactly(3.0)}}, []int{16, 17}},
	} {
		want := truth()
		want.Interference = profile.Interference{Slowdowns: []profile.Slowdown{{
			Stage: model.Synth, By: model.Synth, Points: c.points,
		}}}
		var traces []*trace.Trace
		for i, permits := range []model.Count{1, 2, 5, 10} {
			r := recorded(want, config(permits, model.AfterSynthesis, permits), 12, uint64(i)+1, 1e6)
			r.Header.Machine.Cores = 16
			traces = append(traces, r)
		}
		got, err := calibrate.FitUnjudged(traces, "small")
		if err != nil {
			t.Fatal(err)
		}
		var at []int
		for _, s := range got.Interference.Slowdowns {
			for _, p := range s.Points {
				at = append(at, p.N)
			}
		}
		if !slices.Equal(at, c.at) {
			t.Errorf("%s: the laws have points at %v, want %v", c.law, at, c.at)
		}
		for _, runners := range []int32{1, 3, 4, 7, 12} {
			running := [model.NumStages]int32{model.Synth: runners}
			took := func(p *profile.Profile) float64 {
				mean := p.Kinds[0].Work[model.Synth].Mean.Value.Seconds()
				return mean * work.NewSlowdowns(p.Interference).Of(&running)[model.Synth]
			}
			if off := took(got)/took(want) - 1; math.Abs(off) > 0.04 {
				t.Errorf("%s: of %d at once a synthesis takes %.1f %% more than it does", c.law, runners, 100*off)
			}
		}
	}
}

// A part of a block that is held while it is freed is found, and how long freeing takes is not mixed up with it.
func TestWhatIsHeldWhileItIsFreedIsFitted(t *testing.T) {
	want := truth()
	freeing := profile.Exactly(0.3)
	want.Kinds[0].Footprint.Freeing = &freeing
	slow := want.Kinds[0].Work[model.Dealloc]
	slow.Mean.Value = 100 * model.Millisecond
	want.Kinds[0].Work[model.Dealloc] = slow
	got, err := calibrate.FitUnjudged(three(want, 30), "small")
	if err != nil {
		t.Fatal(err)
	}
	k := &got.Kinds[0]
	if k.Footprint.Freeing == nil {
		t.Fatal("nothing is said of what is held meanwhile")
	}
	near(t, "freeing", k.Footprint.Freeing.Value, freeing.Value)
	near(t, "vectors", float64(k.Footprint.Vectors.Value), float64(want.Kinds[0].Footprint.Vectors.Value))
	near(t, "dealloc", float64(k.Work[model.Dealloc].Mean.Value), float64(slow.Mean.Value))
}

// Blocks whose sizes the headers tell are exactly those; the others are fitted.
func TestToldBlocksAreTakenAsTheyAre(t *testing.T) {
	want := &truth().Kinds[0].Footprint
	all := model.Blocks{Vectors: want.Vectors.Value, Assignment: want.Assignment.Value, Call: want.Call.Value}
	for _, blocks := range []model.Blocks{all, {Vectors: all.Vectors}, {}} {
		traces := recordings()
		for _, r := range traces {
			r.Header.Blocks = map[string]model.Blocks{"small": blocks}
		}
		p, err := calibrate.FitUnjudged(traces, "small")
		if err != nil {
			t.Fatal(err)
		}
		got := &p.Kinds[0].Footprint
		for _, b := range []struct {
			name      string
			told      model.Bytes
			got, want profile.Quantity[model.Bytes]
		}{
			{"vectors", blocks.Vectors, got.Vectors, want.Vectors},
			{"assignment", blocks.Assignment, got.Assignment, want.Assignment},
			{"call", blocks.Call, got.Call, want.Call},
		} {
			if b.told == 0 && b.got.Source == profile.Fitted {
				near(t, b.name, float64(b.got.Value), float64(b.want.Value))
				continue
			}
			told := profile.Quantity[model.Bytes]{Value: b.told, Source: profile.Derived}
			if b.told == 0 || b.got != told {
				t.Errorf("%s are %+v, told %s", b.name, b.got, b.told)
			}
		}
	}
}

// Runs of a machine whose speed differs from one to the next are told from runs of one that stays the same, and what is
// drawn from the intervals of the stages varies together as the speed of one more run does.
func TestTheDriftOfTheSpeedIsInTheIntervals(t *testing.T) {
	for _, speeds := range [][]float64{{1, 1, 1}, {0.9, 1, 1.1}} {
		var traces []*trace.Trace
		for i, speed := range speeds {
			p := truth()
			for s, w := range p.Kinds[0].Work {
				w.Mean.Value = model.Span(float64(w.Mean.Value) * speed)
				p.Kinds[0].Work[s] = w
			}
			// One thing at a time, so that no interference passes for a speed.
			traces = append(traces, recorded(p, config(1, model.AfterFinish, 1), 20, uint64(i)+1, 1e6))
		}
		p, drift, err := calibrate.FitWithDrift(traces, "small")
		if err != nil {
			t.Fatal(err)
		}
		total, squares := 0.0, 0.0
		for _, w := range p.Kinds[0].Work {
			total += float64(w.Mean.Value)
			squares += math.Pow(float64(w.Mean.High-w.Mean.Low)/2/1.96, 2)
		}
		// The mean of three is drift * sqrt(1/3) off, and the next one drift; Student's quantile of two degrees of freedom is 4.30.
		varies, want := math.Sqrt(squares)/total, drift*4.30/1.96*math.Sqrt(4.0/3)
		switch {
		case speeds[0] == 1 && drift > 0.02:
			t.Errorf("the same speed throughout differs by %.3f", drift)
		case speeds[0] != 1 && (math.Abs(drift-0.1) > 0.03 || math.Abs(varies/want-1) > 0.15):
			t.Errorf("speeds of %v differ by %.3f, want 0.1; works vary by %.3f together, want %.3f", speeds, drift, varies, want)
		}
	}
}

// three returns recordings of so many jobs each, from one partition at a time to early release.
func three(p *profile.Profile, jobs int) []*trace.Trace {
	return []*trace.Trace{
		recorded(p, config(1, model.AfterFinish, 1), jobs, 1, 1e6),
		recorded(p, config(2, model.AfterSend, 2), jobs, 2, 1e6),
		recorded(p, config(3, model.AfterSynthesis, 3), jobs, 3, 1e6),
	}
}
