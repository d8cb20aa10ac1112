package sim_test

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// This file holds what relations between runs need: plans changed in one respect, and comparisons.

// leastGap returns the shortest time between two steps after the first instant.
func leastGap(records []model.Record) model.Span {
	least := model.MaxSpan
	for i := 1; i < len(records); i++ {
		if records[i].At > 0 {
			least = min(least, records[i].At.Sub(records[i-1].At))
		}
	}
	return least
}

// durations returns how long each stage of a run took.
func durations(records []model.Record) map[string]model.Span {
	took := map[string]model.Span{}
	begun := map[model.Task]model.Effect{}
	for _, r := range records {
		if r.Input.Op == model.Done {
			e := begun[r.Input.Task]
			took[fmt.Sprint(e.Job, e.Partition, stageName(e.Task.Stage, e.Task.Block))] = r.End.Sub(r.Begin)
		}
		for _, e := range r.Effects {
			if e.Op == model.Start {
				begun[e.Task] = e
			}
		}
	}
	return took
}

func partitionsOf(p sim.Plan) int {
	n := 0
	for _, s := range p.Workload.Shares {
		n += s.Jobs * p.Profile.Kind(s.Kind).Partitions
	}
	return n
}

// eachKind returns a copy of the profile with its kinds changed. Maps of the kinds must be replaced, not changed.
func eachKind(p *profile.Profile, change func(*profile.Kind)) *profile.Profile {
	out := *p
	out.Kinds = slices.Clone(p.Kinds)
	for i := range out.Kinds {
		change(&out.Kinds[i])
	}
	return &out
}

// longer returns the profile with k times the work.
func longer(p *profile.Profile, k int64) *profile.Profile {
	return eachKind(p, func(kind *profile.Kind) {
		kind.Work = maps.Clone(kind.Work)
		for s, w := range kind.Work {
			w.Mean.Value *= model.Span(k)
			kind.Work[s] = w
		}
	})
}

// larger returns the profile with k times the bytes.
func larger(p *profile.Profile, k int64) *profile.Profile {
	times := func(q profile.Quantity[model.Bytes]) profile.Quantity[model.Bytes] {
		return profile.Exactly(q.Value * model.Bytes(k))
	}
	out := eachKind(p, func(kind *profile.Kind) {
		f := &kind.Footprint
		f.Parse, f.Vectors, f.Assignment, f.Call = times(f.Parse), times(f.Vectors), times(f.Assignment), times(f.Call)
		f.During = maps.Clone(f.During)
		for s, points := range f.During {
			points = slices.Clone(points)
			for i := range points {
				points[i].Bytes = times(points[i].Bytes)
			}
			f.During[s] = points
		}
	})
	out.Baseline = times(p.Baseline)
	out.Resident = slices.Clone(p.Resident)
	for i := range out.Resident {
		out.Resident[i].Bytes *= model.Bytes(k)
	}
	return out
}

// rampError bounds how far two evaluations of one sum of ramps can be apart: two times 2^-21 bytes for each
// nanosecond of the longest work and each stage that may run, of which there are at most fifty.
func rampError(p *profile.Profile) int64 {
	longest := model.Span(0)
	for _, k := range p.Kinds {
		for _, w := range k.Work {
			longest = max(longest, w.Mean.Value)
		}
	}
	return 50 * (2*int64(longest)>>21 + 2)
}

func near(t rapid.TB, what string, got, want, slack int64) {
	if math.Abs(float64(got-want)) > float64(slack) {
		t.Fatalf("%s is %d, want %d within %d", what, got, want, slack)
	}
}

func sameRecords(t *rapid.T, want, got []model.Record) {
	if reflect.DeepEqual(want, got) {
		return // which is known in a tenth of the time that it takes to say what differs
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the records differ (-want +got):\n%s", diff)
	}
}

func sameResult(t *rapid.T, want, got *sim.Result, options ...cmp.Option) {
	if diff := cmp.Diff(want, got, append(options, cmpopts.EquateNaNs())...); diff != "" {
		t.Fatalf("the results differ (-want +got):\n%s", diff)
	}
}
