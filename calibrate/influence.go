package calibrate

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// influence says what each job did to the fitted numbers of the interference: the shift that it caused, to first
// order. Sums of squares over the jobs are the numbers' covariance, whatever the likelihood gets wrong within a job:
// the sandwich estimator (Huber 1967, "The behavior of maximum likelihood estimates under nonstandard conditions"),
// clustered by jobs.
type influence struct {
	shifts       [][]float64 // by number and cluster
	steps        []float64   // of the numbers' finite differences
	below, above [][]observation
}

// relativeStep is the finite difference: far above rounding, far below the distance of kinks.
const relativeStep = 1e-3

func (e *evidence) influence(t *tried) (*influence, error) {
	p := len(t.x)
	in := &influence{steps: make([]float64, p), shifts: make([][]float64, p)}
	for k, v := range t.x {
		in.steps[k] = relativeStep * v
		in.below = append(in.below, e.observe(t.family.interference(shifted(t.x, k, -in.steps[k]), nil)))
		in.above = append(in.above, e.observe(t.family.interference(shifted(t.x, k, in.steps[k]), nil)))
		in.shifts[k] = make([]float64, e.clusters)
	}
	if p == 0 {
		return in, nil
	}
	var curvature mat.Cholesky
	curvature.Factorize(e.curvature(t, in)) // the prior makes it positive definite
	scores := make([][]float64, p)
	for k := range scores {
		scores[k] = e.scores(in.above[k])
		for c, below := range e.scores(in.below[k]) {
			scores[k][c] = (scores[k][c] - below) / (2 * in.steps[k])
		}
	}
	for c := range e.clusters {
		score, shift := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil)
		for k := range p {
			score.SetVec(k, scores[k][c])
		}
		if err := curvature.SolveVecTo(shift, score); err != nil {
			return nil, fmt.Errorf("calibrate: the numbers of %q cannot be told apart: %w", t.family, err)
		}
		for k := range p {
			in.shifts[k][c] = shift.AtVec(k)
		}
	}
	return in, nil
}

// curvature is the second derivative of the loss by Gauss and Newton: how the numbers move the works of one group
// apart, in units of the group's spread.
func (e *evidence) curvature(t *tried, in *influence) *mat.SymDense {
	p := len(t.x)
	m := e.moments(e.observe(t.family.interference(t.x, nil)), everyone)
	slopes := mat.NewDense(len(e.members), p, nil)
	for k := range p {
		mean, n := make([]float64, e.groups), make([]float64, e.groups)
		slope := make([]float64, len(e.members))
		for i := range slope {
			slope[i] = (in.above[k][i].log - in.below[k][i].log) / (2 * in.steps[k])
			mean[e.members[i].group] += slope[i]
			n[e.members[i].group]++
		}
		for i := range slope {
			g := e.members[i].group
			slopes.Set(i, k, (slope[i]-mean[g]/n[g])/m.deviation[g])
		}
	}
	var c mat.SymDense
	c.SymOuterK(1, slopes.T())
	for k, v := range t.x {
		c.SetSym(k, k, c.At(k, k)+1/(priorWidth*priorWidth*v*v))
	}
	return &c
}

func shifted(x []float64, k int, by float64) []float64 {
	y := slices.Clone(x)
	y[k] += by
	return y
}

// scores returns the logarithm of the likelihood of each cluster, with the moments of the groups as they then are.
func (e *evidence) scores(o []observation) []float64 {
	m := e.moments(o, everyone)
	scores := make([]float64, e.clusters)
	for i := range o {
		scores[o[i].cluster] += m.logLikelihood(&o[i])
	}
	return scores
}
