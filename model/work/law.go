package work

import (
	"cmp"
	"math"
	"slices"

	"headroom/model"
	"headroom/model/profile"
)

// laws turns the numbers of running stages into slowdowns.
type laws struct {
	// depends tells for each stage whose numbers its slowdown depends on; none for a stage of constant speed.
	depends   [model.NumStages]model.StageSet
	slowdowns [model.NumStages][]law
	resources []resource
}

// law is a slowdown law: its points, of which the first is where it begins, and the slope with which it goes on: the
// last one if it rises, else none, since a falling line would end at a negative slowdown. What it says of few runners is
// tabulated, since it is asked for at every event.
type law struct {
	by     model.Stage
	points []profile.SlowdownPoint
	slope  float64
	table  []float64
}

// mostTabulated bounds the table of a law, whose points may lie at a million runners.
const mostTabulated = 1 << 10

type resource struct {
	capacity float64
	demand   [model.NumStages]float64
	order    []model.Stage // those with a demand, the smallest first
}

func newLaws(in profile.Interference) *laws {
	l := &laws{}
	for _, s := range in.Slowdowns {
		l.depends[s.Stage] = l.depends[s.Stage].With(s.By)
		l.slowdowns[s.Stage] = append(l.slowdowns[s.Stage], newLaw(s))
	}
	for _, r := range in.Resources {
		l.add(r)
	}
	return l
}

// newLaw compiles a slowdown law. It begins with no slowdown at one runner of the stage itself, or at none of another
// stage.
func newLaw(s profile.Slowdown) law {
	start := profile.SlowdownPoint{Factor: profile.Exactly(1.0)}
	if s.By == s.Stage {
		start.N = 1
	}
	l := law{by: s.By, points: s.Points}
	if l.points[0].N > start.N {
		l.points = slices.Insert(slices.Clone(l.points), 0, start)
	}
	last := len(l.points) - 1
	if last > 0 {
		l.slope = max(slope(&l.points[last-1], &l.points[last]), 0)
	}
	for n := range min(l.points[last].N+1, mostTabulated) {
		l.table = append(l.table, l.at(n))
	}
	return l
}

func (l *law) factor(n int32) float64 {
	if int(n) < len(l.table) {
		return l.table[n]
	}
	return l.at(int(n))
}

// at returns the factor at n runners, at fewer than the law begins with that of its begin.
func (l *law) at(n int) float64 {
	last := len(l.points) - 1
	to, _ := slices.BinarySearchFunc(l.points, n, func(p profile.SlowdownPoint, n int) int { return cmp.Compare(p.N, n) })
	switch {
	case to == 0:
		return l.points[0].Factor.Value
	case to > last:
		return l.at(l.points[last].N) + l.slope*float64(n-l.points[last].N)
	}
	from := &l.points[to-1]
	return from.Factor.Value + slope(from, &l.points[to])*float64(n-from.N)
}

// slope is that of a law between two of its points.
func slope(from, to *profile.SlowdownPoint) float64 {
	return (to.Factor.Value - from.Factor.Value) / float64(to.N-from.N)
}

func (l *laws) add(r profile.Resource) {
	compiled := resource{capacity: r.Capacity.Value}
	var users model.StageSet
	for s := model.Parse; s < model.NumStages; s++ {
		if d, ok := r.Demand[s]; ok && d.Value > 0 {
			compiled.demand[s] = d.Value
			compiled.order = append(compiled.order, s)
			users = users.With(s)
		}
	}
	slices.SortStableFunc(compiled.order, func(a, b model.Stage) int {
		return cmp.Compare(compiled.demand[a], compiled.demand[b])
	})
	for _, s := range compiled.order {
		l.depends[s] |= users
	}
	l.resources = append(l.resources, compiled)
}

// slowdown returns by what factor the stage is slowed when n of each stage run.
func (l *laws) slowdown(s model.Stage, n *[model.NumStages]int32) float64 {
	factor := 1.0
	for i := range l.slowdowns[s] {
		law := &l.slowdowns[s][i]
		factor *= law.factor(n[law.by])
	}
	share := 1.0
	for i := range l.resources {
		r := &l.resources[i]
		if d := r.demand[s]; d > 0 {
			share = max(share, d/min(d, r.level(n)))
		}
	}
	return factor * share
}

// fixed returns that factor in fixed point, as clocks run by it.
func (l *laws) fixed(s model.Stage, n *[model.NumStages]int32) uint64 {
	return uint64(model.Nearest(min(max(l.slowdown(s, n), leastSlowdown), mostSlowdown) * one))
}

// Slowdowns tells by what factors stages that run at once slow each other.
type Slowdowns struct{ laws *laws }

// NewSlowdowns returns the slowdowns of an interference, which must be valid (profile.Validate).
func NewSlowdowns(in profile.Interference) Slowdowns { return Slowdowns{newLaws(in)} }

// Of returns by what factor each stage is slowed when so many of each run, exactly as Clocks have it; 0 for a stage that
// does not run.
func (s Slowdowns) Of(running *[model.NumStages]int32) (factors [model.NumStages]float64) {
	for stage, n := range running {
		if n > 0 {
			factors[stage] = float64(s.laws.fixed(model.Stage(stage), running)) / one
		}
	}
	return factors
}

// level is the most that a runner can get of the resource when it is divided max-min fairly: small demands are
// met, the others share what is left equally. It is infinite when every demand is met.
func (r *resource) level(n *[model.NumStages]int32) float64 {
	left, runners := r.capacity, 0.0
	for _, s := range r.order {
		runners += float64(n[s])
	}
	for _, s := range r.order {
		if runners == 0 {
			break
		}
		if r.demand[s]*runners > left {
			return left / runners
		}
		left -= r.demand[s] * float64(n[s])
		runners -= float64(n[s])
	}
	return math.Inf(1)
}
