package diagnose_test

import (
	"math"
	"testing"

	"headroom/calibrate/diagnose"
	"headroom/model"
	"headroom/model/trace"
)

// pairs calls f with the diagnoses of recordings, every other one with a leak, and of the same changed before or after
// they are made.
func pairs(t *testing.T, change func(*recording), edit func(*trace.Trace), f func(before, after *diagnose.Report)) {
	t.Helper()
	for n := range uint64(16) {
		r := drawn(1000 + n)
		r.cache = 0
		r.leak = 0.02 * float64(n%2)
		before, err := diagnose.Of(r.make(), 0)
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		edited := r.make()
		edit(edited)
		after, err := diagnose.Of(edited, 0)
		if err != nil {
			t.Fatal(err)
		}
		f(before, after)
	}
}

// Twice as much of everything is found to be the same, with twice the growth: no number of bytes is built in.
func TestTwiceTheMemoryHasTheSameFindingAndTwiceTheGrowth(t *testing.T) {
	double := func(m *trace.Memory) {
		for _, b := range []*model.Bytes{&m.RSSBytes, &m.AnonBytes, &m.FileBytes, &m.ShmemBytes} {
			*b *= 2
		}
	}
	pairs(t, func(*recording) {}, func(recorded *trace.Trace) {
		double(&recorded.Baseline.Memory)
		for i := range recorded.Samples {
			double(&recorded.Samples[i].Memory)
		}
	}, func(once, twice *diagnose.Report) {
		if once.Finding != twice.Finding {
			t.Errorf("%s: %s\ntwice of it %s: %s", once.Finding, once.Reason, twice.Finding, twice.Reason)
		}
		if a, b := once.PerJob.Value, twice.PerJob.Value; math.Abs(b-2*a) > 1e-3*math.Abs(a)+1 {
			t.Errorf("growth %v, twice of it %v", a, b)
		}
	})
}

// Page cache changes no finding.
func TestPageCacheChangesNoFinding(t *testing.T) {
	pairs(t, func(r *recording) { r.cache = 0.5 }, func(*trace.Trace) {}, func(plain, files *diagnose.Report) {
		if plain.Finding != files.Finding || plain.Reason != files.Reason {
			t.Errorf("%s: %s\nwith files %s: %s", plain.Finding, plain.Reason, files.Finding, files.Reason)
		}
	})
}
