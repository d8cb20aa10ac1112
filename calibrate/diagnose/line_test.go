package diagnose

import (
	"math"
	"testing"

	"headroom/model/stream"
)

// follow returns values that follow each other: each is a part alpha of the one before and something new.
func follow(seed uint64, n int, alpha float64) []float64 {
	key := stream.NewKey(seed, 0, 5)
	out := make([]float64, n)
	for i := range out {
		out[i] = stream.Normal(key.Uniform(uint32(i), 0))
		if i > 0 {
			out[i] += alpha * out[i-1]
		}
	}
	return out
}

// The 95 % interval of a slope holds the true one in 87 of 100 cases or more, however much errors are alike: that is
// what one can have of fifty values whose likeness is estimated from themselves. Ordinary least squares would miss it in
// most cases of a random walk.
func TestIntervalsHoldTheSlope(t *testing.T) {
	const n, runs, slope = 50, 600, 0.3
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i) / 5
	}
	for _, alpha := range []float64{0, 0.3, 0.6, 0.8, 0.95, 1} {
		missed := 0
		for run := range runs {
			y := follow(uint64(run), n, alpha)
			for i := range y {
				y[i] += slope * x[i]
			}
			l, ok := fitLine(x, y)
			if !ok {
				t.Fatal("the line cannot be fitted")
			}
			if i := l.interval(0.95, 0); i.Low > slope || i.High < slope {
				missed++
			}
		}
		t.Logf("alpha %.2f: %.1f %% missed", alpha, 100*float64(missed)/runs)
		if part := float64(missed) / runs; part > 0.13 {
			t.Errorf("alpha %.2f: %.1f %% of the intervals miss the slope", alpha, 100*part)
		}
	}
}

// A line is found exactly where there is no error, and what is beside it is told apart.
func TestALineWithoutErrorsIsFoundExactly(t *testing.T) {
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7}
	step := []float64{0, 0, 0, 1, 1, 1, 1, 1}
	y := make([]float64, len(x))
	for i := range y {
		y[i] = 7 + 2*x[i] - 5*step[i]
	}
	l, ok := fitLine(x, y, step)
	if !ok || math.Abs(l.slope-2) > 1e-9 {
		t.Errorf("slope %v, %v, want 2", l.slope, ok)
	}
	if of := l.of(step); math.Abs(of) > 1e-9 {
		t.Errorf("the step has the slope %v beside itself, want 0", of)
	}
	for _, beside := range [][]float64{x, make([]float64, len(x))} {
		if _, ok := fitLine(x, y, beside); ok {
			t.Errorf("a line beside %v was fitted", beside)
		}
	}
}
