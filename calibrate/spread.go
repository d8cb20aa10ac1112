package calibrate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"headroom/model"
	"headroom/model/profile"
)

// sample is the works of one stage of one kind, each job's together. Dealloc counts once for a partition, with the
// works of its blocks added up.
type sample struct {
	jobs     [][]float64 // works in nanoseconds
	clusters []int       // of each job
}

// key tells apart the works that have a law of their own.
type key struct {
	kind  int
	stage model.Stage
}

// samples sorts the works by kind, stage and job.
func (e *evidence) samples(o []observation) map[key]*sample {
	type partition struct {
		key
		cluster int
		number  int32
	}
	works := map[partition]float64{}
	var order []partition
	for i, m := range e.members {
		p := partition{key{m.interval.kind, m.interval.stage}, m.cluster, m.interval.partition}
		if _, known := works[p]; !known {
			order = append(order, p)
		}
		works[p] += math.Exp(o[i].log)
	}
	slices.SortStableFunc(order, func(a, b partition) int { return a.cluster - b.cluster })
	samples := map[key]*sample{}
	for _, p := range order {
		s := samples[p.key]
		if s == nil {
			s = &sample{}
			samples[p.key] = s
		}
		if last := len(s.clusters) - 1; last < 0 || s.clusters[last] != p.cluster {
			s.clusters = append(s.clusters, p.cluster)
			s.jobs = append(s.jobs, nil)
		}
		last := len(s.jobs) - 1
		s.jobs[last] = append(s.jobs[last], works[p])
	}
	return samples
}

func (s *sample) mean() float64 {
	sum, n := 0.0, 0
	for _, job := range s.jobs {
		for _, w := range job {
			sum += w
		}
		n += len(job)
	}
	return sum / float64(n)
}

// shifts returns what each cluster did to the mean.
func (s *sample) shifts(clusters int) []float64 {
	mean, n := s.mean(), 0
	for _, job := range s.jobs {
		n += len(job)
	}
	shifts := make([]float64, clusters)
	for j, job := range s.jobs {
		for _, w := range job {
			shifts[s.clusters[j]] += (w - mean) / float64(n)
		}
	}
	return shifts
}

// law returns the law of a stage's work: the mean with an interval of the given standard error, and the spread.
func (s *sample) law(deviation float64) profile.Work {
	w := profile.Work{Law: profile.Lognormal, Mean: meanInterval(s.mean(), deviation)}
	w.CV, w.JobCV = s.spread()
	return w
}

// spread returns the coefficients of variation within a job and between jobs by a one-way analysis of variance of
// the logarithms. The interval within is exact for lognormal work; the one between is that of Ting et al. (1990),
// "Confidence intervals on linear combinations of variance components that are unrestricted in sign". Jobs of one
// partition, or one job, do not tell the two apart: all spread then counts as within.
func (s *sample) spread() (within, between profile.Quantity[float64]) {
	jobs, total, squares := float64(len(s.jobs)), 0.0, 0.0
	var grand, inside float64
	means := make([]float64, len(s.jobs))
	for j, job := range s.jobs {
		n := float64(len(job))
		for _, w := range job {
			means[j] += math.Log(w) / n
		}
		for _, w := range job {
			d := math.Log(w) - means[j]
			inside += d * d
		}
		total += n
		squares += n * n
		grand += n * means[j]
	}
	grand /= total
	outside := 0.0
	for j, job := range s.jobs {
		d := means[j] - grand
		outside += float64(len(job)) * d * d
	}
	if total == jobs || jobs < 2 {
		return cv(variance(outside+inside, total-1)), profile.Quantity[float64]{Source: profile.Derived}
	}
	within = cv(variance(inside, total-jobs))
	size := (total - squares/total) / (jobs - 1)
	return within, cv(component(outside/(jobs-1), inside/(total-jobs), jobs-1, total-jobs, size))
}

// variance returns a variance and its interval from a sum of squares with that many degrees of freedom.
func variance(squares, df float64) (value, low, high float64) {
	if df < 1 {
		return 0, 0, 0
	}
	chi := distuv.ChiSquared{K: df}
	return squares / df, squares / chi.Quantile(0.975), squares / chi.Quantile(0.025)
}

// component returns the variance between jobs and its interval, from the mean squares between and within with their
// degrees of freedom and the size of a job.
func component(between, within, df1, df2, size float64) (value, low, high float64) {
	f := distuv.F{D1: df1, D2: df2}
	upper, lower := f.Quantile(0.975), f.Quantile(0.025)
	// chi is a quantile of F with infinitely many degrees of freedom below.
	chi := func(q, df float64) float64 { return distuv.ChiSquared{K: df}.Quantile(q) / df }
	g1, h2 := 1-1/chi(0.975, df1), 1/chi(0.025, df2)-1
	g12 := ((upper-1)*(upper-1) - g1*g1*upper*upper - h2*h2) / upper
	h1, g2 := 1/chi(0.025, df1)-1, 1-1/chi(0.975, df2)
	h12 := ((1-lower)*(1-lower) - h1*h1*lower*lower - g2*g2) / lower
	width := func(a, b, ab float64) float64 {
		return math.Sqrt(max(0, a*a*between*between+b*b*within*within+ab*between*within))
	}
	d := between - within
	return max(0, d/size), max(0, (d-width(g1, h2, g12))/size), max(0, (d+width(h1, g2, h12))/size)
}

// cv turns a variance of logarithms into a coefficient of variation: that of a lognormal distribution.
func cv(value, low, high float64) profile.Quantity[float64] {
	turn := func(v float64) float64 { return math.Sqrt(math.Expm1(v)) }
	return profile.Quantity[float64]{Value: turn(value), Low: turn(low), High: turn(high), Source: profile.Derived}
}
