package sim_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// rampPlan is one job whose partitions each grow by a byte a nanosecond in a synthesis of 10 s.
func rampPlan(partitions int, limit model.Bytes) sim.Plan {
	k := kindOf(partitions, map[model.Stage]profile.Work{model.Synth: seconds(10), model.Kernel: seconds(1)})
	k.Footprint.During = map[model.Stage][]profile.Point{model.Synth: {
		{Progress: 0, Bytes: profile.Exactly(model.Bytes(0))}, {Progress: 1, Bytes: profile.Exactly(model.Bytes(10e9))},
	}}
	p := planOf(openConfig(), k, profile.Interference{}, 1)
	p.Machine.RAM = limit
	return p
}

func TestARunFitsUpToTheLimitAndIsOutOfMemoryAboveIt(t *testing.T) {
	fits, _ := run(t, rampPlan(1, 10e9))
	if fits.Verdict != sim.Fits || fits.Peak != 10e9 || fits.SecondsPerJob != 11 {
		t.Errorf("with 10 GB the verdict is %s with %d B at the peak and %v s a job, want fits with 10 GB and 11 s", fits.Verdict, fits.Peak, fits.SecondsPerJob)
	}
	oom, _ := run(t, rampPlan(1, 10e9-1))
	if oom.Verdict != sim.OOM || oom.Peak != 10e9 || oom.PeakAt != 10e9 || !math.IsNaN(oom.SecondsPerJob) {
		t.Errorf("with a byte less the verdict is %s with %d B at %s and %v s a job, want oom with 10 GB at 10 s", oom.Verdict, oom.Peak, oom.PeakAt, oom.SecondsPerJob)
	}
	for _, r := range []*sim.Result{fits, oom} {
		if !strings.Contains(r.Reason, "machine.ram minus machine.reserve") {
			t.Errorf("the reason %q does not name the limit", r.Reason)
		}
	}
}

func TestTheCrossingOfARampIsExactBetweenEvents(t *testing.T) {
	got, records := run(t, rampPlan(1, 4e9))
	if got.Peak != 4e9+1 || got.PeakAt != 4e9+1 || got.Makespan != 4e9+1 {
		t.Errorf("a ramp of a byte a nanosecond passes 4e9 B with %d B at %d ns, want a byte more and a nanosecond later than 4 s", got.Peak, got.PeakAt)
	}
	if len(records) != 1 {
		t.Errorf("%d steps before the crossing, want the arrival alone", len(records))
	}
	// Two at a quarter of the speed each: half a byte a nanosecond together, in steps of a nanosecond of work.
	p := rampPlan(2, 4e9)
	p.Profile.Interference.Slowdowns = []profile.Slowdown{{Stage: model.Synth, By: model.Synth, Points: []profile.SlowdownPoint{{N: 2, Factor: profile.Exactly(4.0)}}}}
	if got, _ := run(t, p); got.Peak != 4e9+2 || got.PeakAt != 8e9+4 {
		t.Errorf("two slow ramps pass 4e9 B with %d B at %d ns, want 4000000002 B at 8000000004 ns", got.Peak, got.PeakAt)
	}
}

func TestAnOOMCountsTheJobsThatWereDoneBefore(t *testing.T) {
	// The second job's partitions pile up: one at a time until 3 s, then two.
	k := kindOf(1, map[model.Stage]profile.Work{model.Synth: seconds(1), model.Kernel: seconds(1)})
	k.Footprint.Vectors = profile.Exactly(model.Bytes(1000))
	wide := k
	wide.Name, wide.Partitions = "wide", 2
	p := planOf(openConfig(), k, profile.Interference{}, 1)
	p.Config.JobsInFlight = 1
	p.Profile.Kinds = append(p.Profile.Kinds, wide)
	p.Workload.Shares = append(p.Workload.Shares, model.Share{Kind: "wide", Jobs: 1})
	p.Machine.RAM = 1999
	got, _ := run(t, p)
	if got.Verdict != sim.OOM || got.JobsDone != 1 || got.PeakAt != 3e9 || got.Peak != 2000 || got.Makespan != 3e9 {
		t.Errorf("the run is %+v, want an oom at 3 s with 2000 B and one job done", got)
	}
}

func TestABaselineAboveTheLimitIsRefusedBeforeTheRun(t *testing.T) {
	p := rampPlan(1, 4e9)
	p.Profile.Baseline = profile.Exactly(model.Bytes(5e9))
	p.Workload.Arrival = model.Arrival{Pattern: model.Poisson, Rate: 1}
	got, records := run(t, p)
	if got.Verdict != sim.Refuse || got.Peak != 5e9 || got.PeakAt != 0 || got.Makespan != 0 || len(records) != 0 {
		t.Errorf("the run is %+v with %d steps, want a refusal with 5e9 B and none", got, len(records))
	}
	if want := "machine.ram minus machine.reserve of 3.7 GiB is over-committed by 953.7 MiB: 4.7 GiB are held"; !strings.HasPrefix(got.Reason, want) {
		t.Errorf("the reason is %q, want %q", got.Reason, want)
	}
	p.IgnoreLimit = true
	if got, _ = run(t, p); got.Verdict != sim.Refuse || got.JobsDone != 1 || got.Peak != 15e9 || math.IsNaN(got.SecondsPerJob) {
		t.Errorf("with the limit ignored the run is %+v, want a refusal with one job done and 15e9 B", got)
	}
}

// TestWhatIsHeldFromTheStartIsHeldAgainstEveryLimit has 3 GiB of a prover's own, on the host and on its device, and
// 2 GiB of pinned data.
func TestWhatIsHeldFromTheStartIsHeldAgainstEveryLimit(t *testing.T) {
	p := rampPlan(1, 0)
	p.Profile.Baseline, p.Profile.DeviceBaseline = profile.Exactly(3*model.GiB), profile.Exactly(3*model.GiB)
	p.Config.Resident = []model.Resident{{Name: "key", Bytes: 2 * model.GiB, Pinned: true}}
	for _, c := range []struct {
		machine model.Machine
		want    sim.Verdict
		limit   string
	}{
		{model.Machine{RAM: 5*model.GiB - 1}, sim.Refuse, "machine.ram minus machine.reserve"},
		{model.Machine{RAM: 5 * model.GiB}, sim.OOM, "machine.ram minus machine.reserve"},
		{model.Machine{GPUs: []model.GPUSpec{{VRAM: 3*model.GiB - 1}}}, sim.Refuse, "vram of gpu 0"},
		{model.Machine{GPUs: []model.GPUSpec{{VRAM: 3 * model.GiB}}}, sim.Fits, ""},
		{model.Machine{Memlock: 2*model.GiB - 1}, sim.Refuse, "machine.memlock"},
		{model.Machine{Memlock: 2 * model.GiB}, sim.Fits, ""},
	} {
		p.Machine = c.machine
		if got, _ := run(t, p); got.Verdict != c.want || got.Limit.Name != c.limit {
			t.Errorf("on %+v: %s: %s (limit %q); want %s by %q", c.machine, got.Verdict, got.Reason, got.Limit.Name, c.want, c.limit)
		}
	}
}

func TestTheBottleneckIsTheStationThatCanDoLeast(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*sim.Plan, *profile.Kind)
		want   string
	}{
		{"a slow synthesis on few permits", func(p *sim.Plan, k *profile.Kind) {
			p.Config.Admission.Permits = 2
			k.Work[model.Synth] = seconds(10)
		}, "synth"},
		{"a slow kernel", func(p *sim.Plan, k *profile.Kind) { k.Work[model.Kernel] = seconds(10) }, "gpu"},
		{"one worker that prepares before a short kernel", func(p *sim.Plan, k *profile.Kind) {
			p.Config.Admission.Permits = 4
			p.Config.GPU.Prep = model.PrepBeforeLock
			k.Work[model.Synth], k.Work[model.Prep] = seconds(4), seconds(10)
		}, "gpu"},
		{"a worker that finishes itself", func(p *sim.Plan, k *profile.Kind) {
			p.Config.Admission.Permits = 4
			p.Config.GPU.Split = false
			k.Work[model.Synth], k.Work[model.Finish] = seconds(4), seconds(10)
		}, "gpu"},
		{"one slow finalizer", func(p *sim.Plan, k *profile.Kind) {
			p.Config.Finalizers = 1
			k.Work[model.Finish] = seconds(10)
		}, "finish"},
		{"one job in flight that a synthesis delays", func(p *sim.Plan, k *profile.Kind) {
			p.Config.JobsInFlight = 1
			k.Work[model.Synth] = seconds(100)
		}, "jobs_in_flight"},
		{"a slow synthesis without a limit", func(p *sim.Plan, k *profile.Kind) {
			k.Work[model.Synth] = seconds(100)
		}, "unknown"},
		{"one job in flight with much for the GPU to do", func(p *sim.Plan, k *profile.Kind) {
			p.Config.JobsInFlight = 1
			k.Work[model.Synth], k.Work[model.Kernel] = seconds(4), seconds(10)
		}, "gpu"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := kindOf(4, map[model.Stage]profile.Work{model.Synth: seconds(1), model.Kernel: seconds(1)})
			p := planOf(openConfig(), k, profile.Interference{}, 5)
			c.change(&p, &p.Profile.Kinds[0])
			if got, _ := run(t, p); got.Bottleneck != c.want {
				t.Errorf("the bottleneck is %s, want %s: %+v", got.Bottleneck, c.want, got.Utilization)
			}
		})
	}
}

func TestACancellationThatComesTooLateDilutesNothing(t *testing.T) {
	k := kindOf(4, map[model.Stage]profile.Work{model.Synth: seconds(1), model.Kernel: seconds(1)})
	p := planOf(openConfig(), k, profile.Interference{}, 5)
	p.Config.Admission.Permits = 2
	in, _ := run(t, p)
	p.Disturb.Cancels = []model.Cancellation{{At: model.Instant(3600 * model.Second), Job: 4}}
	late, _ := run(t, p)
	if late.Utilization.GPU != in.Utilization.GPU || late.Utilization.Synth != in.Utilization.Synth || in.Utilization.GPU < 0.9 {
		t.Errorf("utilization is %+v with a cancellation after the end, and %+v without", late.Utilization, in.Utilization)
	}
}

func TestAJobThatFailsOrIsCancelledLeavesTheOthersAlone(t *testing.T) {
	k := kindOf(2, map[model.Stage]profile.Work{model.Synth: seconds(1), model.Kernel: seconds(10)})
	p := planOf(openConfig(), k, profile.Interference{}, 3)
	// Synthesis of all six ends at 1 s. The first kernel of job 0 fails at 11 s, and its other partition leaves
	// the channel; job 1 is cancelled in its first kernel, which ends at 21 s; job 2 then takes 20 s.
	p.Disturb.Fails = func(job, partition int32, s model.Stage) bool { return job == 0 && s == model.Kernel }
	p.Disturb.Cancels = []model.Cancellation{{At: 15e9, Job: 1}, {At: 16e9, Job: 0}}
	got, _ := run(t, p)
	if got.Verdict != sim.Fits || got.JobsDone != 1 || got.Makespan != 41e9 || got.SecondsPerJob != 41 {
		t.Errorf("the run is %+v, want one job done at 41 s", got)
	}
	p.Disturb.Fails = func(_, _ int32, s model.Stage) bool { return s == model.Synth }
	p.Workload.Arrival = model.Arrival{Pattern: model.Poisson, Rate: 1}
	got, _ = run(t, p)
	if got.JobsDone != 0 || got.Makespan != 0 || !math.IsNaN(got.SecondsPerJob) {
		t.Errorf("when all fail the run is %+v, want no job done, no makespan and no time a job", got)
	}
}

func TestEveryJobEndsOnceWhateverFails(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true})
		p.Disturb = drawDisturbance(t, p)
		result, records := mustRun(t, p)
		ended := map[int32]model.EffectOp{}
		doomed := map[int32]bool{}
		begun := map[model.Task]model.Effect{}
		for _, r := range records {
			switch r.Input.Op {
			case model.Cancel:
				doomed[r.Input.Job] = true
			case model.Failed:
				doomed[begun[r.Input.Task].Job] = true
			}
			for _, e := range r.Effects {
				switch e.Op {
				case model.Start:
					begun[e.Task] = e
				case model.Stall:
					t.Fatalf("stalls at %s", r.At)
				case model.JobDone, model.JobFailed:
					if ended[e.Job] != 0 {
						t.Fatalf("job %d ends twice", e.Job)
					}
					ended[e.Job] = e.Op
				}
			}
		}
		done := 0
		for job := range int32(p.Workload.Jobs()) {
			want := model.JobDone
			if doomed[job] {
				want = model.JobFailed
			}
			if ended[job] != want {
				t.Fatalf("job %d ends with %s, want %s", job, ended[job], want)
			}
			if want == model.JobDone {
				done++
			}
		}
		if result.JobsDone != done {
			t.Fatalf("%d jobs are done, want %d", result.JobsDone, done)
		}
	})
}

// TestUtilizationIsOfWhatRanWhileJobsWereThere adds up the busy times of the records, whatever fails or is given up.
func TestUtilizationIsOfWhatRanWhileJobsWereThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true})
		p.Disturb = drawDisturbance(t, p)
		p.Config.Admission.Permits, p.Config.Finalizers = 3, 2
		result, records := mustRun(t, p)
		begun := map[model.Task]model.Instant{}
		var busy [model.NumStages]model.Span
		var end model.Instant
		for _, r := range records {
			if begin, there := begun[r.Input.Task]; there && (r.Input.Op == model.Done || r.Input.Op == model.Failed) {
				busy[r.Input.Task.Stage] += r.At.Sub(begin)
			}
			for _, e := range r.Effects {
				switch e.Op {
				case model.Start:
					begun[e.Task] = r.At
				case model.JobDone, model.JobFailed:
					end = r.At
				}
			}
		}
		length := float64(end.Sub(records[0].At))
		for _, c := range []struct {
			stage   model.Stage
			got     float64
			servers float64
		}{{model.Synth, result.Utilization.Synth, 3}, {model.Finish, result.Utilization.Finish, 2}} {
			if want := float64(busy[c.stage]) / c.servers / length; length > 0 && math.Abs(c.got-want) > 1e-9 {
				t.Fatalf("%s is busy for %v of the run, want %v", c.stage, c.got, want)
			}
		}
	})
}
