package reach_test

import (
	"math/rand/v2"
	"testing"

	"headroom/model"
	"headroom/model/modeltest"
	"headroom/model/reach"
)

// Whatever the configuration, no order of events breaks a checker, and without a ledger none stalls.
func TestNoStateOfADrawnPipelineIsBroken(t *testing.T) {
	stalls := 0
	for seed := range uint64(150) {
		choose := modeltest.Choose(rand.New(rand.NewPCG(seed, 21)).IntN)
		setup := modeltest.ChooseSetup(choose)
		s := reach.Space{
			Config: setup.Config, Kinds: setup.Kinds, Jobs: 1 + choose(3), Failures: setup.Failures, Cancels: setup.Cancels, MaxStates: 500,
		}
		for k := range s.Kinds {
			s.Kinds[k].Partitions = 1 + choose(2)
		}
		a := search(t, s)
		switch {
		case a.Verdict == reach.Stall && s.Config.Admission.Budget != nil:
			stalls++
		case a.Verdict == reach.Broken, a.Verdict == reach.Stall:
			t.Errorf("seed %d: %s: %s, after %d steps, with %+v", seed, a.Verdict, a.Reason, len(a.History), s)
		case len(a.Findings) > 0:
			t.Errorf("seed %d: %v", seed, a.Findings)
		}
	}
	if stalls == 0 {
		t.Error("no ledger was too small")
	}
}

// What a history says is found again when the history is judged as a whole.
func TestAHistoryIsReplayed(t *testing.T) {
	s := holdAndWait(model.WorkingFirst)
	a := search(t, s)
	if last := len(a.History) - 1; last < 0 || len(a.Findings) > 0 || a.History[last].At != model.Instant(last)*model.Instant(model.Second) {
		t.Errorf("a history of %d steps with findings %v", len(a.History), a.Findings)
	}
}
