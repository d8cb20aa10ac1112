package reach_test

import (
	"fmt"
	"os"
	"testing"

	"headroom/model"
	"headroom/model/reach"
)

// everywhere says that the whole grid of TestTheStructuralBoundIsReached is wanted, which takes minutes:
// HEADROOM_LONG=1 go test -run Structural ./model/reach
var everywhere = os.Getenv("HEADROOM_LONG") != ""

// TestTheStructuralBoundIsReached compares the bound that a configuration states with the most partitions that hold
// vectors in any state, for jobs enough to reach it.
func TestTheStructuralBoundIsReached(t *testing.T) {
	configs, bounded := 0, 0
	grid(func(c model.Config) {
		if configs++; configs%13 != 0 && !everywhere {
			return
		}
		bound := c.StructuralBound(1).Partitions
		s := reach.Space{Config: c, Jobs: max(bound, 5) + 1, MaxStates: 1_000_000}
		s.Kinds = []model.Kind{{Name: "a", Partitions: 1, Stages: short.With(model.Finish)}}
		a := search(t, s)
		name := fmt.Sprintf("permits %s, %s, channel %s, workers %d, split %t, freed %s", c.Admission.Permits, c.Admission.Release,
			c.Channel.Capacity, c.Workers(), c.GPU.Split, c.FreeVectors)
		switch {
		case a.Verdict != reach.Clear:
			t.Errorf("%s: %s: %s", name, a.Verdict, a.Reason)
		case bound > 0 && a.Holding != bound:
			t.Errorf("%s: %d partitions hold vectors at most; the bound is %s", name, a.Holding, a.Bound.Formula)
		case bound == 0 && a.Holding < s.Jobs-1:
			t.Errorf("%s: %d of %d partitions hold vectors at most; no bound is stated", name, a.Holding, s.Jobs)
		}
		if bound > 0 {
			bounded++
		}
	})
	if bounded < 10 {
		t.Errorf("%d of %d configurations have a bound", bounded, configs)
	}
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
