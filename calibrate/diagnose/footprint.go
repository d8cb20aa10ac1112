package diagnose

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// footprints are the bytes that what is in flight holds, by column. They are fitted to how samples differ from the mean
// of their bin, so that neither a leak nor a drift from bin to bin shapes them.
type footprints struct {
	columns    []int // those that move within bins, and not just as others do
	bytes      []float64
	covariance *mat.Dense
	still      []int // columns that differ between bins and never move within one
}

// fitFootprints fits the footprints by ordinary least squares. Errors are clustered by bin (Liang and Zeger 1986,
// "Longitudinal data analysis using generalized linear models").
func fitFootprints(bins []bin, split bool) *footprints {
	rows, size := 0, len(bins[0].inFlight)
	for i := range bins {
		rows += len(bins[i].points)
	}
	x, y := make([][]float64, size), make([]float64, 0, rows)
	for j := range x {
		x[j] = make([]float64, 0, rows)
	}
	for i := range bins {
		b := &bins[i]
		for k := range b.points {
			y = append(y, b.points[k].anonymous(split)-b.anon)
			for j := range x {
				x[j] = append(x[j], b.points[k].inFlight[j]-b.inFlight[j])
			}
		}
	}
	f := &footprints{}
	f.choose(x, bins)
	f.solve(x, y, bins)
	return f
}

// choose finds the columns that can be told apart, each from those before it.
func (f *footprints) choose(x [][]float64, bins []bin) {
	const least = 1e-3 // of a column's length that the others do not explain
	var basis [][]float64
	for j, column := range x {
		rest := slices.Clone(column)
		for _, b := range basis {
			along := dot(rest, b)
			for i := range rest {
				rest[i] -= along * b[i]
			}
		}
		whole, left := math.Sqrt(dot(column, column)), math.Sqrt(dot(rest, rest))
		if whole < 1e-9 {
			if first := bins[0].inFlight[j]; slices.ContainsFunc(bins, func(b bin) bool { return math.Abs(b.inFlight[j]-first) > 1e-9 }) {
				f.still = append(f.still, j)
			}
			continue
		}
		if left > least*whole {
			for i := range rest {
				rest[i] /= left
			}
			basis = append(basis, rest)
			f.columns = append(f.columns, j)
		}
	}
}

func dot(a, b []float64) float64 {
	return mat.Dot(mat.NewVecDense(len(a), a), mat.NewVecDense(len(b), b))
}

// solve fits the chosen columns.
func (f *footprints) solve(x [][]float64, y []float64, bins []bin) {
	size := len(f.columns)
	f.bytes = make([]float64, size)
	if size == 0 {
		return
	}
	a := mat.NewDense(len(y), size, nil)
	for k, j := range f.columns {
		a.SetCol(k, x[j])
	}
	var qr mat.QR
	qr.Factorize(a)
	solution := mat.NewVecDense(size, f.bytes)
	if qr.SolveVecTo(solution, false, mat.NewVecDense(len(y), y)) != nil {
		f.columns, f.bytes = nil, nil // too nearly dependent for the numbers of this machine
		return
	}
	scores := mat.NewDense(size, len(bins), nil)
	row := 0
	for c := range bins {
		for range bins[c].points {
			rest := y[row] - dot(a.RawRowView(row), f.bytes)
			for k := range size {
				scores.Set(k, c, scores.At(k, c)+rest*a.At(row, k))
			}
			row++
		}
	}
	var gram, shifts mat.Dense
	gram.Mul(a.T(), a)
	if shifts.Solve(&gram, scores) != nil {
		f.columns, f.bytes = nil, nil
		return
	}
	f.covariance = mat.NewDense(size, size, nil)
	f.covariance.Mul(&shifts, shifts.T())
	n := float64(len(bins))
	f.covariance.Scale(n/max(1, n-1), f.covariance)
}

// held returns the bytes that the mean of a bin has in flight.
func (f *footprints) held(b *bin) float64 {
	sum := 0.0
	for k, j := range f.columns {
		sum += f.bytes[k] * b.inFlight[j]
	}
	return sum
}

// deviation returns the standard error of a sum of the footprints with some factors, by column.
func (f *footprints) deviation(factor func(column int) float64) float64 {
	if len(f.columns) == 0 {
		return 0
	}
	factors := make([]float64, len(f.columns))
	for k, j := range f.columns {
		factors[k] = factor(j)
	}
	v := mat.NewVecDense(len(factors), factors)
	return math.Sqrt(max(0, mat.Inner(v, f.covariance, v)))
}
