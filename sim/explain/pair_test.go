package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/scenarios"
	"headroom/sim"
	"headroom/sim/explain"
)

// drawPlan returns a small plan; two of them differ in at most five knobs.
func drawPlan(t *rapid.T, name string) sim.Plan {
	count := func(label string, low, high int) model.Count {
		return model.Count(rapid.IntRange(low, high).Draw(t, name+" "+label))
	}
	c := model.DefaultConfig(1)
	c.JobsInFlight = 2
	c.Admission.Permits = count("permits", 1, 3)
	releases := []model.Release{model.AfterSynthesis, model.AfterSend, model.AfterKernel}
	c.Admission.Release = rapid.SampledFrom(releases).Draw(t, name+" release")
	c.Channel.Capacity = count("capacity", 0, 2)
	spread := func(seconds float64) profile.Work {
		return profile.Work{Law: profile.Lognormal, Mean: profile.Exactly(model.SpanOf(seconds)), CV: profile.Exactly(0.3)}
	}
	kind := profile.Kind{
		Name: "job", Partitions: 2,
		Work: map[model.Stage]profile.Work{model.Synth: spread(3), model.Kernel: spread(1), model.Finish: spread(0.7)},
		Footprint: profile.Footprint{
			Parse: profile.Exactly(3 * model.MiB), Assignment: profile.Exactly(31 * model.MiB),
			Vectors: profile.Quantity[model.Bytes]{Value: 100 * model.MiB, Low: 90 * model.MiB, High: 110 * model.MiB},
		},
	}
	return sim.Plan{
		Machine: model.Machine{RAM: model.Bytes(rapid.Int64Range(200, 800).Draw(t, name+" ram")) * model.MiB},
		Config:  c, Seed: 5,
		Workload: model.Workload{
			Shares:  []model.Share{{Kind: "job", Jobs: rapid.IntRange(1, 3).Draw(t, name+" jobs")}},
			Arrival: model.Arrival{Pattern: model.Closed},
		},
		Profile: &profile.Profile{Name: "drawn", Baseline: profile.Exactly(10 * model.MiB), Kinds: []profile.Kind{kind}},
	}
}

// divide returns how two plans differ, without the neighbours among the fixes.
func divide(t *rapid.T, a, b sim.Plan, replications int) *explain.Difference {
	question, err := explain.NewBarePair(a, b, replications, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := question.Explain(nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSharesAndOwnersAddUpExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPlan(t, "a"), drawPlan(t, "b")
		d := divide(t, a, b, rapid.SampledFrom([]int{1, 3}).Draw(t, "replications"))
		var bytes, owners, ownersA, ownersB model.Bytes
		var seconds float64
		for _, s := range d.Shares {
			bytes, seconds = bytes+s.Bytes, seconds+s.SecondsPerJob
			if s.Knob.Name == "machine.ram" && (s.Bytes != 0 || s.SecondsPerJob != 0) {
				t.Fatalf("a limit that is ignored has the share %+v", s)
			}
		}
		for _, o := range d.Owners {
			owners, ownersA, ownersB = owners+o.Difference, ownersA+o.A.Bytes, ownersB+o.B.Bytes
		}
		if bytes != d.Bytes || owners != d.Bytes || d.Bytes != d.B.Peak-d.A.Peak {
			t.Fatalf("shares add up to %d and owners to %d of %d", bytes, owners, d.Bytes)
		}
		if ownersA != d.A.Peak || ownersB != d.B.Peak {
			t.Fatalf("owners hold %d of %d and %d of %d", ownersA, d.A.Peak, ownersB, d.B.Peak)
		}
		if seconds != d.SecondsPerJob || d.SecondsPerJob != d.B.SecondsPerJob-d.A.SecondsPerJob {
			t.Fatalf("shares add up to %v s of %v s", seconds, d.SecondsPerJob)
		}
	})
}

func TestTheOrderOfTheTwoOnlyChangesSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawPlan(t, "a"), drawPlan(t, "b")
		there, back := divide(t, a, b, 1), divide(t, b, a, 1)
		for i := range back.Shares {
			s := &back.Shares[i]
			s.Bytes, s.SecondsPerJob = -s.Bytes, -s.SecondsPerJob
			for j, set := range s.Knob.Settings {
				s.Knob.Settings[j] = explain.Setting{Key: set.Key, From: set.To, To: set.From}
			}
		}
		if diff := cmp.Diff(there.Shares, back.Shares, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("shares (-there +back):\n%s", diff)
		}
		if there.Bytes != -back.Bytes || there.SecondsPerJob != -back.SecondsPerJob {
			t.Fatalf("differences are %d, %v and %d, %v", there.Bytes, there.SecondsPerJob, back.Bytes, back.SecondsPerJob)
		}
	})
}

// TestTheStepFromTenToTwelveWorkers is the question that this package was made for: of the step, next to nothing is
// what the workers hold themselves, and all is partitions that wait in send. A permit that returns later removes it
// and costs no speed.
func TestTheStepFromTenToTwelveWorkers(t *testing.T) {
	d := compare(t, load(t, "phase12-pre-10"), load(t, "phase12-pre-12"), 20)
	if len(d.Shares) != 1 || d.Shares[0].Knob.Name != "config.admission.permits" || d.Shares[0].Bytes != d.Bytes {
		t.Errorf("shares are %+v", d.Shares)
	}
	if d.Bytes < 300*model.GiB || d.A.OOMs != 0 || d.B.OOMs != 20 {
		t.Errorf("the step is %s, and %d and %d replications pass the limit", d.Bytes.Short(), d.A.OOMs, d.B.OOMs)
	}
	waiting, synth := d.Held(sim.OwnSend, sim.OwnChannel), d.Held(sim.OwnSynth)
	if waiting < d.Bytes*95/100 || synth > d.Bytes*5/100 {
		t.Errorf("%s of %s wait, the workers hold %s", waiting.Short(), d.Bytes.Short(), synth.Short())
	}
	costs := map[string]float64{} // of what removes both
	for _, f := range d.Fixes {
		if f.RemovesOOM && f.RemovesDifference {
			costs[f.Knob.Settings[0].Key+"="+f.Knob.Settings[0].To] = f.SecondsPerJob / d.B.SecondsPerJob
		}
	}
	for _, want := range []string{
		"config.admission.permits=10", "config.admission.release=after_send", "config.admission.release=after_kernel",
	} {
		if cost, is := costs[want]; !is || cost > 0.01 {
			t.Errorf("%s removes the step: %v, making jobs %.1f %% slower", want, is, 100*cost)
		}
	}
	if _, is := costs["config.free_vectors=after_kernel"]; is {
		t.Error("early freeing alone removes the step")
	}
}

// load returns the plan of an embedded scenario.
func load(t testing.TB, name string) sim.Plan {
	t.Helper()
	s, err := scenarios.Load(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: s.Profile, Seed: s.Seed}
}

func TestASeedIsNoKnob(t *testing.T) {
	a, b := line(2, 3), line(2, 3)
	b.Seed = 9
	d := compare(t, a, b, 1)
	if len(d.Shares) != 0 || d.Bytes != 0 || len(d.Notes) != 1 {
		t.Errorf("shares %v, difference %d, notes %q", d.Shares, d.Bytes, d.Notes)
	}
}

func TestACapacityThatFollowsThePermitsIsNoted(t *testing.T) {
	a, b := line(2, 3), line(3, 3)
	if d := compare(t, a, b, 1); len(d.Notes) != 1 {
		t.Errorf("auto: notes %q", d.Notes)
	}
	a.Config.Channel.Capacity, b.Config.Channel.Capacity = 2, 2
	if d := compare(t, a, b, 1); len(d.Notes) != 0 {
		t.Errorf("set: notes %q", d.Notes)
	}
}

func TestWrongQuestionsAreRefused(t *testing.T) {
	good, bad := line(2, 3), line(0, 3)
	unknown := line(2, 3)
	unknown.Workload.Shares = []model.Share{{Kind: "other", Jobs: 1}}
	for _, p := range []sim.Plan{bad, unknown} {
		if _, err := explain.NewSingle(p, 1); err == nil {
			t.Error("a single plan that is not valid was accepted")
		}
		if _, err := explain.NewPair(good, p, 1, nil); err == nil {
			t.Error("a pair with a plan that is not valid was accepted")
		}
	}
	for _, n := range []int{0, explain.MaxReplications + 1} {
		if _, err := explain.NewSingle(good, n); err == nil {
			t.Errorf("%d replications were accepted", n)
		}
		if _, err := explain.NewPair(good, good, n, nil); err == nil {
			t.Errorf("%d replications were accepted", n)
		}
	}
}

// TestWhatCannotBeSimulatedIsNoted doubles permits whose partitions then hold more together than can be added up.
func TestWhatCannotBeSimulatedIsNoted(t *testing.T) {
	p := line(4, 20)
	p.Profile.Kinds[0].Footprint.During[model.Synth][0].Bytes.Value = 3 * model.TiB / 2
	d := compare(t, p, p, 1)
	noted := func(note string) bool {
		return strings.HasPrefix(note, "config.admission.permits=8 is left out: sim: ")
	}
	if !slices.ContainsFunc(d.Notes, noted) {
		t.Errorf("notes %q", d.Notes)
	}
	if len(d.Fixes) == 0 {
		t.Error("there are no fixes")
	}
}
