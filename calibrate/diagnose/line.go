package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a number with its 95 % interval.
type Interval struct {
	Value, Low, High float64
}

// line is a straight line through values that follow each other, whose errors are alike the nearer they are: each is a
// part alpha of the one before and something new (Prais and Winsten 1954, "Trend estimators and serial correlation").
type line struct {
	alpha     float64
	hat       []float64 // the slope is their product with the transformed values
	slope     float64   // for each unit of x
	deviation float64   // standard error of the slope
	freedom   float64   // degrees of freedom of the error
}

// fitLine fits y to x, and to what is beside it. It reports false if the columns cannot be told apart.
//
// alpha is estimated from the residuals of ordinary least squares. Those are less alike than the errors, by
// (2 + 4 alpha)/n in the mean (Kendall 1954, with a trend), which is put back. An alpha within two standard errors of 1,
// each 1/sqrt(n) at most, is taken for 1, as Perron and Yabu (2009), "Estimating deterministic trends with an integrated
// or stationary noise component", have it in like manner: a random walk without direction is then no slope, however far
// it goes.
func fitLine(x, y []float64, beside ...[]float64) (line, bool) {
	columns := append([][]float64{x}, beside...)
	plain := line{}
	residuals, ok := plain.fit(columns, y)
	if !ok {
		return line{}, false
	}
	n := float64(len(x))
	var products, squares float64
	for i, u := range residuals {
		squares += u * u
		if i > 0 {
			products += u * residuals[i-1]
		}
	}
	if squares == 0 {
		return plain, true
	}
	alpha := products / squares
	alpha = max(0, alpha+(2+4*alpha)/n)
	if alpha > 1-2/math.Sqrt(n) {
		alpha = 1
	}
	l := line{alpha: alpha}
	if _, ok = l.fit(columns, y); !ok {
		return line{}, false
	}
	return l, true
}

// transform takes from each value what follows from the one before.
func (l *line) transform(values []float64) []float64 {
	out := make([]float64, len(values))
	out[0] = values[0] * math.Sqrt(1-l.alpha*l.alpha)
	for i := 1; i < len(values); i++ {
		out[i] = values[i] - l.alpha*values[i-1]
	}
	return out
}

// fit solves the transformed equations by least squares; the first column is that of the slope. It returns what
// remains of the transformed values.
func (l *line) fit(columns [][]float64, y []float64) (residuals []float64, ok bool) {
	n := len(y)
	if l.alpha < 1 { // in a random walk the level says nothing
		ones := make([]float64, n)
		for i := range ones {
			ones[i] = 1
		}
		columns = append(columns[:len(columns):len(columns)], ones)
	}
	a := mat.NewDense(n, len(columns), nil)
	for j, c := range columns {
		a.SetCol(j, l.transform(c))
	}
	rows := n
	if l.alpha == 1 {
		rows-- // the first is empty
	}
	l.freedom = float64(rows - len(columns))
	var gram mat.SymDense
	gram.SymOuterK(1, a.T())
	scaled, scales := scale(&gram)
	var factor mat.Cholesky
	if l.freedom < 1 || slices.Contains(scales, 0) || !factor.Factorize(scaled) || factor.Cond() > 1e10 {
		return nil, false
	}
	var inverse mat.SymDense
	if err := factor.InverseTo(&inverse); err != nil {
		return nil, false
	}
	z := l.transform(y)
	solution := l.solve(a, &inverse, scales, z)
	l.slope = solution[0]
	squares := 0.0
	residuals = z
	for i := range n {
		for j := range columns {
			residuals[i] -= solution[j] * a.At(i, j)
		}
		squares += residuals[i] * residuals[i]
	}
	l.deviation = math.Sqrt(squares / l.freedom * inverse.At(0, 0) / scales[0] / scales[0])
	return residuals, true
}

// solve returns the solution of the transformed equations, given the inverse of their scaled normal matrix, and keeps the
// weights of the slope.
func (l *line) solve(a *mat.Dense, inverse *mat.SymDense, scales, z []float64) []float64 {
	rows, columns := a.Dims()
	l.hat = make([]float64, rows)
	solution := make([]float64, columns)
	for i := range rows {
		for j := range columns {
			weight := 0.0
			for k := range columns {
				weight += inverse.At(j, k) / scales[j] / scales[k] * a.At(i, k)
			}
			solution[j] += weight * z[i]
			if j == 0 {
				l.hat[i] = weight
			}
		}
	}
	return solution
}

// scale returns the matrix with ones on its diagonal, and the roots that it was divided by.
func scale(gram *mat.SymDense) (*mat.SymDense, []float64) {
	n := gram.SymmetricDim()
	scales := make([]float64, n)
	for j := range scales {
		scales[j] = math.Sqrt(gram.At(j, j))
	}
	scaled := mat.NewSymDense(n, nil)
	for j := range n {
		for k := j; k < n; k++ {
			scaled.SetSym(j, k, gram.At(j, k)/scales[j]/scales[k])
		}
	}
	return scaled, scales
}

// of returns the slope that the line would have with other values at the same places.
func (l *line) of(values []float64) float64 {
	sum := 0.0
	for i, v := range l.transform(values) {
		sum += l.hat[i] * v
	}
	return sum
}

// interval returns the slope with its interval at a confidence, by the quantile of Student's t. more is the standard
// error of what was taken from the values before.
func (l *line) interval(confidence, more float64) Interval {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: l.freedom}.Quantile((1 + confidence) / 2)
	width := t * math.Hypot(l.deviation, more)
	return Interval{l.slope, l.slope - width, l.slope + width}
}
