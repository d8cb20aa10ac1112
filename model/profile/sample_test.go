package profile

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"headroom/model"
)

const sampled = 40_000

// draw returns the work of a stage in seconds for one partition of each of many jobs.
func draw(s *Sampler, stage model.Stage) []float64 {
	values := make([]float64, sampled)
	for job := range values {
		values[job] = s.Work(0, int32(job), 3, stage, model.NoBlock).Seconds()
	}
	return values
}

func samplerOf(work map[model.Stage]Work) *Sampler {
	return NewSampler([]Kind{{Name: "a", Partitions: 4, Work: work}}, 5, 2)
}

func work(law Law, cv, jobCV float64) Work {
	return Work{Law: law, Mean: Exactly(10 * model.Second), CV: Exactly(cv), JobCV: Exactly(jobCV)}
}

// The mean is the profile's whatever the spread, and the spreads of a partition and of its job multiply.
func TestWorkHasTheMeanAndTheSpreadOfItsLaw(t *testing.T) {
	for _, c := range []struct {
		name string
		work Work
		cv   float64
	}{
		{"constant", work(Constant, 0, 0), 0},
		{"constant but for the job", work(Constant, 0, 0.3), 0.3},
		{"lognormal", work(Lognormal, 0.4, 0), 0.4},
		{"lognormal with a job", work(Lognormal, 0.4, 0.3), math.Sqrt(1.16*1.09 - 1)},
		{"wide", work(Lognormal, 1.5, 0), 1.5},
		{"exponential", work(Exponential, 1, 0), 1},
	} {
		values := draw(samplerOf(map[model.Stage]Work{model.Synth: c.work}), model.Synth)
		mean, deviation := stat.MeanStdDev(values, nil)
		if off := math.Abs(mean/10 - 1); off > 5*c.cv/math.Sqrt(sampled)+1e-9 {
			t.Errorf("%s: mean %v s, want 10", c.name, mean)
		}
		// The estimate of a wide spread is itself widely spread.
		if off := math.Abs(deviation/mean - c.cv); off > 0.02*c.cv*(1+c.cv*c.cv) {
			t.Errorf("%s: coefficient of variation %v, want %v", c.name, deviation/mean, c.cv)
		}
	}
}

// Partitions of one job share its factor and nothing else.
func TestPartitionsShareTheirJobsFactor(t *testing.T) {
	s := samplerOf(map[model.Stage]Work{model.Synth: work(Lognormal, 0.2, 0.4)})
	first, second := make([]float64, sampled), make([]float64, sampled)
	for job := range first {
		first[job] = math.Log(s.Work(0, int32(job), 0, model.Synth, model.NoBlock).Seconds())
		second[job] = math.Log(s.Work(0, int32(job), 1, model.Synth, model.NoBlock).Seconds())
	}
	shared, own := math.Log1p(0.16), math.Log1p(0.04)
	if got, want := stat.Correlation(first, second, nil), shared/(shared+own); math.Abs(got-want) > 5/math.Sqrt(sampled) {
		t.Errorf("two partitions of a job correlate by %v: want %v", got, want)
	}
}

// A stage's draws stay what they are when another stage gets a law of its own, and no two stages share theirs.
func TestStagesDrawApart(t *testing.T) {
	alone := draw(samplerOf(map[model.Stage]Work{model.Synth: work(Lognormal, 0.3, 0.2)}), model.Synth)
	both := samplerOf(map[model.Stage]Work{model.Synth: work(Lognormal, 0.3, 0.2), model.Kernel: work(Lognormal, 0.3, 0.2)})
	kernel := draw(both, model.Kernel)
	for i, v := range draw(both, model.Synth) {
		if v != alone[i] {
			t.Fatalf("job %d: %v s beside a kernel, %v s alone", i, v, alone[i])
		}
	}
	if r := stat.Correlation(alone, kernel, nil); math.Abs(r) > 5/math.Sqrt(sampled) {
		t.Errorf("synth and kernel correlate by %v", r)
	}
}

// The work of freeing a partition is shared between its blocks by their sizes.
func TestFreeingIsSharedBetweenBlocks(t *testing.T) {
	s := NewSampler([]Kind{{
		Work:      map[model.Stage]Work{model.Dealloc: work(Constant, 0, 0)},
		Footprint: Footprint{Vectors: Exactly(6 * model.MiB), Assignment: Exactly(model.MiB), Call: Exactly(model.MiB)},
	}}, 1, 0)
	for block, want := range map[model.Block]model.Span{model.Vectors: 7.5e9, model.Assignment: 2.5e9} {
		if got := s.Work(0, 0, 0, model.Dealloc, block); got != want {
			t.Errorf("freeing %s is %s of work: want %s", block, got, want)
		}
	}
}
