package calibrate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"headroom/model"
	"headroom/model/profile"
)

// family is a form of interference with free numbers, one for each of its terms.
type family struct {
	cores  float64 // of the machine; 0: not known
	shared bool    // all stages share cores, of which each runner asks for one unless a term says otherwise
	terms  []term
}

// term is what one of the free numbers says: with no stage the capacity of the cores, with one stage how much of them
// a runner asks for, with two by what factor runners of the second slow the first.
type term struct {
	stage, by model.Stage
	// doubling: the factor is that of twice as many runners, a stage itself counted beside those of another. So it is
	// where stages wait for memory, caches or the kernel more than for a core: the first runners cost most. Otherwise the
	// factor is that of one more runner, and each costs as much.
	doubling bool
}

// with returns the family with one more term.
func (f *family) with(t term) *family {
	g := *f
	g.terms = append(slices.Clone(f.terms), t)
	return &g
}

// expected is what one believes of a number before looking: nobody slows anybody but by taking a core.
func (f *family) expected(t term) float64 {
	if t == (term{}) && f.cores > 0 {
		return f.cores
	}
	return 1
}

// start returns the numbers to search from.
func (f *family) start() []float64 {
	x := make([]float64, len(f.terms))
	for i, t := range f.terms {
		x[i] = f.expected(t)
	}
	return x
}

// clamp returns the nearest numbers that make sense and the squared distance to them: a slowdown never speeds up, and
// there are no more cores than the machine has.
func (f *family) clamp(x []float64) (inside []float64, distance float64) {
	inside = make([]float64, len(x))
	for i, v := range x {
		low, high := 0.1, 20.0
		switch t := f.terms[i]; {
		case t.by != model.NoStage:
			low = 1
		case f.cores > 0:
			high = f.cores
		}
		inside[i] = max(low, min(high, v))
		distance += (v - inside[i]) * (v - inside[i])
	}
	return inside, distance
}

// interference returns the laws that the numbers stand for. Numbers without a standard error have no interval.
func (f *family) interference(x, errors []float64) profile.Interference {
	var in profile.Interference
	cores := profile.Resource{
		Name: "cores", Capacity: profile.Exactly(f.cores), Demand: map[model.Stage]profile.Quantity[float64]{},
	}
	for s := model.Parse; s < model.NumStages; s++ {
		cores.Demand[s] = profile.Exactly(1.0)
	}
	for i, t := range f.terms {
		// quantity is a function of the number with that value and slope.
		quantity := func(value, slope float64) profile.Quantity[float64] {
			if errors == nil {
				return profile.Exactly(value)
			}
			return ranged(value, errors[i]*slope)
		}
		switch {
		case t.by != model.NoStage:
			points := f.points(t, x[i], quantity)
			in.Slowdowns = append(in.Slowdowns, profile.Slowdown{Stage: t.stage, By: t.by, Points: points})
		case t.stage != model.NoStage:
			cores.Demand[t.stage] = quantity(x[i], 1)
		default:
			cores.Capacity = quantity(x[i], 1)
		}
	}
	if f.shared {
		in.Resources = []profile.Resource{cores}
	}
	return in
}

// points returns the points of a slowdown with the number x. Where the cores are known it grows until there is a runner
// on each, since more do not run at once.
func (f *family) points(t term, x float64, quantity func(value, slope float64) profile.Quantity[float64]) []profile.SlowdownPoint {
	least := 0 // runners, which slow nobody
	if t.stage == t.by {
		least = 1
	}
	most := max(1, int(f.cores)-1) // more than those
	var points []profile.SlowdownPoint
	add := func(more int, value, slope float64) {
		points = append(points, profile.SlowdownPoint{N: least + more, Factor: quantity(value, slope)})
	}
	if !t.doubling {
		add(most, 1+(x-1)*float64(most), float64(most))
	}
	for together := 2; t.doubling && together < 2*(most+1); together *= 2 {
		more := min(together-1, most)
		doublings := math.Log2(float64(1 + more))
		value := math.Pow(x, doublings)
		add(more, value, doublings*value/x)
	}
	if last := points[len(points)-1]; f.cores > 0 {
		points = append(points, profile.SlowdownPoint{N: last.N + 1, Factor: last.Factor})
	}
	return points
}

// observation is the work of one interval under some numbers. That of a batch is the work for each of its proofs, each
// of which takes as long as the first.
type observation struct {
	group   int     // intervals of one kind, stage and block
	cluster int     // the job that it belongs to
	log     float64 // logarithm of the work for one proof
	speed   float64 // logarithm of the stage's speed when it ended
}

// evidence is what the busy intervals say of the interference: under the right one the work of a stage does not
// depend on the company it had.
type evidence struct {
	histories []*history
	companies *companies
	until     []int // by history: the segments from here on are not needed
	groups    int
	clusters  int
	members   []member
	unsettled []string // families whose numbers still moved when the search for them was given up
}

// member is an interval that is an observation.
type member struct {
	history        int
	interval       *interval
	group, cluster int
}

// numbering numbers things in the order in which they come.
type numbering[K comparable] map[K]int

func (n numbering[K]) of(k K) int {
	i, known := n[k]
	if !known {
		i = len(n)
		n[k] = i
	}
	return i
}

// newEvidence collects the intervals that count, of the first jobs of each history up to a number.
func newEvidence(histories []*history, jobs int) *evidence {
	e := &evidence{histories: histories, companies: newCompanies(histories), until: make([]int, len(histories))}
	type group struct {
		kind  int
		stage model.Stage
		block model.Block
	}
	type cluster struct {
		history int
		job     int32
	}
	groups, clusters := numbering[group]{}, numbering[cluster]{}
	for h := range histories {
		for i := range histories[h].busy {
			b := &histories[h].busy[i]
			if !b.counts || int(b.job) >= jobs {
				continue
			}
			e.until[h] = max(e.until[h], b.last+1)
			e.members = append(e.members, member{
				history: h, interval: b,
				group: groups.of(group{b.kind, b.stage, b.block}), cluster: clusters.of(cluster{h, b.job}),
			})
		}
	}
	e.groups, e.clusters = len(groups), len(clusters)
	return e
}

// observe returns the work of every member under an interference.
func (e *evidence) observe(in profile.Interference) []observation {
	speeds := e.companies.speeds(in)
	clocks := make([]clock, len(e.histories))
	for h := range clocks {
		clocks[h] = e.companies.clock(h, e.histories[h].timeline.at[:e.until[h]], speeds)
	}
	logs := speeds // which the clocks needed as they were
	for i := range logs {
		for s, speed := range logs[i] {
			logs[i][s] = math.Log(speed)
		}
	}
	out := make([]observation, len(e.members))
	for i, m := range e.members {
		company := e.companies.of[m.history][m.interval.last-1]
		out[i] = observation{
			group: m.group, cluster: m.cluster,
			log:   math.Log(clocks[m.history].work(m.interval) / float64(m.interval.proofs)),
			speed: logs[company][m.interval.stage],
		}
	}
	return out
}

// moments are the number of observations of each group, and the mean and the standard deviation of their logarithms.
type moments struct{ n, mean, deviation []float64 }

// leastDeviation keeps groups of constant work from claiming infinite evidence.
const leastDeviation = 1e-3

func (e *evidence) moments(o []observation, use func(cluster int) bool) moments {
	m := moments{make([]float64, e.groups), make([]float64, e.groups), make([]float64, e.groups)}
	for i := range o {
		if use(o[i].cluster) {
			m.n[o[i].group]++
			m.mean[o[i].group] += o[i].log
		}
	}
	for g, n := range m.n {
		m.mean[g] /= max(1, n)
	}
	for i := range o {
		if use(o[i].cluster) {
			d := o[i].log - m.mean[o[i].group]
			m.deviation[o[i].group] += d * d
		}
	}
	for g, n := range m.n {
		m.deviation[g] = math.Sqrt(m.deviation[g]/max(1, n) + leastDeviation*leastDeviation)
	}
	return m
}

// logLikelihood returns the logarithm of an observation's density; 0 where too little is known of its group. The
// hazard of ending is that of the lognormal work times the speed, hence the speed at the end.
func (m *moments) logLikelihood(o *observation) float64 {
	if m.n[o.group] < 2 {
		return 0
	}
	d := (o.log - m.mean[o.group]) / m.deviation[o.group]
	return o.speed - o.log - math.Log(m.deviation[o.group]) - d*d/2
}

// priorWidth is the standard deviation of the logarithms of the free numbers about what one believes in before
// looking: wide enough not to matter where the traces say anything.
const priorWidth = 0.5

// loss is minus the logarithm of the likelihood of the clusters in use, with the deviations of the groups profiled
// out, and of the prior.
func (e *evidence) loss(f *family, x []float64, use func(cluster int) bool) float64 {
	inside, outside := f.clamp(x)
	o := e.observe(f.interference(inside, nil))
	m := e.moments(o, use)
	loss := 0.0
	for i := range o {
		if use(o[i].cluster) {
			loss -= m.logLikelihood(&o[i])
		}
	}
	for i, v := range inside {
		z := math.Log(v/f.expected(f.terms[i])) / priorWidth
		loss += z * z / 2
	}
	return loss + 1e3*outside
}

// mostSteps bounds the search for the numbers of a family.
const mostSteps = 400

// fit returns the numbers of the family under which the clusters in use are likeliest, and notes a search that was
// given up before they settled.
func (e *evidence) fit(f *family, from []float64, use func(cluster int) bool) ([]float64, error) {
	if len(f.terms) == 0 {
		return nil, nil
	}
	problem := optimize.Problem{Func: func(x []float64) float64 { return e.loss(f, x, use) }}
	settings := &optimize.Settings{
		MajorIterations: mostSteps,
		Converger:       &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 20},
	}
	result, err := optimize.Minimize(problem, from, settings, &optimize.NelderMead{SimplexSize: 0.1})
	if err != nil {
		return nil, fmt.Errorf("calibrate: %q cannot be fitted: %w", f, err)
	}
	if name := f.String(); result.Status != optimize.FunctionConvergence && !slices.Contains(e.unsettled, name) {
		e.unsettled = append(e.unsettled, name)
	}
	x, _ := f.clamp(result.X)
	return x, nil
}
