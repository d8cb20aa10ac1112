package calibrate

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// projected is the slow twin of nnls: steps down the gradient, cut off at 0, until they no longer move.
func projected(a *mat.Dense, b []float64) []float64 {
	rows, columns := a.Dims()
	step := 1 / math.Pow(mat.Norm(a, 2), 2) // the Frobenius norm is above the largest singular value
	x := mat.NewVecDense(columns, nil)
	var residual, gradient mat.VecDense
	for range 200_000 {
		residual.MulVec(a, x)
		residual.SubVec(mat.NewVecDense(rows, b), &residual)
		gradient.MulVec(a.T(), &residual)
		moved := 0.0
		for j := range columns {
			v := max(0, x.AtVec(j)+step*gradient.AtVec(j))
			moved = max(moved, math.Abs(v-x.AtVec(j)))
			x.SetVec(j, v)
		}
		if moved < 1e-13 {
			break
		}
	}
	return x.RawVector().Data
}

func loss(a *mat.Dense, x, b []float64) float64 {
	var r mat.VecDense
	r.MulVec(a, mat.NewVecDense(len(x), x))
	r.SubVec(&r, mat.NewVecDense(len(b), b))
	return mat.Dot(&r, &r)
}

// drawProblem draws a problem of counts, as readings have them, sometimes with a column twice.
func drawProblem(t *rapid.T) (*mat.Dense, []float64) {
	columns := rapid.IntRange(1, 6).Draw(t, "columns")
	rows := columns + rapid.IntRange(0, 10).Draw(t, "more rows")
	a, b := mat.NewDense(rows, columns, nil), make([]float64, rows)
	for i := range rows {
		for j := range columns {
			a.Set(i, j, float64(rapid.IntRange(0, 4).Draw(t, "count")))
		}
		b[i] = rapid.Float64Range(-10, 30).Draw(t, "bytes")
	}
	if columns > 1 && rapid.Bool().Draw(t, "twice") {
		a.SetCol(0, mat.Col(nil, columns-1, a))
	}
	return a, b
}

func TestNNLSIsAsGoodAsProjectedGradientDescent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawProblem(t)
		_, columns := a.Dims()
		var guess []float64
		if rapid.Bool().Draw(t, "guess") {
			guess = rapid.SliceOfN(rapid.Float64Range(0, 5), columns, columns).Draw(t, "from")
		}
		x := nnls(a, b, guess)
		for j, v := range x {
			if !(v >= 0) {
				t.Fatalf("x[%d] is %g", j, v)
			}
		}
		got, twin := loss(a, x, b), loss(a, projected(a, b), b)
		if got > twin+1e-6*(1+twin) {
			t.Fatalf("squared error %g, by descent %g\n%v\n%v", got, twin, mat.Formatted(a), b)
		}
	})
}

func TestCompressedProblemsHaveTheSameErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawProblem(t)
		_, columns := a.Dims()
		a, b = stack(a), append(b, b...) // one row more than columns is needed
		r, c, rest := compress(a, b)
		x := make([]float64, columns)
		for j := range x {
			x[j] = rapid.Float64Range(0, 10).Draw(t, "x")
		}
		want, got := loss(a, x, b), loss(r, x, c)+rest
		if math.Abs(got-want) > 1e-9*(1+want) {
			t.Fatalf("squared error %g, compressed %g", want, got)
		}
	})
}

// stack puts a matrix on top of itself.
func stack(a *mat.Dense) *mat.Dense {
	var twice mat.Dense
	twice.Stack(a, a)
	return &twice
}
