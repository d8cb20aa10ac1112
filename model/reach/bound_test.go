package reach_test

import (
	"fmt"
	"testing"

	"headroom/model"
	"headroom/model/reach"
)

// TestTheStructuralBoundIsReached compares the bound that a configuration states with the most partitions that hold
// vectors in any state, for jobs enough to reach it.
func TestTheStructuralBoundIsReached(t *testing.T) {
	configs, bounded := 0, 0
	grid(func(c model.Config) {
		configs++
		if reachesBound(t, c) > 0 {
			bounded++
		}
	})
	if bounded < 200 {
		t.Errorf("%d of %d configurations have a bound", bounded, configs)
	}
}

// reachesBound searches jobs enough to reach the bound of a configuration, or to be as many where there is none, and
// returns the bound.
func reachesBound(t *testing.T, c model.Config) int {
	t.Helper()
	bound := c.StructuralBound(1).Partitions
	s := reach.Space{Config: c, Jobs: max(bound, 5) + 1, MaxStates: 1_000_000}
	s.Kinds = []model.Kind{{Name: "a", Partitions: 1, Stages: short.With(model.Finish)}}
	a := search(t, s)
	name := fmt.Sprintf("permits %s, %s, synthesis %+v, channel %s, workers %d, split %t, freed %s, budget %+v, batch %+v", c.Admission.Permits,
		c.Admission.Release, c.Synthesis, c.Channel.Capacity, c.Workers(), c.GPU.Split, c.FreeVectors, c.Admission.Budget, c.Batch)
	switch {
	case a.Verdict != reach.Clear:
		t.Errorf("%s: %s: %s", name, a.Verdict, a.Reason)
	case bound > 0 && a.Holding != bound:
		t.Errorf("%s: %d partitions hold vectors at most; the bound is %s", name, a.Holding, a.Bound.Formula)
	case bound == 0 && a.Holding < s.Jobs-1:
		t.Errorf("%s: %d of %d partitions hold vectors at most; no bound is stated", name, a.Holding, s.Jobs)
	}
	return bound
}

// TestTheOtherStructuralBoundsAreReached does the same for synthesis workers, a ledger and batches.
func TestTheOtherStructuralBoundsAreReached(t *testing.T) {
	for _, change := range []func(*model.Config){
		func(c *model.Config) { c.Synthesis = model.Synthesis{MaxParallel: 1} },
		func(c *model.Config) { c.Synthesis = model.Synthesis{MaxParallel: 2, Handoff: 2} },
		func(c *model.Config) { c.Synthesis.MaxParallel, c.Admission.Permits = 2, 3 },
		func(c *model.Config) {
			c.Synthesis.MaxParallel, c.Admission = 2, model.Admission{Permits: 4, Release: model.AfterKernel}
		},
		func(c *model.Config) { c.Admission.Budget = ledger(10, 3, 0) },
		func(c *model.Config) { c.Admission.Budget = ledger(10, 3, 2) },
		func(c *model.Config) { c.Admission.Budget, c.FreeVectors = ledger(10, 3, 2), model.AfterFinish },
		func(c *model.Config) {
			c.Admission.Budget, c.FreeVectors, c.GPU.Split = ledger(10, 3, 2), model.AfterFinish, false
		},
		func(c *model.Config) {
			c.Admission.Budget, c.FreeVectors, c.GPU.Split = ledger(10, 3, 3), model.AfterFinish, false
		},
		func(c *model.Config) {
			c.Admission.Budget, c.Resident = ledger(10, 3, 0), []model.Resident{{Name: "key", Bytes: 4, OnDemand: true}}
		},
		func(c *model.Config) { c.Admission.Permits, c.Batch = 1, &model.Batch{Size: 2, Wait: model.Second} },
		func(c *model.Config) { c.Synthesis.MaxParallel, c.Order = 2, model.Interleave },
	} {
		for _, capacity := range []model.Count{0, 1} {
			c := model.DefaultConfig(1)
			c.JobsInFlight, c.Channel.Capacity, c.GPU.WorkersPerDevice = model.Unbounded, capacity, 1
			change(&c)
			reachesBound(t, c)
		}
	}
}

func ledger(total, reserve, afterKernel model.Bytes) *model.Budget {
	return &model.Budget{Total: total, Kinds: map[string]model.Demand{"a": {Reserve: reserve, ReleaseAfterKernel: afterKernel}}}
}

// grid goes through small configurations of permits.
func grid(visit func(model.Config)) {
	for permits := model.Count(1); permits <= 3; permits++ {
		for capacity := model.Count(0); capacity <= 3; capacity++ {
			for workers := model.Count(1); workers <= 2; workers++ {
				for _, release := range []model.Release{model.AfterSynthesis, model.AfterSend, model.AfterKernel, model.AfterFinish} {
					for _, free := range []model.Release{model.AfterKernel, model.AfterFinish} {
						for _, split := range []bool{false, true} {
							c := model.DefaultConfig(1)
							c.JobsInFlight = model.Unbounded
							c.Admission = model.Admission{Permits: permits, Release: release}
							c.Channel.Capacity = capacity
							c.GPU.WorkersPerDevice, c.GPU.Split = workers, split
							c.FreeVectors = free
							visit(c)
						}
					}
				}
			}
		}
	}
}
