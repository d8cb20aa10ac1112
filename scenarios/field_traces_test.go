package scenarios_test

import (
	"slices"
	"strings"
	"testing"

	"headroom/calibrate/diagnose"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/stream"
	"headroom/model/trace"
	"headroom/model/work"
	"headroom/sim"
)

// process is how the memory of a real process differs from what its partitions hold.
type process struct {
	leaks   model.Bytes // for each job that is done
	retains float64     // part of the most that was resident that stays so
}

// record runs a plan and samples its memory every second as the process would show it, to a minute after the end.
func (x process) record(t *testing.T, p sim.Plan) *trace.Trace {
	t.Helper()
	p.IgnoreLimit = true
	out := &trace.Trace{Header: trace.Header{
		Schema: trace.Schema, Tool: "test", Clock: trace.Monotonic, Config: p.Config, Workload: p.Workload,
		LimitBytes: p.Machine.HostLimit().Bytes,
	}}
	var kinds []profile.Kind
	for _, share := range p.Workload.Shares {
		kinds = append(kinds, *p.Profile.Kind(share.Kind))
		out.Header.Kinds = append(out.Header.Kinds, kinds[len(kinds)-1].Model())
	}
	result, err := sim.Run(p, func(r *model.Record) {
		kept := *r
		kept.Effects = slices.Clone(r.Effects)
		out.Records = append(out.Records, kept)
	})
	if err != nil {
		t.Fatal(err)
	}
	out.End = &trace.End{Outcome: trace.Finished, JobsDone: result.JobsDone, MakespanNs: result.Makespan}
	out.Baseline = &trace.Baseline{Memory: trace.Memory{RSSBytes: ownMemory, AnonBytes: ownMemory}}
	x.sample(out, work.NewEngine(work.Setup{Kinds: kinds, Config: p.Config, Baseline: ownMemory, Seed: p.Seed}))
	return out
}

// ownMemory is what a process holds before its first job.
const ownMemory = 100 * model.MiB

// sample plays the records on an engine of its own and reads its memory in between.
func (x process) sample(t *trace.Trace, e *work.Engine) {
	var done, most model.Bytes
	key := stream.NewKey(1, 0, 1<<20)
	take := func(at model.Instant) {
		e.Advance(at)
		level := e.Memory.Level()
		most = max(most, level)
		held := max(level, level+model.Bytes(x.retains*float64(most-level))) + done*x.leaks
		held += model.Bytes(stream.Normal(key.Uniform(uint32(len(t.Samples)), 0)) * float64(model.MiB) / 8)
		t.Samples = append(t.Samples, trace.Sample{At: at, Memory: trace.Memory{RSSBytes: held, AnonBytes: held}})
	}
	next := model.Instant(model.Second / 2)
	for i := 0; i < len(t.Records); {
		now := t.Records[i].At
		for ; next < now; next += model.Instant(model.Second) {
			take(next)
		}
		e.Advance(now)
		for e.Next() == now {
			e.Take(now)
		}
		for ; i < len(t.Records) && t.Records[i].At == now; i++ {
			e.Apply(now, t.Records[i].Effects)
			for _, effect := range t.Records[i].Effects {
				if effect.Op == model.JobDone {
					done++
				}
			}
		}
		e.Settle(now)
	}
	for range 60 {
		take(next)
		next += model.Instant(model.Second)
	}
}

func diagnosed(t *testing.T, recorded *trace.Trace, want diagnose.Finding, says string) *diagnose.Report {
	t.Helper()
	r, err := diagnose.Of(recorded, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r.Finding != want || !strings.Contains(r.Reason, says) {
		t.Errorf("%s: %s; want %s: ...%s", r.Finding, r.Reason, want, says)
	}
	return r
}

// G23: what an allocator keeps is no leak, and a second load like the first one does not raise it.
func TestG23WhatIsKeptIsNotLeaked(t *testing.T) {
	p := plan(t, "g23-two-loads", "")
	p.Workload.Arrival = model.Arrival{Pattern: model.Listed, Instants: twoLoads(p.Workload.Jobs())}
	diagnosed(t, process{retains: 0.7}.record(t, p), diagnose.Retention, "")
	diagnosed(t, process{}.record(t, p), diagnose.Plateau, "")
}

// twoLoads are the arrivals of jobs of which half come after two minutes; each half begins with one a second and ends
// with the rest at once.
func twoLoads(jobs int) []model.Instant {
	var list []model.Instant
	for job := range jobs {
		load, second := job/(jobs/2), min(job%(jobs/2), 20)
		list = append(list, model.Instant(120*load+second)*model.Instant(model.Second))
	}
	return list
}

// G25: memory that grows with each finished job, while what is in flight does not, is a leak; with a queue that grows
// it is not, and without the queue in the trace nobody can tell.
func TestG25ALeakIsToldFromAQueue(t *testing.T) {
	leaking := process{leaks: 437e6} // 2.1 GB a minute at 4.8 jobs a minute
	recorded := leaking.record(t, plan(t, "g25-leak", ""))
	r := diagnosed(t, recorded, diagnose.Leak, "for each job that finishes")
	within(t, "bytes per job", r.PerJob.Value, 437e6, 0.02)
	i := slices.IndexFunc(r.Evidence, func(e diagnose.Evidence) bool { return e.Name == "time_to_limit_from_start" })
	if i < 0 {
		t.Fatal("it does not say how long a fresh process takes to the limit")
	}
	within(t, "seconds from the start to 32 GiB", r.Evidence[i].Value, 15*60, 0.15)

	const early = "config.jobs_in_flight=80 config.admission.permits=8 config.admission.release=after_synthesis"
	diagnosed(t, process{}.record(t, plan(t, "g25-leak", early)), diagnose.QueueGrowth, "")

	recorded.Records = nil
	diagnosed(t, recorded, diagnose.CannotTell, "what was in flight is not known")
}
