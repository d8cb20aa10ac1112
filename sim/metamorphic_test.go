package sim_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// The tests of this file hold runs against each other: what a change of a plan must and must not change.

func TestAChannelThatHoldsAllIsAsGoodAsAnUnboundedOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true})
		p.Config.Channel.Capacity = model.Unbounded
		unbounded, want := mustRun(t, p)
		p.Config.Channel.Capacity = model.Count(partitionsOf(p))
		bounded, got := mustRun(t, p)
		sameRecords(t, want, got)
		sameResult(t, unbounded, bounded, cmpopts.IgnoreFields(sim.Result{}, "Bound", "BoundBytes"))
	})
}

func TestAFootprintDoesNotChangeWhenAnythingHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true})
		with, want := mustRun(t, p)
		p.Profile = eachKind(p.Profile, func(k *profile.Kind) {
			// What a partition holds by its blocks stays: it decides how dealloc's work is shared between them.
			k.Footprint.During, k.Footprint.Parse = nil, profile.Exactly(model.Bytes(0))
		})
		without, got := mustRun(t, p)
		sameRecords(t, want, got)
		if with.Makespan != without.Makespan {
			t.Fatalf("the makespan is %s with the footprint and %s without", with.Makespan, without.Makespan)
		}
	})
}

func TestHoldingLessOfWhatIsFreedNeverRaisesAPeak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true, freeing: true})
		p.Disturb = drawDisturbance(t, p)
		less, want := mustRun(t, p)
		part := rapid.Float64Range(0, 1).Draw(t, "of the rest")
		p.Profile = eachKind(p.Profile, func(k *profile.Kind) {
			held := k.Footprint.Freeing.Value
			more := profile.Exactly(held + part*(1-held))
			k.Footprint.Freeing = &more
		})
		more, got := mustRun(t, p)
		p.Profile = eachKind(p.Profile, func(k *profile.Kind) { k.Footprint.Freeing = nil })
		all, _ := mustRun(t, p)
		sameRecords(t, want, got)
		if less.Peak > more.Peak || more.Peak > all.Peak {
			t.Fatalf("the peak is %s, %s when more is held of what is freed, %s when all is", less.Peak, more.Peak, all.Peak)
		}
	})
}

func TestWorkKTimesAsLongTakesKTimesAsLong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{constant: true})
		p.Workload.Arrival = model.Arrival{Pattern: model.Closed}
		p.Profile = eachKind(p.Profile, func(k *profile.Kind) {
			// The two blocks share the work of freeing by their sizes; with work in fours neither halves nor the
			// corners of footprints at quarters are rounded.
			k.Footprint.Vectors.Value = k.Footprint.Assignment.Value + k.Footprint.Call.Value
		})
		p.Profile = longer(p.Profile, 4)
		k := rapid.Int64Range(2, 9).Draw(t, "k")
		once, short := mustRun(t, p)
		p.Profile = longer(p.Profile, k)
		times, long := mustRun(t, p)
		for i := range short {
			r := &short[i]
			r.At, r.Begin, r.End = r.At*model.Instant(k), r.Begin*model.Instant(k), r.End*model.Instant(k)
		}
		sameRecords(t, short, long)
		near(t, "peak", int64(times.Peak), int64(once.Peak), rampError(p.Profile))
		if times.Makespan != once.Makespan*model.Span(k) {
			t.Fatalf("the makespan is %s, want %d times %s", times.Makespan, k, once.Makespan)
		}
	})
}

// Draws and ends are rounded to nanoseconds, and where stages slow each other down, an end that shifts may shift others
// by more than itself. No bound of that is both small and sure: the plans are therefore always the same.
func TestWorkKTimesAsLongTakesKTimesAsLongUnderInterference(t *testing.T) {
	plans := rapid.Custom(func(t *rapid.T) sim.Plan { return drawPlan(t, shape{interference: true, steps: true}) })
	ordered := 0
	for seed := range 100 {
		p, k := plans.Example(seed), 2+int64(seed%8)
		p.Workload.Arrival = model.Arrival{Pattern: model.Closed}
		once, short := run(t, p)
		p.Profile = longer(p.Profile, k)
		times, long := run(t, p)
		slack := 40 * k * int64(len(short))
		near(t, "makespan", int64(times.Makespan), k*int64(once.Makespan), slack)
		if k*int64(leastGap(short)) < slack {
			continue // rounding may turn the order of two ends
		}
		ordered++
		near(t, "records", int64(len(long)), int64(len(short)), 0)
		if times.Peak != once.Peak {
			t.Errorf("plan %d: the peak is %s, want %s as with work once as long", seed, times.Peak, once.Peak)
		}
	}
	if ordered < 20 {
		t.Errorf("only %d plans keep their order", ordered)
	}
}

func TestMemoryKTimesAsLargePeaksKTimesAsHigh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.Bool().Draw(t, "steps")
		p := drawPlan(t, shape{interference: true, steps: steps})
		k := rapid.Int64Range(2, 9).Draw(t, "k")
		slack := int64(0)
		if !steps {
			slack = k * rampError(p.Profile)
		}
		free, _ := mustRun(t, p)
		limit := rapid.Int64Range(1, 2*int64(free.Peak)+1).Draw(t, "limit")
		if gap := limit - int64(free.Peak); max(gap, -gap) < slack {
			t.Skip("the peak is too near the limit for ramps")
		}
		p.Machine.CgroupLimit = model.Bytes(limit)
		once, _ := mustRun(t, p)
		p.Machine.CgroupLimit *= model.Bytes(k)
		p.Profile = larger(p.Profile, k)
		times, _ := mustRun(t, p)
		if times.Verdict != once.Verdict {
			t.Fatalf("the verdict is %s, want %s", times.Verdict, once.Verdict)
		}
		if once.Verdict == sim.OOM && !steps {
			return // a ramp passes the limit within a nanosecond, in which it may rise by any number of bytes
		}
		near(t, "peak", int64(times.Peak), k*int64(once.Peak), slack)
		if steps && times.PeakAt != once.PeakAt {
			t.Fatalf("the peak is at %s, want %s", times.PeakAt, once.PeakAt)
		}
	})
}

func TestEqualKindsMayChangePlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{constant: true, interference: true})
		first := p.Profile.Kinds[0]
		second := first
		second.Name = "twin of " + first.Name
		p.Profile.Kinds = []profile.Kind{first, second}
		a := model.Share{Kind: first.Name, Jobs: rapid.IntRange(1, 4).Draw(t, "jobs")}
		b := model.Share{Kind: second.Name, Jobs: rapid.IntRange(1, 4).Draw(t, "twin jobs")}
		p.Workload.Shares = []model.Share{{Kind: first.Name, Jobs: a.Jobs + b.Jobs}}
		want, _ := mustRun(t, p)
		for _, shares := range [][]model.Share{{a, b}, {b, a}} {
			p.Workload.Shares = shares
			got, _ := mustRun(t, p)
			sameResult(t, want, got)
		}
	})
}

// TestMoreMemoryNeverMakesAVerdictWorse holds that it turns neither fits into oom or refuse nor oom into refuse.
func TestMoreMemoryNeverMakesAVerdictWorse(t *testing.T) {
	rank := map[sim.Verdict]int{sim.Refuse: 0, sim.OOM: 1, sim.Fits: 2}
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true})
		free, _ := mustRun(t, p)
		base := int64(p.Profile.Baseline.Value)
		limits := rapid.SliceOfN(rapid.Int64Range(1, 2*int64(free.Peak)+2), 2, 6).Draw(t, "limits")
		limits = append(limits, max(1, base-1), max(1, base), max(1, int64(free.Peak)), int64(free.Peak)+1)
		slices.Sort(limits)
		worst := 0
		var fitted *sim.Result
		for _, limit := range limits {
			p.Machine.CgroupLimit = model.Bytes(limit)
			got, _ := mustRun(t, p)
			if fits := got.Verdict == sim.Fits; fits != (model.Bytes(limit) >= free.Peak) {
				t.Fatalf("with %s the verdict is %s; without a limit the peak is %s", model.Bytes(limit), got.Verdict, free.Peak)
			}
			is, known := rank[got.Verdict]
			if !known || is < worst {
				t.Fatalf("with %s the verdict is %s, and better with less", model.Bytes(limit), got.Verdict)
			}
			worst = is
			if got.Verdict != sim.Fits {
				continue
			}
			if fitted != nil {
				sameResult(t, fitted, got, cmpopts.IgnoreFields(sim.Result{}, "Limit", "Reason"))
			}
			fitted = got
		}
	})
}

func TestARunThatIgnoresTheLimitAgreesUntilTheCrossing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.Bool().Draw(t, "steps")
		p := drawPlan(t, shape{interference: true, steps: steps})
		free, _ := mustRun(t, p)
		if free.Peak == 0 {
			t.Skip("nothing is held")
		}
		p.Machine.CgroupLimit = model.Bytes(rapid.Int64Range(1, int64(free.Peak)).Draw(t, "limit"))
		cut, before := mustRun(t, p)
		p.IgnoreLimit = true
		whole, all := mustRun(t, p)
		sameRecords(t, all[:len(before)], before)
		sameResult(t, free, whole, cmpopts.IgnoreFields(sim.Result{}, "Limit", "OOMAt", "Verdict", "Reason"))
		if whole.Verdict != cut.Verdict {
			t.Fatalf("the verdict is %s, and %s when the limit is ignored", cut.Verdict, whole.Verdict)
		}
		if !cut.Verdict.Over() {
			return
		}
		// Where ramps pass it between two events, their clocks are read in whole nanoseconds, which is not quite together.
		if steps && cut.Peak > whole.Peak || cut.Peak <= p.Machine.CgroupLimit || cut.PeakAt > whole.PeakAt {
			t.Fatalf("passes %s with %s at %s; when the limit is ignored it peaks at %s at %s",
				p.Machine.CgroupLimit, cut.Peak, cut.PeakAt, whole.Peak, whole.PeakAt)
		}
	})
}

func TestOnePermitUntilTheFinishMakesARunSerial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{})
		p.Workload.Arrival = model.Arrival{Pattern: model.Closed}
		p.Config.JobsInFlight = 1
		p.Config.Admission = model.Admission{Permits: 1, Release: model.AfterFinish}
		result, records := mustRun(t, p)
		want := model.Span(0)
		sampler := profile.NewSampler(p.Profile.Kinds, p.Seed, 0)
		for _, job := range arrivalsOf(records) {
			k := &p.Profile.Kinds[job.kind]
			amount := func(partition int, s model.Stage) model.Span {
				if _, there := k.Work[s]; !there {
					return 0
				}
				return sampler.Work(job.kind, job.job, int32(partition), s, model.NoBlock)
			}
			want += amount(0, model.Parse)
			for i := range k.Partitions {
				prep, kernel := amount(i, model.Prep), amount(i, model.Kernel)
				region := prep + kernel
				if p.Config.GPU.Prep == model.PrepBesideLock {
					region = max(prep, kernel)
				}
				want += amount(i, model.Synth) + region + amount(i, model.Tail) + amount(i, model.Finish)
			}
		}
		if result.Makespan != want {
			t.Fatalf("the makespan is %s, want the sum of the stages, %s", result.Makespan, want)
		}
	})
}

func TestConfigurationsSeeTheSameDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{})
		_, one := mustRun(t, p)
		p.Config = drawConfig(t)
		_, other := mustRun(t, p)
		if diff := cmp.Diff(durations(one), durations(other)); diff != "" {
			t.Fatalf("the durations of stages differ between two configurations:\n%s", diff)
		}
		if diff := cmp.Diff(arrivalsOf(one), arrivalsOf(other), cmp.AllowUnexported(arrival{})); diff != "" {
			t.Fatalf("the arrivals differ between two configurations:\n%s", diff)
		}
	})
}
