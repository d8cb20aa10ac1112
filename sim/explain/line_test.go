package explain_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
	"headroom/sim/explain"
)

// line is jobs of one partition that are synthesized in 10 s and hold 1 GiB meanwhile, at most as many at once as
// there are permits, and nothing else: min(permits, jobs) GiB at the peak, ceil(jobs / permits) times 10 s in all.
func line(permits model.Count, jobs int) sim.Plan {
	c := model.DefaultConfig(1)
	c.JobsInFlight = model.Unbounded
	c.Admission.Permits = permits
	kind := profile.Kind{
		Name: "job", Partitions: 1,
		Work: map[model.Stage]profile.Work{
			model.Synth:  {Law: profile.Constant, Mean: profile.Exactly(10 * model.Second)},
			model.Kernel: {Law: profile.Constant, Mean: profile.Exactly(model.Span(0))},
		},
		Footprint: profile.Footprint{
			During: map[model.Stage][]profile.Point{model.Synth: {{Bytes: profile.Exactly(model.GiB)}}},
		},
	}
	return sim.Plan{
		Machine: model.Machine{RAM: model.TiB}, Config: c, Seed: 1,
		Workload: model.Workload{
			Shares: []model.Share{{Kind: "job", Jobs: jobs}}, Arrival: model.Arrival{Pattern: model.Closed},
		},
		Profile: &profile.Profile{Name: "line", Kinds: []profile.Kind{kind}},
	}
}

// By hand peaks are 2, 3 (permits of B), 2 (jobs of B) and 5 GiB, and seconds per job are 20/3, 10/3, 40/8 and 20/8.
func TestSharesOfALineAreThoseComputedByHand(t *testing.T) {
	a, b := line(2, 3), line(5, 8)
	b.Machine.RAM = 2 * model.TiB
	d := compare(t, a, b, 3)
	want := []explain.Share{
		{Knob: knob("machine.ram", "1TiB", "2TiB")},
		{
			Knob:  knob("config.admission.permits", "2", "5"),
			Bytes: 2 * model.GiB, SecondsPerJob: ((10.-20)/3 + (20.-40)/8) / 2,
		},
		{
			Knob:  knob("workload.jobs", "3", "8"),
			Bytes: 1 * model.GiB, SecondsPerJob: (40./8 - 20./3 + 20./8 - 10./3) / 2,
		},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 2e-9 })
	if diff := cmp.Diff(want, d.Shares, near); diff != "" {
		t.Errorf("shares (-by hand +got):\n%s", diff)
	}
	if d.A.Peak != 2*model.GiB || d.B.Peak != 5*model.GiB || d.Bytes != 3*model.GiB {
		t.Errorf("peaks are %s and %s, differing by %s", d.A.Peak, d.B.Peak, d.Bytes)
	}
	owners := []explain.Change{{
		Owner: sim.OwnSynth, A: explain.Holding{Owner: sim.OwnSynth, Count: 2, Bytes: 2 * model.GiB},
		B: explain.Holding{Owner: sim.OwnSynth, Count: 5, Bytes: 5 * model.GiB}, Difference: 3 * model.GiB,
	}, {
		Owner: sim.OwnParse, A: explain.Holding{Owner: sim.OwnParse, Count: 3},
		B: explain.Holding{Owner: sim.OwnParse, Count: 8},
	}}
	if diff := cmp.Diff(owners, d.Owners); diff != "" {
		t.Errorf("owners (-by hand +got):\n%s", diff)
	}
}

// Eight jobs are on five permits, with memory for four: one permit fewer removes the oom at no cost, since eight jobs take
// two rounds either way.
func TestOnePermitFewerRemovesTheOOMOfALine(t *testing.T) {
	p := line(5, 8)
	p.Machine.RAM = 4 * model.GiB
	question, err := explain.NewSingle(p, 2)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	e, err := question.Explain(func() { runs++ })
	if err != nil {
		t.Fatal(err)
	}
	if runs != question.Runs() {
		t.Errorf("%d runs were reported, and %d announced", runs, question.Runs())
	}
	if e.Result.Verdict != sim.OOM || e.Result.Peak != 5*model.GiB || e.Mean.OOMs != 2 {
		t.Errorf("%s with a peak of %s, %d replications over the limit", e.Result.Verdict, e.Result.Peak, e.Mean.OOMs)
	}
	type fix struct {
		To         string
		Peak       model.Bytes
		Slower     float64
		RemovesOOM bool
	}
	var got []fix
	for _, f := range e.Fixes {
		if f.Knob.Name == "config.admission.permits" {
			got = append(got, fix{f.Knob.Settings[0].To, f.Case.Peak, f.SecondsPerJob, f.RemovesOOM})
		}
	}
	want := []fix{{"4", 4 * model.GiB, 0, true}, {"3", 3 * model.GiB, 1.25, true}, {"2", 2 * model.GiB, 2.5, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fixes (-want +got):\n%s", diff)
	}
}

func knob(key, from, to string) explain.Knob {
	return explain.Knob{Name: key, Settings: []explain.Setting{{Key: key, From: from, To: to}}}
}

// compare returns how two plans differ.
func compare(t *testing.T, a, b sim.Plan, replications int) *explain.Difference {
	t.Helper()
	question, err := explain.NewPair(a, b, replications, nil)
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	d, err := question.Explain(func() { runs++ })
	if err != nil {
		t.Fatal(err)
	}
	if runs != question.Runs() {
		t.Fatalf("%d runs were reported, and %d announced", runs, question.Runs())
	}
	return d
}
