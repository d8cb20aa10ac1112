package calibrate

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"headroom/model/stream"
)

// drawWorks returns works of jobs with those coefficients of variation.
func drawWorks(seed uint64, jobs, partitions int, within, between float64) *sample {
	s := &sample{}
	deviation := func(cv float64) float64 { return math.Sqrt(math.Log1p(cv * cv)) }
	job, partition := stream.NewKey(seed, 0, 1), stream.NewKey(seed, 0, 2)
	for j := range uint32(jobs) {
		of := deviation(between) * stream.Normal(job.Uniform(j, 0))
		var works []float64
		for p := range uint32(partitions) {
			works = append(works, 1e9*math.Exp(of+deviation(within)*stream.Normal(partition.Uniform(j, p))))
		}
		s.jobs, s.clusters = append(s.jobs, works), append(s.clusters, int(j))
	}
	return s
}

func TestSpreadsAreInsideTheirIntervals(t *testing.T) {
	const runs, within, between = 400, 0.1, 0.08
	var inWithin, inBetween int
	for seed := range uint64(runs) {
		w, b := drawWorks(seed, 12, 4, within, between).spread()
		if w.Low <= within && within <= w.High {
			inWithin++
		}
		if b.Low <= between && between <= b.High {
			inBetween++
		}
	}
	// 380 are expected; below 360 and above 396 are more than four standard deviations away.
	for name, n := range map[string]int{"within": inWithin, "between": inBetween} {
		if n < 360 || n > 396 {
			t.Errorf("the spread %s jobs is in %d of %d intervals of 95 %%", name, n, runs)
		}
	}
}

func TestSpreadsOfWorksThatDoNotVaryAreZero(t *testing.T) {
	w, b := drawWorks(1, 5, 3, 0, 0).spread()
	if w.Value > 1e-7 || b.Value > 1e-7 {
		t.Errorf("spreads %v and %v", w, b)
	}
}

func TestIntervalsHoldTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawWorks(rapid.Uint64().Draw(t, "seed"),
			rapid.IntRange(3, 8).Draw(t, "jobs"), rapid.IntRange(1, 4).Draw(t, "partitions"),
			rapid.Float64Range(0, 0.5).Draw(t, "within"), rapid.Float64Range(0, 0.5).Draw(t, "between"))
		w := s.law(deviation(s.shifts(len(s.jobs)), 1))
		if !(w.Mean.Low <= w.Mean.Value && w.Mean.Value <= w.Mean.High) {
			t.Errorf("mean %v", w.Mean)
		}
		if !(w.CV.Low <= w.CV.Value && w.CV.Value <= w.CV.High) ||
			!(w.JobCV.Low <= w.JobCV.Value && w.JobCV.Value <= w.JobCV.High) {
			t.Errorf("spreads %v and %v", w.CV, w.JobCV)
		}
	})
}

func TestDriftIsWhatVarianceTheRunsDoNotExplain(t *testing.T) {
	for _, c := range []struct{ means, variances []float64 }{
		{[]float64{0.01, -0.01, 0}, []float64{0.01, 0.01, 0.01}},
		{[]float64{0.3, 0.3}, []float64{1e-6, 1e-6}},
	} {
		if v := between(c.means, c.variances); v != 0 {
			t.Errorf("of means %v with variances %v: %g", c.means, c.variances, v)
		}
	}
	// Three exact means: their sample variance.
	if v := between([]float64{-0.1, 0, 0.1}, []float64{1e-12, 1e-12, 1e-12}); math.Abs(v-0.01) > 1e-9 {
		t.Errorf("variance %g, not 0.01", v)
	}
}
