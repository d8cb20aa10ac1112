package diagnose

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/sim"
)

// TestStationsAreBusyWithWhatRanWhileJobsWereThere adds up the busy times of the records of runs in which stages fail and
// jobs are given up, early and late, with long times in between in which there is no job.
func TestStationsAreBusyWithWhatRanWhileJobsWereThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := disturbed(t)
		r, err := walk(tr)
		if err != nil {
			t.Fatal(err)
		}
		f := measureFlow(r.fed(false))
		for _, s := range f.stations(&tr.Header.Config) {
			if s.name != "synth" {
				continue
			}
			first, last := f.bins[0].points, f.bins[len(f.bins)-1].points
			busy, open := busyAndOpen(tr, first[0].at, last[len(last)-1].at)
			if want := busy / open / float64(tr.Header.Config.Admission.Permits); math.Abs(s.part-want) > 1e-9 {
				t.Fatalf("synth is busy for %v of the time, want %v", s.part, want)
			}
		}
	})
}

// disturbed returns a trace of jobs that come one by one, some of which fail or are given up.
func disturbed(t *rapid.T) *trace.Trace {
	work := func(seconds float64) profile.Work {
		return profile.Work{Law: profile.Lognormal, Mean: profile.Exactly(model.SpanOf(seconds)), CV: profile.Exactly(0.2)}
	}
	kind := profile.Kind{Name: "job", Partitions: 3, Work: map[model.Stage]profile.Work{
		model.Synth: work(1), model.Kernel: work(0.5), model.Finish: work(0.2), model.Dealloc: work(0.1),
	}}
	c := model.DefaultConfig(1)
	c.Admission.Permits = model.Count(rapid.IntRange(1, 3).Draw(t, "permits"))
	c.JobsInFlight = model.Count(rapid.IntRange(1, 4).Draw(t, "jobs in flight"))
	jobs := rapid.IntRange(5, 30).Draw(t, "jobs")
	plan := sim.Plan{
		Config: c, Seed: rapid.Uint64Range(1, 1000).Draw(t, "seed"), Profile: &profile.Profile{Name: "test", Kinds: []profile.Kind{kind}},
		Workload: model.Workload{
			Shares:  []model.Share{{Kind: "job", Jobs: jobs}},
			Arrival: model.Arrival{Pattern: model.Poisson, Rate: rapid.Float64Range(0.02, 2).Draw(t, "rate")},
		},
	}
	failing := rapid.IntRange(2, 10).Draw(t, "failing")
	plan.Disturb.Fails = func(job, partition int32, s model.Stage) bool {
		return (int(job)*7+int(partition)*3+int(s))%failing == 0
	}
	for range rapid.IntRange(0, 5).Draw(t, "cancellations") {
		plan.Disturb.Cancels = append(plan.Disturb.Cancels, model.Cancellation{
			At: model.Instant(model.SpanOf(rapid.Float64Range(0, 500).Draw(t, "at"))), Job: int32(rapid.IntRange(0, jobs-1).Draw(t, "job")),
		})
	}
	slices.SortFunc(plan.Disturb.Cancels, func(a, b model.Cancellation) int { return int(max(-1, min(1, a.At-b.At))) })
	tr := &trace.Trace{Header: trace.Header{Clock: trace.Virtual, Config: c, Kinds: []model.Kind{kind.Model()}, Workload: plan.Workload}}
	if _, err := sim.Run(plan, func(r *model.Record) {
		kept := *r
		kept.Effects = slices.Clone(r.Effects)
		tr.Records = append(tr.Records, kept)
	}); err != nil {
		t.Fatal(err)
	}
	return tr
}

// busyAndOpen returns, of the time between two instants, the nanoseconds of all syntheses together and those in which
// there was a job.
func busyAndOpen(t *trace.Trace, from, to model.Instant) (busy, open float64) {
	running, jobs, last := 0, 0, model.Instant(0)
	pass := func(next model.Instant) {
		dt := float64(max(0, min(next, to).Sub(max(last, from))))
		busy += dt * float64(running)
		if jobs > 0 {
			open += dt
		}
		last = next
	}
	for i := range t.Records {
		r := &t.Records[i]
		pass(r.At)
		switch {
		case r.Input.Op == model.Arrive:
			jobs += int(r.Input.Count)
		case r.Input.Task.Stage == model.Synth:
			running--
		}
		for _, e := range r.Effects {
			switch {
			case e.Op == model.Start && e.Task.Stage == model.Synth:
				running++
			case e.Op == model.JobDone, e.Op == model.JobFailed:
				jobs--
			}
		}
	}
	pass(max(last, to))
	return busy, open
}
