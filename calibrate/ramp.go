package calibrate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"headroom/model"
)

// basis says what the unknowns of a fit stand for: plain columns, and the corners of each ramp of synth, between which
// it is linear.
type basis struct {
	columns columns
	plain   []int
	corners [][]int             // by ramp: points of the grid, first and last among them
	told    map[int]model.Bytes // by plain column: what the headers tell, beside which the unknown is what more there is
}

// newBasis returns the unknowns of the kinds: the classes that they hold, what their stages hold while they run, and
// every corner of the grid.
func newBasis(c columns, kinds []model.Kind) *basis {
	b := &basis{columns: c, plain: []int{offset}}
	for k := range kinds {
		b.plain = append(b.plain, b.columns.class(k, vectors), b.columns.class(k, assignment), b.columns.class(k, call))
		if kinds[k].Stages.Has(model.Parse) {
			b.plain = append(b.plain, b.columns.class(k, parseBuffer))
		}
		if kinds[k].Stages.Has(model.Dealloc) {
			b.plain = append(b.plain, b.columns.class(k, freeingVectors), b.columns.class(k, freeingAssignment))
		}
		for _, s := range transientStages {
			if kinds[k].Stages.Has(s) {
				b.plain = append(b.plain, b.columns.stage(k, s))
			}
		}
	}
	for range c.ramps() {
		corners := make([]int, grid+1)
		for g := range corners {
			corners[g] = g
		}
		b.corners = append(b.corners, corners)
	}
	return b
}

// transientStages are those that may hold memory of their own while they run: neither synth, whose ramp it is, nor
// dealloc, which only gives back.
var transientStages = []model.Stage{model.Parse, model.Prep, model.Kernel, model.Tail, model.Finish}

// size returns the number of unknowns: the plain ones, then each ramp's corners.
func (b *basis) size() int {
	n := len(b.plain)
	for _, c := range b.corners {
		n += len(c)
	}
	return n
}

// corner returns the number of the unknown of a ramp's i-th corner.
func (b *basis) corner(ramp, i int) int {
	n := len(b.plain) + i
	for _, c := range b.corners[:ramp] {
		n += len(c)
	}
	return n
}

// matrix returns the columns in terms of the unknowns.
func (b *basis) matrix() *mat.Dense {
	m := mat.NewDense(b.columns.count(), b.size(), nil)
	for j, column := range b.plain {
		m.Set(column, j, 1)
	}
	for k, corners := range b.corners {
		for i := range corners {
			for g := range grid + 1 {
				m.Set(b.columns.ramp(k, g), b.corner(k, i), tent(corners, i, g))
			}
		}
	}
	return m
}

// tent returns the weight of the i-th corner at a point of the grid.
func tent(corners []int, i, g int) float64 {
	at := corners[i]
	switch {
	case g == at:
		return 1
	case i > 0 && g < at && g > corners[i-1]:
		return float64(g-corners[i-1]) / float64(at-corners[i-1])
	case i < len(corners)-1 && g > at && g < corners[i+1]:
		return float64(corners[i+1]-g) / float64(corners[i+1]-at)
	}
	return 0
}

// wished reports whether a plain column is one that had rather be nothing: what stages hold for themselves, what is
// there whatever runs, and what is held beside blocks whose sizes are told.
func (b *basis) wished(column int) bool {
	if _, told := b.told[column]; told || column == offset {
		return true
	}
	own := (column - firstKind) % perKind
	return own >= int(numClasses)
}

// without returns the basis without one of its plain columns.
func (b *basis) without(j int) *basis {
	out := *b
	out.plain = slices.Delete(slices.Clone(b.plain), j, j+1)
	return &out
}

// seen returns the basis without what stages hold for themselves that hardly any reading met: a reading or two that are
// off would make a number of it.
func (b *basis) seen(readings []reading) *basis {
	out := *b
	out.plain = slices.DeleteFunc(slices.Clone(b.plain), func(column int) bool {
		met := 0
		for i := range readings {
			if readings[i].counts[column] > 0 {
				met++
			}
		}
		return b.wished(column) && met < fewestSeen
	})
	return &out
}

// reduction is a basis with one unknown less.
type reduction struct {
	basis *basis
	gone  int // number of the unknown
}

// reductions lists the bases without a wished-away column, or without a corner inside a ramp.
func (b *basis) reductions() []reduction {
	var list []reduction
	for j, column := range b.plain {
		if b.wished(column) {
			list = append(list, reduction{b.without(j), j})
		}
	}
	for k, corners := range b.corners {
		for i := 1; i < len(corners)-1; i++ {
			out := *b
			out.corners = slices.Clone(b.corners)
			out.corners[k] = slices.Delete(slices.Clone(corners), i, i+1)
			list = append(list, reduction{&out, b.corner(k, i)})
		}
	}
	return list
}

// simplify takes unknowns out as long as the error grows by no more than an unknown that stands for nothing may explain
// by chance among so many readings (the criterion of Schwarz 1978, "Estimating the dimension of a model"). Unknowns
// that chance left in would make the intervals of the others too narrow.
func (b *basis) simplify(e *equations) *basis {
	x, best := e.solve(b, nil)
	price := math.Log(e.n) * best / max(1, e.n-float64(b.size()))
	for {
		var next *basis
		var there []float64
		least := best + price
		for _, r := range b.reductions() {
			guess := slices.Delete(slices.Clone(x), r.gone, r.gone+1)
			if y, loss := e.solve(r.basis, guess); loss < least {
				next, there, least = r.basis, y, loss
			}
		}
		if next == nil {
			return b
		}
		b, x, best = next, there, least
	}
}
