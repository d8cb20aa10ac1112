package reach

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"headroom/model"
)

// spaces returns small spaces with every knob that decides who waits.
func spaces(n int) []Space {
	rng := rand.New(rand.NewPCG(3, 1))
	count := func(options ...model.Count) model.Count { return options[rng.IntN(len(options))] }
	var list []Space
	for range n {
		c := model.DefaultConfig(1 + rng.IntN(2))
		c.JobsInFlight = count(1, 2, model.Unbounded)
		c.Admission = model.Admission{Permits: count(1, 2, 3), Release: []model.Release{model.AfterSynthesis, model.AfterSend, model.AfterKernel, model.AfterFinish}[rng.IntN(4)]}
		c.Channel.Capacity = count(0, 1, 2)
		c.GPU.WorkersPerDevice = count(1, 2)
		c.GPU.Split = rng.IntN(2) == 0
		if c.GPU.Split {
			c.Finalizers = count(1, model.Unbounded)
		}
		c.Order = []model.Order{model.FIFO, model.FIFO, model.ByPriority, model.OldestJobFirst, model.Interleave}[rng.IntN(5)]
		c.Pool = []model.Pool{model.PoolNone, model.PoolRetain}[rng.IntN(2)]
		c.Synthesis = model.Synthesis{MaxParallel: count(1, 2, model.Unbounded, model.Unbounded), Handoff: count(0, 1)}
		c.FreeVectors = []model.Release{model.AfterKernel, model.AfterFinish}[rng.IntN(2)]
		stages := short
		for _, s := range []model.Stage{model.Parse, model.Prep, model.Tail, model.Finish, model.Dealloc} {
			if rng.IntN(3) == 0 {
				stages = stages.With(s)
			}
		}
		s := Space{Config: c, Jobs: 2, Kinds: []model.Kind{{Name: "a", Partitions: 1 + rng.IntN(2), Stages: stages}}}
		switch rng.IntN(5) {
		case 0:
			s.Failures, s.Cancels = true, true
			s.Kinds[0].Partitions = 1
		case 1:
			s.Kinds = append(s.Kinds, model.Kind{Name: "b", Partitions: 1, Priority: 1, Stages: short})
			s.Kinds[0].Stages = short
			s.Config.Resident = []model.Resident{
				{Name: "x", Bytes: 4, Transient: 1, OnDemand: true, Evictable: true},
				{Name: "y", Bytes: 3, OnDemand: true, Evictable: true, Kinds: []string{"b"}, Acquire: model.AcquirePolling},
			}
			s.Config.Admission.Budget = &model.Budget{Total: 10, EvictionMinIdle: model.Span(rng.IntN(2)), Kinds: map[string]model.Demand{
				"a": {Reserve: 2, ReleaseAfterKernel: 1, AcquireOrder: model.WorkingFirst}, "b": {Reserve: 3},
			}}
		case 2:
			s.Config.Batch = &model.Batch{Size: 2, Wait: model.Second}
		}
		list = append(list, s)
	}
	return list
}

var short = model.StageSet(0).With(model.Synth, model.Kernel)

// TestEqualKeysHaveEqualFutures finds every state twice, by different ways, and compares what can follow: merging
// states by their keys loses nothing.
func TestEqualKeysHaveEqualFutures(t *testing.T) {
	for i, s := range spaces(40) {
		root, err := newNode(&s)
		if err != nil {
			t.Fatal(err)
		}
		first := map[string][]string{string(root.key(nil, &s)): futures(t, root, &s)}
		open := []*node{root}
		met := 0
		for len(open) > 0 && len(first) < 1500 {
			n := open[0]
			open = open[1:]
			for _, in := range n.inputs(&s, nil) {
				next := after(t, n, &in)
				key := string(next.key(nil, &s))
				got := futures(t, next, &s)
				if want, known := first[key]; !known {
					first[key], open = got, append(open, next)
				} else if met++; !slices.Equal(want, got) {
					t.Fatalf("space %d, %+v: two states with one key have %d and %d futures", i, s, len(want), len(got))
				}
			}
		}
		if met == 0 {
			t.Errorf("space %d: no state was found twice", i)
		}
	}
}

func after(t *testing.T, n *node, in *model.Input) *node {
	t.Helper()
	next := &node{core: new(model.Core)}
	n.copyTo(next)
	if _, err := next.step(in, nil); err != nil {
		t.Fatal(err)
	}
	return next
}

// futures returns the keys of all states that are a step away, each once. A timer that is ignored leads nowhere.
func futures(t *testing.T, n *node, s *Space) []string {
	t.Helper()
	var keys []string
	here := string(n.key(nil, s))
	for _, in := range n.inputs(s, nil) {
		if key := string(after(t, n, &in).key(nil, s)); key != here {
			keys = append(keys, fmt.Sprint(in.Op)+key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// histories follows every history to its end, one by one, and returns how many there are and the most partitions that
// held vectors in any.
func histories(t *testing.T, n *node, s *Space) (count, holding int) {
	t.Helper()
	holding = n.holding(s)
	for _, in := range n.inputs(s, nil) {
		c, h := histories(t, after(t, n, &in), s)
		count, holding = count+c, max(holding, h)
	}
	return max(count, 1), holding
}

// TestASearchSeesWhatEveryHistoryShows compares a search with following all histories without any merging.
func TestASearchSeesWhatEveryHistoryShows(t *testing.T) {
	compared := 0
	for i, s := range spaces(40) {
		// More of anything, and there are too many histories.
		s.Failures, s.Cancels = false, false
		s.Config.Admission.Budget, s.Config.Resident, s.Config.Batch = nil, nil, nil
		s.Kinds = []model.Kind{{Name: "a", Partitions: 1, Stages: short.With(model.Finish)}}
		s.Jobs = 2 + i%2
		root, err := newNode(&s)
		if err != nil {
			t.Fatal(err)
		}
		count, holding := histories(t, root, &s)
		a, err := Search(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Verdict != Clear || a.Holding != holding {
			t.Errorf("space %d: %s with at most %d holding; %d histories show %d", i, a.Verdict, a.Holding, count, holding)
		}
		compared += count
	}
	if compared < 500 {
		t.Errorf("only %d histories were compared", compared)
	}
}
