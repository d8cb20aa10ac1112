package sim_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// The tests of this file hold the simulator to what queueing theory knows. Each estimates from independent runs and
// demands a 99 % interval that is at most 2 % of the value wide on either side and has the exact value inside.

// replicas is the number of independent runs behind an estimate.
const replicas = 30

// agree judges estimates of a quantity against its exact value.
func agree(t *testing.T, what string, estimates []float64, exact float64) {
	t.Helper()
	mean, deviation := stat.MeanStdDev(estimates, nil)
	n := float64(len(estimates))
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.995) * deviation / math.Sqrt(n)
	t.Logf("%s: %.5f ± %.5f, exactly %.5f", what, mean, half, exact)
	if half > 0.02*exact {
		t.Errorf("%s: the interval %.5f ± %.5f is wider than 2 %%: more runs are needed", what, mean, half)
	}
	if math.Abs(mean-exact) > half {
		t.Errorf("%s is %.5f ± %.5f, want %.5f", what, mean, half, exact)
	}
}

// queue observes a station with a waiting line from a run's records.
type queue struct {
	service  model.Stage
	arrived  []model.Instant // by job
	waited   model.Span
	last     model.Instant
	inside   int64
	area     float64 // jobs times nanoseconds
	jobsDone int64
}

func (q *queue) observe(r *model.Record) {
	q.area += float64(q.inside) * float64(r.At-q.last)
	q.last = r.At
	if r.Input.Op == model.Arrive {
		q.inside++
		q.arrived = append(q.arrived, r.At)
	}
	for i := range r.Effects {
		switch e := &r.Effects[i]; {
		case e.Op == model.Start && e.Task.Stage == q.service:
			q.waited += r.At.Sub(q.arrived[e.Job])
		case e.Op == model.JobDone:
			q.inside--
			q.jobsDone++
		}
	}
}

// measureQueue runs an open plan several times and returns the mean waiting times in seconds and the mean numbers
// of jobs inside.
func measureQueue(t *testing.T, p sim.Plan, service model.Stage) (waits, inside []float64) {
	t.Helper()
	for i := range replicas {
		p.Seed = uint64(i) + 1
		q := queue{service: service}
		if _, err := sim.Run(p, q.observe); err != nil {
			t.Fatalf("run: %v", err)
		}
		waits = append(waits, q.waited.Seconds()/float64(q.jobsDone))
		inside = append(inside, q.area/float64(q.last))
	}
	return waits, inside
}

// openPlan is jobs of one partition that arrive at random.
func openPlan(config model.Config, rate float64, jobs int, work map[model.Stage]profile.Work) sim.Plan {
	p := planOf(config, kindOf(1, work), profile.Interference{}, jobs)
	p.Workload.Arrival = model.Arrival{Pattern: model.Poisson, Rate: rate}
	return p
}

func TestOneExponentialGPUWorkerIsAnMM1Queue(t *testing.T) {
	const load = 0.5
	p := openPlan(openConfig(), load, 35_000, map[model.Stage]profile.Work{model.Synth: seconds(0), model.Kernel: exponential(1)})
	waits, inside := measureQueue(t, p, model.Kernel)
	agree(t, "waiting time", waits, load/(1-load))
	agree(t, "jobs inside", inside, load/(1-load))
}

func TestOneConstantGPUWorkerIsAnMD1Queue(t *testing.T) {
	const load = 0.6
	p := openPlan(openConfig(), load, 25_000, map[model.Stage]profile.Work{model.Synth: seconds(0), model.Kernel: seconds(1)})
	waits, inside := measureQueue(t, p, model.Kernel)
	wait := load / (2 * (1 - load)) // Pollaczek and Khinchine
	agree(t, "waiting time", waits, wait)
	agree(t, "jobs inside", inside, load*(1+wait))
}

func TestDevicesWithOneWorkerEachAreAnMMcQueue(t *testing.T) {
	const servers, rate = 2, 1.2
	config := openConfig()
	config.GPU.Devices = servers
	p := openPlan(config, rate, 35_000, map[model.Stage]profile.Work{model.Synth: seconds(0), model.Kernel: exponential(1)})
	waits, inside := measureQueue(t, p, model.Kernel)
	agree(t, "waiting time", waits, erlangWait(servers, rate))
	agree(t, "jobs inside", inside, rate*(1+erlangWait(servers, rate)))
}

func TestPermitsUntilTheEndOfSynthesisAreTheServersOfAnMMcQueue(t *testing.T) {
	const servers, rate = 2, 1.1
	config := openConfig()
	config.Admission = model.Admission{Permits: servers, Release: model.AfterSynthesis}
	p := openPlan(config, rate, 40_000, map[model.Stage]profile.Work{model.Synth: exponential(1), model.Kernel: seconds(0)})
	waits, inside := measureQueue(t, p, model.Synth)
	agree(t, "waiting time", waits, erlangWait(servers, rate))
	agree(t, "jobs inside", inside, rate*(1+erlangWait(servers, rate)))
}

// erlangWait is the mean waiting time in an M/M/c queue with services of mean 1 (Erlang's C formula).
func erlangWait(servers int, rate float64) float64 {
	term, sum := 1.0, 0.0
	for k := range servers {
		sum += term
		term *= rate / float64(k+1)
	}
	spare := float64(servers) - rate
	tail := term * float64(servers) / spare
	return tail / (sum + tail) / spare
}

// TestTheThroughputOfASaturatedLineIsExact looks at two exponential stations of rate mu with a buffer of b between
// them and blocking after service. The number of partitions past the first station is a birth-death chain from 0 to
// b+2 with equal rates, so all b+3 states are equally likely and the second station works in all but one.
func TestTheThroughputOfASaturatedLineIsExact(t *testing.T) {
	for _, buffer := range []model.Count{0, 1, 4} {
		config := openConfig()
		config.Admission = model.Admission{Permits: 1, Release: model.AfterSend}
		config.Channel.Capacity = buffer
		const partitions = 5_000
		p := planOf(config, kindOf(partitions, map[model.Stage]profile.Work{model.Synth: exponential(1), model.Kernel: exponential(1)}), profile.Interference{}, 1)
		var rates []float64
		for i := range replicas {
			p.Seed = uint64(i) + 1
			result, err := sim.Run(p, nil)
			if err != nil {
				t.Fatalf("run: %v", err)
			}
			rates = append(rates, partitions/result.Makespan.Seconds())
		}
		agree(t, "throughput with a buffer of "+buffer.String(), rates, float64(buffer+2)/float64(buffer+3))
	}
}
