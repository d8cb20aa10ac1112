package reach_test

import (
	"testing"

	"headroom/model"
	"headroom/model/check"
	"headroom/model/reach"
)

// holdAndWait is a ledger that fits one large job's working bytes and data beside another's working bytes only if
// nothing else was in when they came: small jobs, which end by themselves, make the difference.
func holdAndWait(order model.AcquireOrder) reach.Space {
	s := reach.Space{Config: model.DefaultConfig(1), Jobs: 3}
	s.Config.JobsInFlight = model.Unbounded
	s.Config.Resident = []model.Resident{
		{Name: "small key", Bytes: 2 * model.GiB, OnDemand: true, Evictable: true, Kinds: []string{"small"}},
		{Name: "large key", Bytes: 5 * model.GiB, OnDemand: true, Evictable: true, Kinds: []string{"large"}},
	}
	s.Config.Admission.Budget = &model.Budget{Total: 10 * model.GiB, Kinds: map[string]model.Demand{
		"small": {Reserve: model.GiB, AcquireOrder: order},
		"large": {Reserve: 3 * model.GiB, AcquireOrder: order},
	}}
	for _, name := range []string{"small", "large"} {
		s.Kinds = append(s.Kinds, model.Kind{Name: name, Partitions: 1, Stages: short})
	}
	return s
}

// Two jobs hold their working bytes and wait for data that no longer fits. No run without the small job between
// them shows it.
func TestHoldAndWaitIsFoundByItsShortestHistory(t *testing.T) {
	s := holdAndWait(model.WorkingFirst)
	a := search(t, s)
	if a.Verdict != reach.Stall {
		t.Fatalf("%s: %s", a.Verdict, a.Reason)
	}
	// The small job and the two large ones arrive, and the small one is loaded, synthesized and proved.
	if len(a.History) != 5 {
		t.Errorf("the history has %d steps, want 5", len(a.History))
	}
	if last := a.History[len(a.History)-1].Effects; last[len(last)-1].Op != model.Stall {
		t.Errorf("the history ends with %+v, want a stall", last)
	}
	const want = "nothing runs and nothing can start: the ledger has 4.0 GiB of 10.0 GiB free; " +
		"job 1 of kind large holds 3.0 GiB of the ledger and waits for 5.0 GiB of the ledger to load large key; " +
		"job 2 of kind large holds 3.0 GiB of the ledger and waits for 5.0 GiB of the ledger to load large key"
	if a.Reason != want {
		t.Errorf("the reason is\n%s\nwant\n%s", a.Reason, want)
	}
	if err := check.Err(check.Run(a.Stream(s))); err != nil {
		t.Errorf("the history breaks checkers: %v", err)
	}
	s.Jobs = 2
	if a := search(t, s); a.Verdict != reach.Clear {
		t.Errorf("with two jobs: %s: %s", a.Verdict, a.Reason)
	}
}

func TestDataFirstDoesNotHoldAndWait(t *testing.T) {
	if a := search(t, holdAndWait(model.ResidentFirst)); a.Verdict != reach.Clear {
		t.Errorf("%s: %s", a.Verdict, a.Reason)
	}
}

// A job that has reserved for all its partitions goes on past one that is refused, although that was ready before it:
// what it holds is what the other waits for.
func TestAPaidJobDoesNotWaitBehindARefusedOne(t *testing.T) {
	for _, order := range []model.Order{model.FIFO, model.ByPriority, model.OldestJobFirst, model.Interleave} {
		s := reach.Space{Config: model.DefaultConfig(1), Jobs: 3}
		s.Config.JobsInFlight, s.Config.Order = 3, order
		s.Config.Resident = []model.Resident{
			{Name: "key", Bytes: 2 * model.GiB, OnDemand: true, Evictable: true, Kinds: []string{"paid"}},
		}
		s.Config.Admission.Budget = &model.Budget{Total: 10 * model.GiB, Kinds: map[string]model.Demand{
			"paid": {Reserve: 3 * model.GiB, AcquireOrder: model.WorkingFirst}, "plain": {Reserve: 6 * model.GiB},
		}}
		s.Kinds = []model.Kind{
			{Name: "paid", Partitions: 2, Stages: short}, {Name: "plain", Partitions: 1, Stages: short, Priority: 1},
		}
		if a := search(t, s); a.Verdict != reach.Clear {
			t.Errorf("%s: %s: %s", order, a.Verdict, a.Reason)
		}
	}
}
