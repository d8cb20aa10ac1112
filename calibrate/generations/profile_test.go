package generations

import (
	"strings"
	"testing"

	"headroom/model"
	"headroom/model/profile"
)

// shared is a profile in which ten syntheses make each other and the kernel slower.
func shared() *profile.Profile {
	seconds := func(n model.Span) profile.Work {
		return profile.Work{Law: profile.Constant, Mean: profile.Exactly(n * model.Second)}
	}
	point := func(factor float64) []profile.SlowdownPoint {
		return []profile.SlowdownPoint{{N: circuits, Factor: profile.Exactly(factor)}}
	}
	return &profile.Profile{
		Name: "shared", Baseline: profile.Exactly(model.GiB),
		Interference: profile.Interference{Slowdowns: []profile.Slowdown{
			{Stage: model.Synth, By: model.Synth, Points: point(2)},
			{Stage: model.Kernel, By: model.Synth, Points: point(1.25)},
			{Stage: model.Kernel, By: model.Finish, Points: point(7)},
		}},
		Kinds: []profile.Kind{{
			Name: Partition, Partitions: circuits,
			Work: map[model.Stage]profile.Work{
				model.Parse: seconds(1), model.Synth: seconds(30), model.Kernel: seconds(3), model.Dealloc: seconds(1),
			},
			Footprint: profile.Footprint{
				Parse: profile.Exactly(model.MiB), Vectors: profile.Exactly(12 * model.GiB), Assignment: profile.Exactly(4 * model.GiB),
			},
		}},
	}
}

func TestAGenerationDiffersInItsTimesAlone(t *testing.T) {
	s := shared()
	p, err := Profile("all", s)
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]model.Span{Phase8: 2385, Phase9: 552, Today: 217} {
		k := p.Kind(kind)
		if got := k.Work[model.Kernel].Mean.Value; got != want*model.Millisecond {
			t.Errorf("the kernel of %s takes %s alone, want %d ms", kind, got, want)
		}
		if k.Partitions != circuits || k.Footprint.Vectors != s.Kinds[0].Footprint.Vectors {
			t.Errorf("%s has %d partitions with vectors of %s", kind, k.Partitions, k.Footprint.Vectors.Value)
		}
		if k.Work[model.Dealloc].Mean.Value != model.Second {
			t.Errorf("freeing a partition of %s takes %s, want the shared 1 s", kind, k.Work[model.Dealloc].Mean.Value)
		}
	}
	if got := p.Kind(Today).Work[model.Synth].Mean.Value; got != 25300*model.Millisecond {
		t.Errorf("a synthesis of today takes %s alone, want 25.3 s: half of what it takes among ten", got)
	}
	if len(s.Kinds) != 1 || s.Kinds[0].Work[model.Kernel].Mean.Value != 3*model.Second {
		t.Errorf("the shared profile was changed: %+v", s.Kinds)
	}
}

func TestAWholeProofHoldsWhatItsCircuitsHold(t *testing.T) {
	p, err := Profile("all", shared())
	if err != nil {
		t.Fatal(err)
	}
	k := p.Kind(Whole)
	if most := k.Footprint.Highest(model.Synth); k.Partitions != 1 || most != 160*model.GiB {
		t.Errorf("%d partitions, and up to %s in synthesis: want one with 160 GiB", k.Partitions, most)
	}
	if batch := k.Work[model.Kernel].Batch; batch == nil || batch.Value != 1.0412 {
		t.Errorf("a further proof adds %+v of a call: want 69.4 s over 34, less the first", batch)
	}
}

func TestAProfileWithoutThePartitionIsRefused(t *testing.T) {
	s := shared()
	s.Kinds[0].Name = "other"
	if _, err := Profile("all", s); err == nil || !strings.Contains(err.Error(), "profile shared has no kind porep-32g") {
		t.Errorf("error is %v", err)
	}
}

func TestFittedNumbersAreListedAsSuch(t *testing.T) {
	s := shared()
	s.Baseline.Source = profile.Fitted
	fitted := 0
	for _, n := range Shared(s) {
		if n.From == profile.Fitted {
			fitted++
		}
	}
	if fitted != 1 {
		t.Errorf("%d numbers are fitted, want the baseline alone: %+v", fitted, Shared(s))
	}
}
