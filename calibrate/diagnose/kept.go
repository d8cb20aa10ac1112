package diagnose

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// fall is how far what is in flight must fall below the most that was, as a part of it, to show whether memory follows.
const fall = 0.5

// kept returns the part of the memory of partitions that stays resident when they are gone, until there are more again:
// anonymous memory is regressed on how many hold vectors now, on the most that did so far, and on the jobs that are
// finished. The standard error leaves out one bin after the other (the jackknife of Tukey 1958). It returns nil if what
// is in flight never falls far enough, or if the two cannot be told apart.
func kept(bins []bin, split bool) *Interval {
	falls := false
	sums := make([]moments, len(bins))
	var all moments
	for i := range bins {
		for k := range bins[i].points {
			p := &bins[i].points[k]
			falls = falls || p.most >= 1 && p.partitions <= fall*p.most
			sums[i].add([regressors]float64{1, p.partitions, p.most, p.done}, p.anonymous(split)-bins[0].anon)
		}
		all.join(&sums[i], 1)
	}
	part, ok := all.kept()
	n := float64(len(bins))
	if !falls || !ok || n < fewestBins {
		return nil
	}
	var values []float64
	for i := range sums {
		without := all
		without.join(&sums[i], -1)
		v, ok := without.kept()
		if !ok {
			return nil
		}
		values = append(values, v)
	}
	center, squares := mean(values), 0.0
	for _, v := range values {
		squares += (v - center) * (v - center)
	}
	width := math.Sqrt(squares*(n-1)/n) * distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975)
	return &Interval{part, part - width, part + width}
}

const regressors = 4

// moments are the sums that a regression needs.
type moments struct {
	xx [regressors][regressors]float64
	xy [regressors]float64
}

func (m *moments) add(x [regressors]float64, y float64) {
	for j := range x {
		for k := range x {
			m.xx[j][k] += x[j] * x[k]
		}
		m.xy[j] += x[j] * y
	}
}

func (m *moments) join(other *moments, factor float64) {
	for j := range m.xx {
		for k := range m.xx[j] {
			m.xx[j][k] += factor * other.xx[j][k]
		}
		m.xy[j] += factor * other.xy[j]
	}
}

// kept returns the part that follows the most so far and not what is there now, from 0 to 1.
func (m *moments) kept() (part float64, ok bool) {
	size := regressors
	if m.xx[3][3] == 0 { // no job is finished
		size--
	}
	a := mat.NewDense(size, size, nil)
	for j := range size {
		for k := range size {
			a.Set(j, k, m.xx[j][k])
		}
	}
	var x mat.VecDense
	if x.SolveVec(a, mat.NewVecDense(size, m.xy[:size])) != nil {
		return 0, false
	}
	now, most := max(0, x.AtVec(1)), max(0, x.AtVec(2))
	if now+most == 0 {
		return 0, false
	}
	return most / (now + most), true
}
