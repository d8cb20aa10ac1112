package sim_test

import (
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// TestTheBoundIsReachedAndNamesItsParts runs, for each release point, jobs whose durations bring as many partitions
// to hold vectors at once as the structure lets.
func TestTheBoundIsReachedAndNamesItsParts(t *testing.T) {
	slowKernel := map[model.Stage]profile.Work{model.Synth: seconds(1), model.Kernel: seconds(100), model.Finish: seconds(1)}
	slowFinish := map[model.Stage]profile.Work{model.Synth: seconds(1), model.Kernel: seconds(1), model.Finish: seconds(1000)}
	for _, c := range []struct {
		name     string
		work     map[model.Stage]profile.Work
		change   func(*model.Config)
		want     int // 0: none
		formula  string
		observed int // partitions with vectors at once, of 20
	}{
		{"after_synthesis", slowKernel, func(c *model.Config) { c.Admission.Release = model.AfterSynthesis },
			0, "unbounded: neither jobs in flight, permits, synthesis workers nor a ledger limit the partitions that wait", 20},
		{"after_send", slowKernel, func(c *model.Config) {},
			8, "permits 3 + channel 3 + gpu workers 2 = 8", 8},
		{"after_send to an own capacity", slowKernel, func(c *model.Config) { c.Channel.Capacity = 5 },
			10, "permits 3 + channel 5 + gpu workers 2 = 10", 10},
		{"after_send by rendezvous", slowKernel, func(c *model.Config) { c.Channel.Capacity = 0 },
			5, "permits 3 + channel 0 + gpu workers 2 = 5", 5},
		{"after_send to two devices", slowKernel, func(c *model.Config) { c.GPU.Devices = 2 },
			10, "permits 3 + channel 3 + gpu workers 4 = 10", 10},
		{"after_send to an unbounded channel", slowKernel, func(c *model.Config) { c.Channel.Capacity = model.Unbounded },
			0, "unbounded: neither jobs in flight, permits, synthesis workers nor a ledger limit the partitions that wait", 20},
		{"after_send, vectors that wait for a finalizer", slowFinish, func(c *model.Config) { c.FreeVectors, c.Finalizers = model.AfterFinish, 1 },
			0, "unbounded: neither jobs in flight, permits, synthesis workers nor a ledger limit the partitions that wait", 20},
		{"after_send, vectors that the worker keeps", slowFinish, func(c *model.Config) { c.FreeVectors, c.GPU.Split = model.AfterFinish, false },
			8, "permits 3 + channel 3 + gpu workers 2 = 8", 8},
		{"after_kernel", slowKernel, func(c *model.Config) { c.Admission.Release = model.AfterKernel },
			3, "permits 3 = 3", 3},
		{"after_kernel, vectors that the worker keeps", slowFinish, func(c *model.Config) {
			c.Admission.Release, c.FreeVectors, c.GPU.Split = model.AfterKernel, model.AfterFinish, false
		}, 5, "permits 3 + gpu workers 2 = 5", 5},
		{"after_kernel, vectors that wait for a finalizer", slowFinish, func(c *model.Config) {
			c.Admission.Release, c.FreeVectors, c.Finalizers = model.AfterKernel, model.AfterFinish, 1
		}, 0, "unbounded: neither jobs in flight, permits, synthesis workers nor a ledger limit the partitions that wait", 20},
		{"after_finish", slowFinish, func(c *model.Config) { c.Admission.Release, c.FreeVectors = model.AfterFinish, model.AfterFinish },
			3, "permits 3 = 3", 3},
		{"no permits", slowKernel, func(c *model.Config) { c.Admission.Permits = model.Unbounded },
			0, "unbounded: neither jobs in flight, permits, synthesis workers nor a ledger limit the partitions that wait", 20},
		{"jobs in flight without permits", slowKernel, func(c *model.Config) { c.Admission.Permits, c.JobsInFlight = model.Unbounded, 2 },
			10, "jobs_in_flight 2 x partitions 5 = 10", 10},
		{"jobs in flight below the permits' bound", slowKernel, func(c *model.Config) { c.JobsInFlight = 1 },
			5, "jobs_in_flight 1 x partitions 5 = 5", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := model.DefaultConfig(1)
			config.JobsInFlight = model.Unbounded
			config.Admission.Permits = 3
			c.change(&config)
			got, records := run(t, planOf(config, kindOf(5, c.work), profile.Interference{}, 4))
			if got.Bound.Partitions != c.want || got.Bound.Formula != c.formula {
				t.Errorf("the bound is %d (%s), want %d (%s)", got.Bound.Partitions, got.Bound.Formula, c.want, c.formula)
			}
			if most := mostWithVectors(records); most != c.observed {
				t.Errorf("%d partitions hold vectors at once, want %d", most, c.observed)
			}
		})
	}
}

// mostWithVectors returns the most partitions that held vectors at once, from the start of their synthesis on.
func mostWithVectors(records []model.Record) int {
	holding, most := 0, 0
	for _, r := range records {
		for _, e := range r.Effects {
			switch {
			case e.Op == model.Start && e.Task.Stage == model.Synth:
				holding++
			case e.Op == model.Freed && e.Task.Block == model.Vectors:
				holding--
			}
		}
		most = max(most, holding)
	}
	return most
}

func TestALaterReleaseNeverRaisesTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		partitions := rapid.IntRange(1, 20).Draw(t, "partitions")
		before := 0
		for _, release := range releases {
			c.Admission.Release = release
			bound := c.StructuralBound(partitions).Partitions
			if before > 0 && (bound == 0 || bound > before) {
				t.Fatalf("released %s the bound is %d; released earlier it was %d (0: none)", release, bound, before)
			}
			before = bound
		}
	})
}

func TestTheBoundOfBytesIsThatOfItsPartitions(t *testing.T) {
	k := kindOf(4, map[model.Stage]profile.Work{model.Synth: seconds(1), model.Prep: seconds(1), model.Kernel: seconds(1), model.Tail: seconds(1)})
	k.Footprint = profile.Footprint{
		Vectors: profile.Exactly(model.Bytes(1000)), Assignment: profile.Exactly(model.Bytes(100)),
		Call: profile.Exactly(model.Bytes(10)), Parse: profile.Exactly(model.Bytes(1)),
		During: map[model.Stage][]profile.Point{model.Synth: flat(1500), model.Prep: flat(200), model.Kernel: flat(300), model.Tail: flat(400)},
	}
	p := planOf(openConfig(), k, profile.Interference{}, 5)
	p.Profile.Baseline = profile.Exactly(model.Bytes(100_000))
	p.Config.Admission = model.Admission{Permits: 2, Release: model.AfterSend}
	p.Config.Channel.Capacity = 3
	// Two permits, three in the channel and a worker hold 1000+100+10 and, preparing beside the kernel, 200+400.
	if got, _ := run(t, p); got.BoundBytes != 100_000+6*1710+5*1 {
		t.Errorf("the bound is %d B, want %d", got.BoundBytes, 100_000+6*1710+5)
	}
	p.Config.JobsInFlight = 1
	if got, _ := run(t, p); got.BoundBytes != 100_000+4*1710+1 {
		t.Errorf("the bound with one job in flight is %d B, want %d", got.BoundBytes, 100_000+4*1710+1)
	}
	p.Config.JobsInFlight, p.Config.Channel.Capacity = model.Unbounded, model.Unbounded
	if got, _ := run(t, p); got.BoundBytes != 0 {
		t.Errorf("the bound with an unbounded channel is %d B, want none", got.BoundBytes)
	}
}

func TestNoPeakIsAboveTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true})
		if rapid.Bool().Draw(t, "ledger") {
			drawLedger(t, &p)
		}
		p.Profile = eachKind(p.Profile, func(k *profile.Kind) {
			k.Work, k.Footprint.During = maps.Clone(k.Work), maps.Clone(k.Footprint.During)
			// Partitions without vectors are not in the bound.
			without := []model.Stage{model.Dealloc}
			if p.Config.FreeVectors == model.AfterKernel {
				without = append(without, model.Finish)
			}
			for _, s := range without {
				delete(k.Work, s)
				delete(k.Footprint.During, s)
			}
		})
		got, _ := mustRun(t, p)
		if got.BoundBytes > 0 && got.Peak > got.BoundBytes {
			t.Fatalf("the peak is %s, above the bound of %s: %s", got.Peak, got.BoundBytes, got.Bound.Formula)
		}
	})
}

// drawLedger gives a plan a byte ledger and data that comes and goes, of which not all may be there at once.
func drawLedger(t *rapid.T, p *sim.Plan) {
	b := &model.Budget{Total: 6*model.GiB + 2*drawBytes(t, "ledger").Value, Kinds: map[string]model.Demand{}}
	for i := range p.Profile.Kinds {
		d := model.Demand{Reserve: drawBytes(t, "reserve").Value}
		d.ReleaseAfterKernel = min(d.Reserve, drawBytes(t, "released").Value)
		if rapid.Bool().Draw(t, "working first") {
			d.AcquireOrder = model.WorkingFirst
		}
		b.Kinds[p.Profile.Kinds[i].Name] = d
	}
	p.Config.Admission.Budget = b
	for i := range rapid.IntRange(0, 3).Draw(t, "data") {
		r := model.Resident{
			Name: fmt.Sprint("data", i), Bytes: 2 * drawBytes(t, "data").Value, Transient: drawBytes(t, "transient").Value, LoadTime: model.Second,
			OnDemand: rapid.Bool().Draw(t, "on demand"), Evictable: rapid.Bool().Draw(t, "evictable"),
		}
		if rapid.Bool().Draw(t, "polls") {
			r.Acquire = model.AcquirePolling
		}
		if n := rapid.IntRange(0, len(p.Profile.Kinds)).Draw(t, "of kind"); n < len(p.Profile.Kinds) {
			r.Kinds = []string{p.Profile.Kinds[n].Name}
		}
		p.Config.Resident = append(p.Config.Resident, r)
	}
}
