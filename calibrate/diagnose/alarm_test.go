package diagnose_test

import (
	"testing"

	"headroom/calibrate/diagnose"
	"headroom/model"
	"headroom/model/stream"
)

// drawn returns a recording of a pipeline and of a process's habits, drawn by a number. None of it is a leak.
func drawn(n uint64) recording {
	key := stream.NewKey(n, 0, 77)
	draw := func(i uint32, low, high float64) float64 { return low + (high-low)*key.Uniform(i, 0) }
	pick := func(i uint32, of int) int { return int(key.Uniform(i, 0) * float64(of)) }
	r := steady()
	r.seed, r.tick = n, 400*model.Millisecond
	r.kind = kind(1 + pick(0, 5))
	r.jobs = 51 + pick(1, 40)
	c := &r.config
	c.JobsInFlight = model.Count(1 + pick(2, 4))
	c.Admission.Permits = model.Count(1 + pick(3, 4))
	c.Admission.Release = []model.Release{model.AfterSynthesis, model.AfterSend, model.AfterKernel, model.AfterFinish}[pick(4, 4)]
	c.Channel.Capacity = []model.Count{0, 1, 3, model.Auto}[pick(5, 4)]
	c.FreeVectors = []model.Release{model.AfterKernel, model.AfterFinish}[pick(6, 2)]
	c.GPU.WorkersPerDevice = model.Count(1 + pick(7, 2))
	switch pick(8, 4) {
	case 0:
		r.arrival = model.Arrival{Pattern: model.Poisson, Rate: draw(9, 0.1, 0.4)}
	case 1:
		r.arrival = model.Arrival{Pattern: model.Backlog, Backlog: r.jobs}
	}
	r.noise = draw(10, 0.001, 0.03)
	switch pick(11, 3) {
	case 0:
		r.drift, r.memory = draw(12, 0, 0.05), draw(13, 0.5, 30)
	case 1:
		r.drift = draw(12, 0, 0.01)
	}
	if pick(14, 3) == 0 {
		r.retain = draw(15, 0.2, 1)
	}
	if pick(16, 2) == 0 {
		r.warmUp = draw(17, 0, 0.5)
	}
	if pick(18, 2) == 0 {
		r.cache = draw(19, 0, 0.05)
	}
	return r
}

// tally diagnoses recordings and counts the findings.
func tally(t *testing.T, n int, of func(uint64) recording) map[diagnose.Finding]int {
	t.Helper()
	found := map[diagnose.Finding]int{}
	for i := range n {
		r := of(uint64(i + 1))
		report, err := diagnose.Of(r.make(), 0)
		if err != nil {
			t.Fatalf("recording %d: %v", i+1, err)
		}
		found[report.Finding]++
	}
	return found
}

// No leak is found where there is none, in at least 98 of 100 recordings: with noise, drift up to a random walk,
// retention, warm-up, growing page cache, queues, and a backlog as after a restart.
func TestNoLeakIsFoundWhereThereIsNone(t *testing.T) {
	const n = 300
	found := tally(t, n, drawn)
	t.Log(found)
	if found[diagnose.Leak] > n/50 {
		t.Errorf("%d of %d are said to leak", found[diagnose.Leak], n)
	}
}

// A leak of one hundredth of a partition's footprint for each of fifty jobs or more is found.
func TestASmallLeakIsFound(t *testing.T) {
	const n = 200
	found := tally(t, n, func(i uint64) recording {
		r := drawn(i)
		r.leak = 0.01
		return r
	})
	t.Log(found)
	if found[diagnose.Leak] < n*95/100 {
		t.Errorf("%d of %d are said to leak", found[diagnose.Leak], n)
	}
}
