package calibrate

import (
	"math"

	"gonum.org/v1/gonum/optimize"

	"headroom/model"
	"headroom/model/profile"
)

// family is a form of interference with free numbers: a capacity of cores that all stages share, each runner asking
// for one, and slowdowns of one stage by another on top.
type family struct {
	cores    float64 // of the machine; 0: not known
	shared   bool    // the cores are shared at all
	capacity bool    // their capacity is free, and not the machine's
	pairs    []pair
}

// pair is a slowdown of one stage by another. Its number is the factor with one more runner of by.
type pair struct{ stage, by model.Stage }

// size returns how many free numbers the family has: the capacity if it is free, then one for each pair.
func (f *family) size() int {
	n := len(f.pairs)
	if f.capacity {
		n++
	}
	return n
}

// with returns the family with one more pair.
func (f *family) with(p pair) *family {
	g := *f
	g.pairs = append(f.pairs[:len(f.pairs):len(f.pairs)], p)
	return &g
}

// start returns the numbers to search from.
func (f *family) start() []float64 {
	x := make([]float64, f.size())
	for i := range x {
		x[i] = 1.05
	}
	if f.capacity {
		x[0] = f.expected()
	}
	return x
}

// expected is the capacity that one believes in before looking.
func (f *family) expected() float64 {
	if f.cores > 0 {
		return f.cores
	}
	return 1
}

// least and most bound the free numbers: a slowdown never speeds up, and there are no more cores than the machine has.
const (
	leastCapacity = 0.5
	mostFactor    = 20
)

// clamp returns the nearest numbers within bounds and the squared distance to them.
func (f *family) clamp(x []float64) (inside []float64, distance float64) {
	inside = make([]float64, len(x))
	for i, v := range x {
		low, high := 1.0, float64(mostFactor)
		if f.capacity && i == 0 {
			low, high = leastCapacity, math.Inf(1)
			if f.cores > 0 {
				high = f.cores
			}
		}
		inside[i] = max(low, min(high, v))
		distance += (v - inside[i]) * (v - inside[i])
	}
	return inside, distance
}

// interference returns the laws that the numbers stand for.
func (f *family) interference(x []float64) profile.Interference {
	var in profile.Interference
	capacity := f.cores
	if f.capacity {
		capacity, x = x[0], x[1:]
	}
	if f.shared {
		r := profile.Resource{Name: "cores", Demand: map[model.Stage]profile.Quantity[float64]{}}
		r.Capacity = profile.Exactly(capacity)
		for s := model.Parse; s < model.NumStages; s++ {
			r.Demand[s] = profile.Exactly(1.0)
		}
		in.Resources = []profile.Resource{r}
	}
	for i, p := range f.pairs {
		in.Slowdowns = append(in.Slowdowns, profile.Slowdown{Stage: p.stage, By: p.by, Points: f.points(p, x[i])})
	}
	return in
}

// points returns a slowdown that grows with every runner until there is one on each core, and not beyond: more do
// not run at once.
func (f *family) points(p pair, factor float64) []profile.SlowdownPoint {
	first := 1
	if p.stage == p.by {
		first = 2
	}
	point := func(n int, factor float64) profile.SlowdownPoint {
		return profile.SlowdownPoint{N: n, Factor: profile.Exactly(factor)}
	}
	if f.cores == 0 {
		return []profile.SlowdownPoint{point(first, factor)}
	}
	most := max(1, int(f.cores)-1) // others on the other cores
	last := 1 + (factor-1)*float64(most)
	return []profile.SlowdownPoint{point(first+most-1, last), point(first+most, last)}
}

// observation is the work of one interval under some numbers.
type observation struct {
	group   int     // intervals of one kind, stage and block
	cluster int     // the job that it belongs to
	log     float64 // logarithm of the work
	speed   float64 // logarithm of the stage's speed when it ended
}

// evidence is what the busy intervals say of the interference: under the right one the work of a stage does not
// depend on the company it had.
type evidence struct {
	histories []*history
	companies *companies
	groups    int
	clusters  int
	members   []member
}

// member is an interval that is an observation.
type member struct {
	history        int
	interval       *interval
	group, cluster int
}

// newEvidence collects the intervals that count.
func newEvidence(histories []*history) *evidence {
	e := &evidence{histories: histories, companies: newCompanies(histories)}
	type group struct {
		kind  int
		stage model.Stage
		block model.Block
	}
	groups, clusters := map[group]int{}, map[[2]int]int{}
	number := func(known bool, n, next int) int {
		if known {
			return n
		}
		return next
	}
	for h := range histories {
		for i := range histories[h].busy {
			b := &histories[h].busy[i]
			if !b.counts {
				continue
			}
			g, job := group{b.kind, b.stage, b.block}, [2]int{h, int(b.job)}
			n, known := groups[g]
			groups[g] = number(known, n, len(groups))
			n, known = clusters[job]
			clusters[job] = number(known, n, len(clusters))
			e.members = append(e.members, member{h, b, groups[g], clusters[job]})
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
		clocks[h] = e.companies.clock(h, &e.histories[h].timeline, speeds)
	}
	out := make([]observation, len(e.members))
	for i, m := range e.members {
		company := e.companies.of[m.history][m.interval.last-1]
		out[i] = observation{
			group: m.group, cluster: m.cluster,
			log:   math.Log(clocks[m.history].work(m.interval)),
			speed: math.Log(speeds[company][m.interval.stage]),
		}
	}
	return out
}

// moments are the mean and the standard deviation of the logarithm of the work in each group.
type moments struct{ mean, deviation []float64 }

// leastDeviation keeps groups of constant work from claiming infinite evidence.
const leastDeviation = 1e-3

func (e *evidence) moments(o []observation, use func(cluster int) bool) moments {
	n, sum := make([]float64, e.groups), make([]float64, e.groups)
	for i := range o {
		if use(o[i].cluster) {
			n[o[i].group]++
			sum[o[i].group] += o[i].log
		}
	}
	m := moments{sum, make([]float64, e.groups)}
	for g := range n {
		m.mean[g] /= max(1, n[g])
	}
	for i := range o {
		if use(o[i].cluster) {
			d := o[i].log - m.mean[o[i].group]
			m.deviation[o[i].group] += d * d
		}
	}
	for g := range n {
		m.deviation[g] = math.Sqrt(m.deviation[g]/max(1, n[g]) + leastDeviation*leastDeviation)
	}
	return m
}

// logLikelihood returns the logarithm of an observation's density. The hazard of ending is that of the lognormal work
// times the speed, hence the speed at the end.
func (m *moments) logLikelihood(o *observation) float64 {
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
	o := e.observe(f.interference(inside))
	m := e.moments(o, use)
	loss := 0.0
	for i := range o {
		if use(o[i].cluster) {
			loss -= m.logLikelihood(&o[i])
		}
	}
	for i, v := range inside {
		if f.capacity && i == 0 {
			v /= f.expected()
		}
		z := math.Log(v) / priorWidth
		loss += z * z / 2
	}
	return loss + 1e3*outside
}

// fit returns the numbers of the family under which the clusters in use are likeliest, and the loss there.
func (e *evidence) fit(f *family, from []float64, use func(cluster int) bool) ([]float64, float64) {
	if f.size() == 0 {
		return nil, e.loss(f, nil, use)
	}
	problem := optimize.Problem{Func: func(x []float64) float64 { return e.loss(f, x, use) }}
	settings := &optimize.Settings{
		MajorIterations: 400,
		Converger:       &optimize.FunctionConverge{Absolute: 1e-4, Iterations: 20},
	}
	result, err := optimize.Minimize(problem, from, settings, &optimize.NelderMead{SimplexSize: 0.1})
	if result == nil || err != nil {
		// NelderMead fails only on a loss that is not a number, which positive work never gives.
		panic("calibrate: minimize: " + err.Error())
	}
	x, _ := f.clamp(result.X)
	return x, result.F
}
