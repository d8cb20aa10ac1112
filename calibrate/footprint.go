package calibrate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"headroom/model"
	"headroom/model/profile"
)

// equations are the readings, compressed to as many rows as there are columns.
type equations struct {
	r    *mat.Dense
	c    []float64
	rest float64 // squared error that remains whatever the unknowns
	n    float64 // sum of the weights
}

func newEquations(readings []reading, weights []float64, columns int) *equations {
	a := mat.NewDense(max(len(readings), columns+1), columns, nil)
	b := make([]float64, max(len(readings), columns+1))
	e := &equations{}
	for i := range readings {
		root := math.Sqrt(weights[i])
		for j, count := range readings[i].counts {
			a.Set(i, j, root*count)
		}
		b[i] = root * readings[i].bytes
		e.n += weights[i]
	}
	e.r, e.c, e.rest = compress(a, b)
	return e
}

// ridge is the weight, as a part of all readings, of the wish that some columns be nothing. It decides where the readings
// do not: memory that is always seen together is put down to the blocks.
const ridge = 1e-4

// penalty returns the weights of the wishes, by unknown.
func (e *equations) penalty(b *basis) []float64 {
	p := make([]float64, b.size())
	for j, column := range b.plain {
		if b.wished(column) {
			p[j] = ridge * e.n
		}
	}
	return p
}

// solve returns the unknowns, none negative, with the least squared error, and that error. It begins at a guess; nil
// is none.
func (e *equations) solve(b *basis, guess []float64) (x []float64, loss float64) {
	columns, size := b.columns.count(), b.size()
	a := mat.NewDense(columns+size, size, nil)
	a.Slice(0, columns, 0, size).(*mat.Dense).Mul(e.r, b.matrix())
	c := append(slices.Clone(e.c), make([]float64, size)...)
	for j, p := range e.penalty(b) {
		a.Set(columns+j, j, math.Sqrt(p))
	}
	x = nnls(a, c, guess)
	var miss mat.VecDense
	miss.MulVec(a, mat.NewVecDense(size, x))
	miss.SubVec(mat.NewVecDense(len(c), c), &miss)
	return x, mat.Dot(&miss, &miss) + e.rest
}

// estimate is what the footprints come to, besides what the headers tell.
type estimate struct {
	basis      *basis
	weights    []float64 // of the readings
	x          []float64 // bytes
	deviations []float64 // standard errors of x
	sigma      float64   // robust standard deviation of a reading about what it should be, bytes
	readings   int
}

// estimateFootprints fits the unknowns of a basis to the readings. Readings that are far off (the sampler was
// late, the allocator was slow) count less, by the weights of Huber (1964), "Robust estimation of a location
// parameter". What they say nothing of is taken out. The readings are what is resident besides what is told.
func estimateFootprints(b *basis, readings []reading) (*estimate, error) {
	b = b.seen(readings)
	weights := make([]float64, len(readings))
	for i := range weights {
		weights[i] = 1
	}
	const rounds = 4
	est := &estimate{readings: len(readings), weights: weights}
	var e *equations
	for round := range rounds {
		e = newEquations(readings, weights, b.columns.count())
		if round == rounds-2 {
			b = b.simplify(e)
			est.x = nil
		}
		est.x, _ = e.solve(b, est.x)
		est.basis = b
		if round == rounds-1 {
			break
		}
		est.sigma = reweigh(weights, est.residuals(readings))
	}
	for {
		var err error
		if est.deviations, err = est.errors(e, readings); err != nil {
			return nil, err
		}
		j := est.weakest()
		if j < 0 {
			return est, nil
		}
		est.basis = est.basis.without(j)
		est.x, _ = e.solve(est.basis, slices.Delete(est.x, j, j+1))
	}
}

// weakest returns the unknown that is likeliest nothing of those that had rather be nothing and whose intervals hold that,
// or -1. Since no unknown is negative they would add to every peak.
func (est *estimate) weakest() int {
	weakest, least := -1, half
	for j, column := range est.basis.plain {
		if t := est.x[j] / max(1, est.deviations[j]); est.basis.wished(column) && t < least {
			weakest, least = j, t
		}
	}
	return weakest
}

// moved returns by how much each unknown changes when the readings are those instead.
func (est *estimate) moved(readings []reading) []float64 {
	x, _ := newEquations(readings, est.weights, est.basis.columns.count()).solve(est.basis, est.x)
	for j := range x {
		x[j] -= est.x[j]
	}
	return x
}

// residuals returns what each reading is above what it should be.
func (est *estimate) residuals(readings []reading) []float64 {
	var bytes mat.VecDense
	bytes.MulVec(est.basis.matrix(), mat.NewVecDense(len(est.x), est.x))
	out := make([]float64, len(readings))
	for i := range readings {
		out[i] = readings[i].bytes - mat.Dot(&bytes, mat.NewVecDense(bytes.Len(), readings[i].counts))
	}
	return out
}

// reweigh sets the weights that follow from the residuals and returns their robust standard deviation.
func reweigh(weights, residuals []float64) float64 {
	const normalMAD, efficiency = 1.4826, 1.345 // standard deviation over median size; 95 % efficient if normal
	sizes := make([]float64, len(residuals))
	for i, r := range residuals {
		sizes[i] = math.Abs(r)
	}
	slices.Sort(sizes)
	sigma := max(1, normalMAD*sizes[len(sizes)/2])
	for i, r := range residuals {
		weights[i] = min(1, efficiency*sigma/max(1, math.Abs(r)))
	}
	return sigma
}

// stretch is what the readings of one stretch add to the normal equations.
type stretch struct {
	curvature *mat.SymDense
	score     *mat.VecDense
}

// stretches sums the readings up by stretches.
func (est *estimate) stretches(readings []reading) []stretch {
	size, m := est.basis.size(), est.basis.matrix()
	residuals := est.residuals(readings)
	var list []stretch
	numbers := numbering[int]{}
	var row mat.VecDense
	for i := range readings {
		number := numbers.of(readings[i].stretch)
		if number == len(list) {
			list = append(list, stretch{mat.NewSymDense(size, nil), mat.NewVecDense(size, nil)})
		}
		s := &list[number]
		row.MulVec(m.T(), mat.NewVecDense(len(readings[i].counts), readings[i].counts))
		s.score.AddScaledVec(s.score, est.weights[i]*residuals[i], &row)
		s.curvature.SymRankOne(s.curvature, est.weights[i], &row)
	}
	return list
}

// errors returns the standard errors of the unknowns: the jackknife that leaves out one stretch of readings at a time,
// to first order in the weights (CR3; Bell and McCaffrey 2002, "Bias reduction in standard errors for linear regression
// with multi-stage samples").
func (est *estimate) errors(e *equations, readings []reading) ([]float64, error) {
	size := est.basis.size()
	stretches := est.stretches(readings)
	all := mat.NewSymDense(size, nil)
	for j, p := range e.penalty(est.basis) {
		all.SetSym(j, j, max(p, 1e-6*e.n)) // a class that was never held must not make it singular
	}
	for i := range stretches {
		all.AddSym(all, stretches[i].curvature)
	}
	n := float64(len(stretches))
	scale := math.Sqrt((n-1)/n) * student(n-1) * est.stiffness(e)
	deviations := make([]float64, size)
	for i := range stretches {
		var others mat.SymDense
		others.ScaleSym(-1, stretches[i].curvature)
		others.AddSym(all, &others)
		var factor mat.Cholesky
		factor.Factorize(&others)
		var shift mat.VecDense
		if err := factor.SolveVecTo(&shift, stretches[i].score); err != nil {
			return nil, fmt.Errorf("calibrate: the footprints cannot be told apart: %w", err)
		}
		for j := range deviations {
			deviations[j] = math.Hypot(deviations[j], shift.AtVec(j)*scale)
		}
	}
	return deviations, nil
}

// stiffness is by what factor the weights make the loss look more curved than it is: a reading that counts less than
// others pulls equally hard wherever it is, and does not hold the unknowns in place at all.
func (est *estimate) stiffness(e *equations) float64 {
	holding := 0.0
	for _, w := range est.weights {
		if w == 1 {
			holding++
		}
	}
	return e.n / max(1, holding)
}

// quantity returns an unknown with its interval.
func (est *estimate) quantity(j int) profile.Quantity[model.Bytes] {
	return fittedBytes(est.x[j], est.deviations[j])
}

// fittedBytes returns a size with the interval of its standard error.
func fittedBytes(x, deviation float64) profile.Quantity[model.Bytes] {
	d := half * deviation
	whole := func(v float64) model.Bytes { return model.Bytes(math.Round(max(0, v))) }
	return profile.Quantity[model.Bytes]{Value: whole(x), Low: whole(x - d), High: whole(x + d), Source: profile.Fitted}
}

// column returns what a plain column holds: the unknown with its interval, and what the headers tell; false if it is
// neither.
func (est *estimate) column(column int) (profile.Quantity[model.Bytes], bool) {
	size, there := est.basis.told[column]
	j := slices.Index(est.basis.plain, column)
	if j < 0 {
		return told(size), there
	}
	q := est.quantity(j)
	q.Value, q.Low, q.High = q.Value+size, q.Low+size, q.High+size
	return q, true
}

// footprint returns what a kind holds.
func (est *estimate) footprint(kind int) profile.Footprint {
	c := est.basis.columns
	f := profile.Footprint{During: map[model.Stage][]profile.Point{}}
	f.Vectors, _ = est.column(c.class(kind, vectors))
	f.Assignment, _ = est.column(c.class(kind, assignment))
	f.Call, _ = est.column(c.class(kind, call))
	f.Parse, _ = est.column(c.class(kind, parseBuffer))
	for _, s := range transientStages {
		if q, there := est.column(c.stage(kind, s)); there && q.Value > 0 {
			f.During[s] = []profile.Point{{Bytes: q}}
		}
	}
	for i, corner := range est.basis.corners[kind] {
		at := float64(corner) / grid
		q := est.quantity(est.basis.corner(kind, i))
		f.During[model.Synth] = append(f.During[model.Synth], profile.Point{Progress: at, Bytes: q})
	}
	return f
}

// fewestSeen is how many readings while a stage runs, or while blocks of a class are being freed, say what is held
// meanwhile.
const fewestSeen = 10

// heldWhileFreed returns the part of a kind's blocks that is held, on average, while they are being freed. It goes by the
// blocks that take long enough to be seen; nil: none does, or all is held to the end.
func (est *estimate) heldWhileFreed(kind int, readings []reading) *profile.Quantity[float64] {
	c := est.basis.columns
	held, whole, deviation := 0.0, 0.0, 0.0
	for _, f := range []struct {
		freeing class
		blocks  []class
	}{{freeingVectors, []class{vectors}}, {freeingAssignment, []class{assignment, call}}} {
		column := c.class(kind, f.freeing)
		seen := 0
		for i := range readings {
			if readings[i].counts[column] > 0 {
				seen++
			}
		}
		if seen < fewestSeen {
			continue
		}
		j := slices.Index(est.basis.plain, column)
		held += est.x[j]
		deviation = math.Hypot(deviation, est.deviations[j])
		for _, b := range f.blocks {
			q, _ := est.column(c.class(kind, b))
			whole += float64(q.Value)
		}
	}
	if held >= whole {
		return nil
	}
	part := ranged(held/whole, deviation/whole)
	part.High = min(1, part.High)
	return &part
}
