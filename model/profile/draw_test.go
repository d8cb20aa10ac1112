package profile

import (
	"math"
	"slices"
	"testing"

	"headroom/model"
)

// A level stretch of a slowdown law is one number: a draw moves it as a whole and never tilts it, or what lies
// beyond its last point would run away.
func TestALevelStretchStaysLevelInADraw(t *testing.T) {
	level := Quantity[float64]{Value: 1.2, Low: 1.1, High: 1.3}
	p := &Profile{Interference: Interference{Slowdowns: []Slowdown{{
		Stage: model.Kernel, By: model.Synth, Points: []SlowdownPoint{{N: 1, Factor: level}, {N: 2, Factor: level}},
	}}}}
	var drawn []float64
	for r := range uint32(2000) {
		points := p.Draw(1, r+1).Interference.Slowdowns[0].Points
		if points[0].Factor != points[1].Factor {
			t.Fatalf("replication %d drew %v and %v", r+1, points[0].Factor, points[1].Factor)
		}
		drawn = append(drawn, points[0].Factor.Value)
	}
	slices.Sort(drawn)
	for _, q := range []struct{ part, want float64 }{{0.025, 1.1}, {0.5, 1.2}, {0.975, 1.3}} {
		if got := drawn[int(q.part*float64(len(drawn)))]; math.Abs(got-q.want) > 0.01 {
			t.Errorf("quantile %v of the draws is %v, want about %v", q.part, got, q.want)
		}
	}
}

// What has no interval is not moved, and replications differ in what has one.
func TestADrawMovesOnlyWhatHasAnInterval(t *testing.T) {
	p := &Profile{Kinds: []Kind{{Name: "a", Work: map[model.Stage]Work{
		model.Synth:  {Law: Constant, Mean: Exactly(model.Second)},
		model.Kernel: {Law: Constant, Mean: Quantity[model.Span]{Value: model.Second, Low: model.Second / 2, High: 2 * model.Second}},
	}}}}
	a, b := p.Draw(1, 1).Kinds[0].Work, p.Draw(1, 2).Kinds[0].Work
	if a[model.Synth] != p.Kinds[0].Work[model.Synth] {
		t.Errorf("synth was moved to %+v", a[model.Synth])
	}
	if a[model.Kernel].Mean.Value == b[model.Kernel].Mean.Value {
		t.Errorf("two replications drew the same kernel: %v", a[model.Kernel].Mean.Value)
	}
	if again := p.Draw(1, 1).Kinds[0].Work[model.Kernel]; again != a[model.Kernel] {
		t.Errorf("the same replication drew %+v and %+v", a[model.Kernel], again)
	}
}

// The part of a block that is held while it is freed stays a part in every draw.
func TestAPartStaysAPartInADraw(t *testing.T) {
	freeing := Quantity[float64]{Value: 0.6, Low: 0, High: 1}
	p := &Profile{Kinds: []Kind{{Name: "a", Footprint: Footprint{Freeing: &freeing}}}}
	seen := map[float64]bool{}
	for r := range uint32(500) {
		part := p.Draw(1, r+1).Kinds[0].Footprint.Freeing.Value
		if !(part >= 0 && part <= 1) {
			t.Fatalf("replication %d drew %v", r+1, part)
		}
		seen[part] = true
	}
	if !seen[0] || !seen[1] || len(seen) < 100 {
		t.Errorf("%d different parts, 0 among them: %t, 1: %t", len(seen), seen[0], seen[1])
	}
	if freeing.Value != 0.6 {
		t.Errorf("a draw changed the profile: %v", freeing.Value)
	}
}
