package calibrate

import (
	"math"
	"testing"

	"headroom/model/stream"
)

func TestFewDegreesOfFreedomWidenIntervals(t *testing.T) {
	// The quantiles of Student's distribution at 0.975 are in every table of it.
	for df, want := range map[float64]float64{1: 12.706, 2: 4.303, 10: 2.228, 1000: 1.962} {
		if got := half * student(df); math.Abs(got-want) > 5e-4 {
			t.Errorf("with %g degrees of freedom the quantile is %.4f, not %.3f", df, got, want)
		}
	}
	if student(-3) != student(1) {
		t.Errorf("without a degree of freedom the factor is %g, not that of one, %g", student(-3), student(1))
	}
}

// Five shifts that add up to the error of a mean: its interval holds the truth in 95 cases of 100.
func TestTheIntervalOfAFewClustersHolds(t *testing.T) {
	const runs, clusters = 2000, 5
	inside := 0
	for run := range uint32(runs) {
		key := stream.NewKey(1, run, 3)
		values, mean := make([]float64, clusters), 0.0
		for c := range values {
			values[c] = stream.Normal(key.Uniform(uint32(c), 0))
			mean += values[c] / clusters
		}
		for c := range values {
			values[c] = (values[c] - mean) / clusters
		}
		if math.Abs(mean) <= half*deviation(values, 1) {
			inside++
		}
	}
	// 1900 are expected; 40 more or less are four standard deviations.
	if inside < 1860 || inside > 1940 {
		t.Errorf("the mean is in %d of %d intervals of 95 %%", inside, runs)
	}
}
