package sim_test

import (
	"fmt"
	"testing"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// TestHeldPartitionsAreDistributedAsTheBirthDeathChainSays looks at a saturated pipeline whose permits return after
// the send, with exponential synthesis and kernels. How many partitions hold vectors is then a Markov chain.
func TestHeldPartitionsAreDistributedAsTheBirthDeathChainSays(t *testing.T) {
	for _, c := range []chain{
		{permits: 2, capacity: 0, workers: 1, synth: 2, kernel: 1},
		{permits: 4, capacity: 2, workers: 2, synth: 2.5, kernel: 1},
		{permits: 3, capacity: 4, workers: 3, synth: 0.8, kernel: 1},
	} {
		t.Run(fmt.Sprintf("%d permits, capacity %d, %d workers", c.permits, c.capacity, c.workers), func(t *testing.T) {
			var runs [][]float64
			for i := range replicas {
				runs = append(runs, c.simulate(t, uint64(i)+1))
			}
			exact, mean, means := c.stationary(), 0.0, make([]float64, replicas)
			for n := range exact {
				var part []float64
				for i, r := range runs {
					part = append(part, r[n])
					means[i] += float64(n) * r[n]
				}
				mean += float64(n) * exact[n]
				if exact[n] > 0.06 { // rarer ones would need longer runs for an interval of 2 %
					agree(t, fmt.Sprintf("P(%d held)", n), part, exact[n])
				}
			}
			agree(t, "partitions held", means, mean)
		})
	}
}

// chain is the birth-death chain of partitions that are synthesized and not through the kernel.
type chain struct {
	permits, capacity, workers int
	synth, kernel              float64 // mean times in seconds
}

// stationary returns the probability of each number of held partitions, from the balance of births and deaths.
func (c chain) stationary() []float64 {
	p := []float64{1}
	sum := 1.0
	for n := 1; n <= c.permits+c.capacity+c.workers; n++ {
		blocked := max(0, n-1-c.capacity-c.workers)
		birth := float64(c.permits-blocked) / c.synth
		death := float64(min(n, c.workers)) / c.kernel
		p = append(p, p[n-1]*birth/death)
		sum += p[n]
	}
	for n := range p {
		p[n] /= sum
	}
	return p
}

// simulate returns the parts of the time in which each number was held, as the records of a run have it.
func (c chain) simulate(t *testing.T, seed uint64) []float64 {
	const partitions = 24_000
	config := openConfig()
	config.Admission = model.Admission{Permits: model.Count(c.permits), Release: model.AfterSend}
	config.Channel.Capacity = model.Count(c.capacity)
	config.GPU.Devices = model.Count(c.workers) // with one worker each
	work := map[model.Stage]profile.Work{model.Synth: exponential(c.synth), model.Kernel: exponential(c.kernel)}
	p := planOf(config, kindOf(partitions, work), profile.Interference{}, 1)
	p.Seed = seed

	time := make([]float64, c.permits+c.capacity+c.workers+1)
	held, synthesized, last := 0, 0, model.Instant(0)
	_, err := sim.Run(p, func(r *model.Record) {
		if synthesized > partitions-c.permits {
			return // the line is not saturated any more
		}
		time[held] += float64(r.At - last)
		last = r.At
		if r.Input.Op == model.Done && r.Input.Task.Stage == model.Synth {
			held++
			synthesized++
		}
		for i := range r.Effects {
			if e := &r.Effects[i]; e.Op == model.Freed && e.Task.Block == model.Vectors {
				held--
			}
		}
	})
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	for n := range time {
		time[n] /= float64(last)
	}
	return time
}
