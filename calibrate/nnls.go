package calibrate

import "gonum.org/v1/gonum/mat"

// nnls returns the x without negative entries that minimizes |Ax - b|, by the active-set method of Lawson and Hanson
// (1974), "Solving least squares problems", chapter 23. A has at least as many rows as columns. Columns that the
// others explain exactly get 0. The search begins at a guess without negative entries, or at 0 if that is nil.
func nnls(a *mat.Dense, b, guess []float64) []float64 {
	rows, columns := a.Dims()
	x := make([]float64, columns)
	copy(x, guess)
	free := make([]bool, columns)
	for j := range x {
		free[j] = x[j] > 0
	}
	if !descend(a, b, x, free) {
		clear(x)
		clear(free)
	}
	var residual, gradient mat.VecDense
	slope := func() {
		residual.MulVec(a, mat.NewVecDense(columns, x))
		residual.SubVec(mat.NewVecDense(rows, b), &residual)
		gradient.MulVec(a.T(), &residual)
	}
	slope()
	barred := make([]bool, columns) // entering would make the free columns dependent
	// Below the tolerance a gradient is rounding.
	tolerance := 1e-12 * mat.Norm(a, 2) * mat.Norm(mat.NewVecDense(rows, b), 2)
	for range 10 * columns {
		enters := -1
		for j := range x {
			if free[j] || barred[j] || gradient.AtVec(j) <= tolerance {
				continue
			}
			if enters < 0 || gradient.AtVec(j) > gradient.AtVec(enters) {
				enters = j
			}
		}
		if enters < 0 {
			break
		}
		free[enters] = true
		if !descend(a, b, x, free) || x[enters] == 0 {
			free[enters], barred[enters] = false, true
		} else {
			clear(barred)
		}
		slope()
	}
	return x
}

// descend moves x to the least-squares solution in the free columns, giving up free columns on the way where x would
// become negative. It reports false and leaves x alone when the free columns are dependent.
func descend(a *mat.Dense, b, x []float64, free []bool) bool {
	for {
		z, ok := solve(a, b, free)
		if !ok {
			return false
		}
		step, blocks := 1.0, -1
		for j := range x {
			if free[j] && z[j] <= 0 {
				s := 0.0
				if x[j] > 0 {
					s = x[j] / (x[j] - z[j])
				}
				if s < step || blocks < 0 {
					step, blocks = s, j
				}
			}
		}
		for j := range x {
			if free[j] {
				x[j] += step * (z[j] - x[j])
			}
		}
		if blocks < 0 {
			return true
		}
		x[blocks], free[blocks] = 0, false
	}
}

// solve returns the least-squares solution in the free columns, 0 elsewhere; false if they are dependent.
func solve(a *mat.Dense, b []float64, free []bool) ([]float64, bool) {
	rows, columns := a.Dims()
	var index []int
	for j := range columns {
		if free[j] {
			index = append(index, j)
		}
	}
	x := make([]float64, columns)
	if len(index) == 0 {
		return x, true
	}
	part := mat.NewDense(rows, len(index), nil)
	for k, j := range index {
		part.SetCol(k, mat.Col(nil, j, a))
	}
	var qr mat.QR
	qr.Factorize(part)
	if qr.Cond() > 1e12 {
		return nil, false
	}
	var solution mat.VecDense
	if err := qr.SolveVecTo(&solution, false, mat.NewVecDense(rows, b)); err != nil {
		return nil, false
	}
	for k, j := range index {
		x[j] = solution.AtVec(k)
	}
	return x, true
}

// compress returns a square problem with the same solutions as min |Ax - b| and the squared error that no x avoids.
func compress(a *mat.Dense, b []float64) (r *mat.Dense, c []float64, rest float64) {
	rows, columns := a.Dims()
	whole := mat.NewDense(rows, columns+1, nil)
	whole.Slice(0, rows, 0, columns).(*mat.Dense).Copy(a)
	whole.SetCol(columns, b)
	var qr mat.QR
	qr.Factorize(whole)
	var triangle mat.Dense
	qr.RTo(&triangle)
	r = mat.DenseCopyOf(triangle.Slice(0, columns, 0, columns))
	last := triangle.At(columns, columns)
	return r, mat.Col(nil, columns, triangle.Slice(0, columns, 0, columns+1)), last * last
}
