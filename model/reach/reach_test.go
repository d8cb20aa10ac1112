package reach_test

import (
	"strings"
	"testing"

	"headroom/model"
	"headroom/model/reach"
)

var short = model.StageSet(0).With(model.Synth, model.Kernel)

func search(t *testing.T, s reach.Space) *reach.Answer {
	t.Helper()
	if err := s.Config.Validate(nil); err != nil {
		t.Fatal(err)
	}
	a, err := reach.Search(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAPipelineOfPermitsNeverStalls(t *testing.T) {
	every := short.With(model.Parse, model.Prep, model.Tail, model.Finish, model.Dealloc)
	for _, disturbed := range []bool{false, true} {
		s := reach.Space{Config: model.DefaultConfig(1), Jobs: 2, Failures: disturbed, Cancels: disturbed}
		s.Config.JobsInFlight, s.Config.Admission.Permits = 2, 2
		s.Kinds = []model.Kind{{Name: "a", Partitions: 1, Stages: every}}
		a := search(t, s)
		if a.Verdict != reach.Clear || a.History != nil || !strings.HasPrefix(a.Reason, "no stall exists up to 2 jobs") {
			t.Errorf("disturbed %t: %s: %s", disturbed, a.Verdict, a.Reason)
		}
		if a.States < 50 || a.Steps < a.States || a.Holding != 2 {
			t.Errorf("disturbed %t: %d states, %d steps and at most %d holding", disturbed, a.States, a.Steps, a.Holding)
		}
	}
}

func TestASearchThatIsCutOffSaysSo(t *testing.T) {
	s := reach.Space{Config: model.DefaultConfig(1), Jobs: 4, Kinds: []model.Kind{{Name: "a", Partitions: 2, Stages: short}}, MaxStates: 30}
	if a := search(t, s); a.Verdict != reach.Unfinished || a.States != 30 || !strings.HasPrefix(a.Reason, "not exhausted: explored 30 states") {
		t.Errorf("%s after %d states: %s", a.Verdict, a.States, a.Reason)
	}
}

func TestASpaceWithoutJobsOrKindsIsRefused(t *testing.T) {
	kind := model.Kind{Name: "a", Partitions: 1, Stages: short}
	for _, s := range []reach.Space{
		{Config: model.DefaultConfig(1), Kinds: []model.Kind{kind}},
		{Config: model.DefaultConfig(1), Jobs: 1},
		{Config: model.DefaultConfig(1), Jobs: 1, Kinds: []model.Kind{{Name: "a", Partitions: 1}}},
	} {
		if _, err := reach.Search(s, nil); err == nil || !strings.HasPrefix(err.Error(), "reach: ") {
			t.Errorf("%+v: error %v", s, err)
		}
	}
}
