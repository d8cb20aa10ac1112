package published

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"headroom/model/profile"
)

// problem is a least-squares problem: to find the offsets of the numbers at which predictions agree with the
// evidence and the numbers with their figures.
type problem struct {
	rows         []Row
	evidence     []evidence
	replications int // that a prediction is the mean of
}

// newProblem returns the problem of the rows that have readings.
func newProblem(rows []Row) *problem {
	unread := func(r Row) bool { return r.SecondsPerJob == 0 && r.Span == 0 && r.Peak == 0 }
	rows = slices.DeleteFunc(slices.Clone(rows), unread)
	return &problem{rows, gather(rows), replications}
}

// residuals returns how far each prediction is from its reading, and then how far each number is from its figure,
// in standard deviations.
func (p *problem) residuals(offsets []float64) ([]float64, error) {
	k := known{value: at(offsets)}
	candidate := k.profile("candidate")
	predictions := make([]Reading, len(p.rows))
	errs := make([]error, len(p.rows))
	var wg sync.WaitGroup
	for i := range p.rows {
		wg.Go(func() { predictions[i], errs[i] = Predict(candidate, &p.rows[i], 1, p.replications) })
	}
	wg.Wait()
	out := make([]float64, 0, len(p.evidence)+numNumbers)
	for _, e := range p.evidence {
		if errs[e.row] != nil {
			return nil, errs[e.row]
		}
		out = append(out, math.Log(e.of(predictions[e.row])/e.value)/e.spread)
	}
	return append(out, offsets...), nil
}

// cost is what the fit makes small.
func cost(residuals []float64) float64 {
	sum := 0.0
	for _, r := range residuals {
		r = math.Abs(r)
		if r > tolerated {
			sum += tolerated * (2*r - tolerated)
		} else {
			sum += r * r
		}
	}
	return sum
}

// solve returns the offsets of the numbers that agree best with the evidence, and their standard deviations.
func (p *problem) solve(start []float64) (offsets, deviations []float64, err error) {
	offsets, err = p.descend(start)
	if err != nil {
		return nil, nil, err
	}
	deviations, err = p.deviations(offsets)
	return offsets, deviations, err
}

// descend makes the cost small from a start, by the method of Levenberg (1944) and Marquardt (1963).
func (p *problem) descend(start []float64) ([]float64, error) {
	const steps, enough = 15, 1e-3
	x := start
	r, err := p.residuals(x)
	if err != nil {
		return nil, err
	}
	damping := 0.1
	for range steps {
		normal, gradient, err := p.linearize(x, r, moves)
		if err != nil {
			return nil, err
		}
		before := cost(r)
		for lower := false; !lower && damping < 1e4; {
			candidate, err := step(x, normal, gradient, damping)
			if err != nil {
				return nil, err
			}
			next, err := p.residuals(candidate)
			if err != nil {
				return nil, err
			}
			if lower = cost(next) < before; lower {
				x, r = candidate, next
				damping /= 6
			} else {
				damping *= 4
			}
		}
		if before-cost(r) < enough*before {
			break
		}
	}
	return x, nil
}

// moves reports whether the fit moves a number.
func moves(i int) bool { return numbers[i].source == profile.Fitted }

// linearize returns the normal matrix and the gradient of the weighted residuals over the numbers that move; the others
// depend on their figures alone.
func (p *problem) linearize(x, r []float64, moves func(int) bool) (*mat.SymDense, *mat.VecDense, error) {
	jacobian, err := p.jacobian(x, moves)
	if err != nil {
		return nil, nil, err
	}
	normal, gradient := equations(jacobian, r)
	return normal, gradient, nil
}

// jacobian returns how the residuals change with the numbers that move. Differences are taken over half a spread to each
// side: a peak is a maximum over a run, and too short a difference would see its corners.
func (p *problem) jacobian(x []float64, moves func(int) bool) (*mat.Dense, error) {
	const width = 0.5
	jacobian := mat.NewDense(len(p.evidence)+len(x), len(x), nil)
	for j := range x {
		if !moves(j) {
			jacobian.Set(len(p.evidence)+j, j, 1)
			continue
		}
		moved := slices.Clone(x)
		moved[j] += width
		up, err := p.residuals(moved)
		if err != nil {
			return nil, err
		}
		moved[j] -= 2 * width
		down, err := p.residuals(moved)
		if err != nil {
			return nil, err
		}
		for i := range up {
			jacobian.Set(i, j, (up[i]-down[i])/(2*width))
		}
	}
	return jacobian, nil
}

// equations returns the normal matrix and the gradient of residuals, weighted.
func equations(jacobian *mat.Dense, r []float64) (*mat.SymDense, *mat.VecDense) {
	scaled, weighted := mat.DenseCopyOf(jacobian), mat.NewVecDense(len(r), nil)
	for i := range r {
		root := math.Sqrt(weight(r[i]))
		weighted.SetVec(i, root*r[i])
		for j, d := range scaled.RawRowView(i) {
			scaled.Set(i, j, root*d)
		}
	}
	var normal mat.SymDense
	normal.SymOuterK(1, scaled.T())
	var gradient mat.VecDense
	gradient.MulVec(scaled.T(), weighted)
	return &normal, &gradient
}

// without returns the offsets that agree best with all evidence but that of a row, from the residuals and the jacobian
// at offsets x that agree best with all of it. The residuals are taken to be linear from there.
func (p *problem) without(row int, x, r []float64, jacobian *mat.Dense) ([]float64, error) {
	rest, r := mat.DenseCopyOf(jacobian), slices.Clone(r)
	for i, e := range p.evidence {
		if e.row == row {
			r[i] = 0
			rest.SetRow(i, make([]float64, len(x)))
		}
	}
	const steps = 5 // the weights change from one to the next
	for range steps {
		normal, gradient := equations(rest, r)
		next, err := step(x, normal, gradient, 0)
		if err != nil {
			return nil, err
		}
		for i := range r {
			for j, d := range rest.RawRowView(i) {
				r[i] += d * (next[j] - x[j])
			}
		}
		x = next
	}
	return x, nil
}

// weight is what a residual counts of its square.
func weight(r float64) float64 { return min(1, tolerated/math.Abs(r)) }

// step returns where the damped normal equations lead from x.
func step(x []float64, normal *mat.SymDense, gradient *mat.VecDense, damping float64) ([]float64, error) {
	n := len(x)
	damped := mat.NewSymDense(n, nil)
	damped.CopySym(normal)
	for i := range n {
		damped.SetSym(i, i, normal.At(i, i)*(1+damping))
	}
	var factor mat.Cholesky
	if !factor.Factorize(damped) {
		return nil, fmt.Errorf("published: the normal matrix of %d numbers is not positive definite", n)
	}
	var move mat.VecDense
	if err := factor.SolveVecTo(&move, gradient); err != nil {
		return nil, fmt.Errorf("published: normal equations: %w", err)
	}
	out := make([]float64, n)
	for i := range n {
		out[i] = x[i] - move.AtVec(i)
	}
	return out, nil
}

// deviations returns the standard deviations of the independent normal distributions that come closest to what the
// evidence says of the numbers together: a profile draws its numbers independently, and with the wider deviations of
// each number by itself it would draw combinations that the evidence rules out. A fit that is worse than the spreads
// of the evidence allow makes them larger.
func (p *problem) deviations(x []float64) ([]float64, error) {
	r, err := p.residuals(x)
	if err != nil {
		return nil, err
	}
	normal, _, err := p.linearize(x, r, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	scale := max(1, cost(r)/float64(len(p.evidence)))
	out := make([]float64, len(x))
	for i := range out {
		out[i] = math.Sqrt(scale / normal.At(i, i))
	}
	return out, nil
}
