package sim

import (
	"fmt"
	"math"

	"headroom/model"
)

// Verdict is what a plan comes to.
type Verdict string

// The verdicts.
const (
	Fits   Verdict = "fits"
	OOM    Verdict = "oom"    // more memory is needed than the limit grants
	Stall  Verdict = "stall"  // work is left and nothing can proceed
	Refuse Verdict = "refuse" // the plan makes no sense on the machine
	Risk   Verdict = "risk"   // of replications: neither fits nor oom
)

// Result is what a run came to.
type Result struct {
	Verdict Verdict
	Reason  string
	// Peak is the most bytes resident at once; after an oom, what was resident when the limit was passed.
	Peak     model.Bytes
	PeakAt   model.Instant
	Limit    model.Limit // Bytes is 0 when the machine names none
	JobsDone int
	// Makespan is from the first arrival to the last finish of a job; freeing is not counted.
	Makespan model.Span
	// SecondsPerJob is the makespan over the jobs done; NaN on an oom or a stall, or if no job was done.
	SecondsPerJob float64
	// Bottleneck is the station that was busiest: synth, gpu, finish, or jobs_in_flight when the pipeline
	// mostly waited for a job to end.
	Bottleneck  string
	Utilization Utilization
	AtPeak      []Holding
	Bound       model.Bound
	BoundBytes  model.Bytes // 0 where Bound is unbounded
}

// Utilization is the busy part of each station's capacity over the run, from 0 to 1; NaN where there is no limit.
type Utilization struct {
	Synth, GPU, Finish float64
	// Starved is the part of the run in which permits were free and jobs waited for a place in flight.
	Starved float64
}

func (l *loop) result() *Result {
	r := &Result{Verdict: Fits, Limit: l.limit, JobsDone: l.tally.done, AtPeak: l.holdings()}
	r.Peak, r.PeakAt = l.engine.Memory.Peak()
	r.Makespan = l.tally.lastDone.Sub(l.tally.first)
	r.SecondsPerJob = math.NaN()
	l.bound(r)
	l.utilize(r)
	switch {
	case l.engine.Memory.Crossed():
		r.Verdict, r.Makespan = OOM, r.PeakAt.Sub(l.tally.first)
		r.Reason = fmt.Sprintf("passes %s of %s after %.0f s, with %d jobs done", l.limit.Name, l.limit.Bytes.Short(), r.PeakAt.Seconds(), r.JobsDone)
	case l.tally.stalled:
		r.Verdict, r.Makespan = Stall, l.now.Sub(l.tally.first)
		r.Reason = fmt.Sprintf("nothing can proceed after %.0f s, with %d jobs done and work left", l.now.Seconds(), r.JobsDone)
	case r.JobsDone > 0:
		r.SecondsPerJob = r.Makespan.Seconds() / float64(r.JobsDone)
	}
	if r.Verdict == Fits {
		l.judge(r)
	}
	return r
}

// judge gives the reason of a run that went to its end, and its verdict when the limit was to be ignored.
func (l *loop) judge(r *Result) {
	switch {
	case l.limit.Bytes == 0:
		r.Reason = fmt.Sprintf("peaks at %s; the machine names no limit", r.Peak.Short())
	case r.Peak > l.limit.Bytes:
		r.Verdict = OOM
		r.Reason = fmt.Sprintf("peaks at %s, which is %s over %s", r.Peak.Short(), (r.Peak - l.limit.Bytes).Short(), l.limit.Name)
	default:
		r.Reason = fmt.Sprintf("peaks at %s, %s below %s", r.Peak.Short(), (l.limit.Bytes - r.Peak).Short(), l.limit.Name)
	}
}

// bound adds the worst case by structure: every partition that can hold vectors holds the most that one can.
func (l *loop) bound(r *Result) {
	partitions, most := 0, model.Bytes(0)
	var parse model.Bytes
	for k := range l.kinds {
		f := &l.kinds[k].Footprint
		partitions = max(partitions, l.kinds[k].Partitions)
		held := f.Vectors.Value + f.Assignment.Value + f.Call.Value
		for _, p := range f.During[model.Synth] {
			held = max(held, p.Bytes.Value)
		}
		most = max(most, held)
		parse = max(parse, f.Parse.Value)
	}
	r.Bound = l.plan.Config.StructuralBound(partitions)
	if r.Bound.Partitions == 0 {
		return
	}
	r.BoundBytes = l.base + most*model.Bytes(r.Bound.Partitions)
	if l.plan.Config.JobsInFlight != model.Unbounded {
		r.BoundBytes += parse * model.Bytes(l.plan.Config.JobsInFlight)
	} else {
		r.BoundBytes += parse * model.Bytes(l.plan.Workload.Jobs())
	}
}

func (l *loop) utilize(r *Result) {
	c := &l.plan.Config
	part := func(busy integral, servers model.Count) float64 {
		if servers == model.Unbounded || l.now == 0 {
			return math.NaN()
		}
		return float64(busy) / float64(servers) / float64(l.now)
	}
	u := &r.Utilization
	u.Synth = part(l.tally.synth, c.Admission.Permits)
	u.GPU = part(l.tally.lock, c.GPU.Devices)
	u.Finish = part(l.tally.finish, c.Finalizers)
	u.Starved = part(l.tally.starved, 1)
	r.Bottleneck = "gpu"
	if u.Synth > u.GPU {
		r.Bottleneck = "synth"
	}
	if u.Finish > max(u.GPU, u.Synth) || (math.IsNaN(u.Synth) && u.Finish > u.GPU) {
		r.Bottleneck = "finish"
	}
	if u.Starved > 0.5 {
		r.Bottleneck = "jobs_in_flight"
	}
}
