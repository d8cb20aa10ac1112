package sim

import (
	"fmt"
	"math"
	"strings"

	"headroom/model"
)

// Verdict is what a plan comes to.
type Verdict string

// The verdicts.
const (
	Fits   Verdict = "fits"
	OOM    Verdict = "oom"    // more memory is needed than the limit grants
	Stall  Verdict = "stall"  // work is left and nothing can proceed
	Refuse Verdict = "refuse" // the plan makes no sense on the machine: known before it runs
	Risk   Verdict = "risk"   // of replications: neither fits nor oom
)

// Over reports whether more memory is needed than a limit grants: some time in the run, or before it begins.
func (v Verdict) Over() bool { return v == OOM || v == Refuse }

// Result is what a run came to.
type Result struct {
	Verdict Verdict
	Reason  string
	// Peak is the most bytes resident at once; after an oom, what was resident when the limit was passed.
	Peak   model.Bytes
	PeakAt model.Instant
	Limit  model.Limit // the one that was passed, else the host's; Bytes is 0 when the machine names none
	// OOMAt is when it was passed, or with IgnoreLimit when the host's memory was at its peak; 0 if not in the run.
	OOMAt    model.Instant
	JobsDone int
	// Makespan is from the first arrival to the last finish of a job, 0 if none was done, or to the end of a run
	// that the limit or a stall cut short; freeing is not counted.
	Makespan model.Span
	// SecondsPerJob is the makespan over the jobs done; NaN if the run was cut short or no job was done.
	SecondsPerJob float64
	// Bottleneck is the station that was busiest: synth, gpu, finish, or jobs_in_flight when the pipeline mostly
	// waited for a job to end. It is unknown when no station with a limit was busy for half of the run and synth
	// has none: then it may be what synth shares, such as cores.
	Bottleneck  string
	Utilization Utilization
	AtPeak      []Holding
	// Off is by how much the memory of the replication is off by the scatter of the profile. It is part of the baseline.
	Off model.Bytes
	// LedgerPeak is the most bytes that were reserved at once; 0 without a budget.
	LedgerPeak model.Bytes
	Devices    []DevicePeak // by device
	PinnedPeak model.Bytes  // of the host's memory, as is SharedPeak, which is in /dev/shm
	SharedPeak model.Bytes
	Bound      model.Bound
	// BoundBytes is what is resident when as many partitions as Bound says hold the most that one can, with the
	// parse buffers of all jobs in flight, beside as much resident data as can be there at once. Partitions whose
	// vectors are freed or wait for it come on top; nothing bounds them. 0 where Bound is unbounded.
	BoundBytes model.Bytes
}

// Utilization is the busy part of each station's capacity from the first arrival on, up to the last end of a job if
// all have ended and else to the end of the run: from 0 to 1, NaN where there is no limit.
type Utilization struct {
	Synth, Finish float64
	GPU           float64 // of the devices' locks or of the GPU workers, whichever are busier
	// Starved is the part of the run in which jobs waited for a place in flight while permits, a GPU worker and
	// a device had nothing to do.
	Starved float64
}

func (l *loop) result() *Result {
	r := &Result{Verdict: Fits, Limit: l.limit, JobsDone: l.tally.done, AtPeak: l.holdings(), Off: l.off, SecondsPerJob: math.NaN()}
	r.Peak, r.PeakAt = l.engine.Memory.Peak()
	if r.JobsDone > 0 {
		r.Makespan = l.tally.lastDone.Sub(l.tally.first)
	}
	l.bound(r)
	l.utilize(r)
	if l.config.Admission.Budget != nil {
		r.LedgerPeak = l.tally.ledger
	}
	l.addBooks(r)
	crossed := l.engine.BookCrossed()
	switch {
	case crossed != nil && !l.engine.Memory.Crossed():
		r.Limit = model.Limit{Bytes: crossed.Limit, Name: crossed.Name}
		r.Verdict, r.OOMAt, r.Makespan = OOM, crossed.PeakAt, max(0, crossed.PeakAt.Sub(l.tally.first))
		r.Reason = fmt.Sprintf("passes %s of %s after %.0f s, with %s done%s", crossed.Name, crossed.Limit.Short(), crossed.PeakAt.Seconds(), model.Counted(r.JobsDone, "job"), l.deviceHoldings(crossed))
	case l.engine.Memory.Crossed():
		r.Verdict, r.OOMAt, r.Makespan = OOM, r.PeakAt, max(0, r.PeakAt.Sub(l.tally.first))
		r.Reason = fmt.Sprintf("passes %s of %s after %.0f s, with %s done", l.limit.Name, l.limit.Bytes.Short(), r.PeakAt.Seconds(), model.Counted(r.JobsDone, "job"))
	case l.core.Stalled():
		r.Verdict, r.Makespan = Stall, l.now.Sub(l.tally.first)
		r.Reason = fmt.Sprintf("nothing can proceed after %.0f s, with %s done and work left: %s", l.now.Seconds(), model.Counted(r.JobsDone, "job"), firstOf(l.core.Stuck(), 8))
	case r.JobsDone > 0:
		r.SecondsPerJob = r.Makespan.Seconds() / float64(r.JobsDone)
	}
	if r.Verdict == Fits {
		l.judge(r)
	}
	if no := l.refused; no != nil {
		r.Verdict, r.Reason, r.Limit, r.OOMAt = Refuse, no.reason, no.limit, 0
	}
	return r
}

// firstOf joins the first sentences of a list and says how many more there are.
func firstOf(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(list[:most], "; "), len(list)-most)
}

// addBooks adds the peaks of the devices' memory and of what is pinned and shared.
func (l *loop) addBooks(r *Result) {
	books := l.engine.Devices()
	for d := range books {
		r.Devices = append(r.Devices, DevicePeak{Peak: books[d].Peak, Limit: l.vram(d), AtPeak: l.deviceHoldings(&books[d])})
	}
	r.PinnedPeak, r.SharedPeak = l.engine.Pinned().Peak, l.engine.Shared().Peak
}

// memory is the most that was held of one sort of memory, and its limit, whose Bytes are 0 where there is none.
type memory struct {
	limit model.Limit
	peak  model.Bytes
	held  DeviceHoldings // at the peak, of a device
}

// memories returns the host's memory, that of each device, and what of the host's is pinned and shared, as far as the
// run has come.
func (l *loop) memories() []memory {
	m := &l.plan.Machine
	peak, _ := l.engine.Memory.Peak()
	list := []memory{{limit: l.limit, peak: peak}}
	books := l.engine.Devices()
	for d := range books {
		limit := model.Limit{Bytes: l.vram(d), Name: books[d].Name}
		list = append(list, memory{limit, books[d].Peak, l.deviceHoldings(&books[d])})
	}
	pinned, shared := l.engine.Pinned(), l.engine.Shared()
	return append(list,
		memory{limit: model.Limit{Bytes: m.Memlock, Name: pinned.Name}, peak: pinned.Peak},
		memory{limit: model.Limit{Bytes: m.Shm, Name: shared.Name}, peak: shared.Peak})
}

// vram returns how much a device can hold; 0 where the machine does not say.
func (l *loop) vram(device int) model.Bytes {
	if gpus := l.plan.Machine.GPUs; device < len(gpus) {
		return gpus[device].VRAM
	}
	return 0
}

// over returns the first memory of which more was held than its limit, if there is one.
func (l *loop) over() (over memory, is bool) {
	for _, m := range l.memories() {
		if m.limit.Bytes > 0 && m.peak > m.limit.Bytes {
			return m, true
		}
	}
	return memory{}, false
}

// judge gives the reason of a run that went to its end, and its verdict when the limit was to be ignored.
func (l *loop) judge(r *Result) {
	over, is := l.over()
	switch {
	case is:
		r.Verdict, r.Limit, r.OOMAt = OOM, over.limit, r.PeakAt
		r.Reason = fmt.Sprintf("peaks at %s, which is %s over %s%s", over.peak.Short(), (over.peak - over.limit.Bytes).Short(), over.limit.Name, over.held)
	case l.limit.Bytes == 0:
		r.Reason = fmt.Sprintf("peaks at %s; the machine names no limit", r.Peak.Short())
	default:
		r.Reason = fmt.Sprintf("peaks at %s, %s below %s", r.Peak.Short(), (l.limit.Bytes - r.Peak).Short(), l.limit.Name)
	}
}

func (l *loop) utilize(r *Result) {
	c := &l.plan.Config
	end := l.now
	if l.tally.ended == l.plan.Workload.Jobs() {
		end = l.tally.lastEnd // what is only freed or comes too late after it is no part of the run
	}
	length := float64(end.Sub(l.tally.first))
	part := func(busy integral, servers model.Count) float64 {
		if servers == model.Unbounded || length <= 0 {
			return math.NaN()
		}
		return busy.float() / float64(servers) / length
	}
	u := &r.Utilization
	u.Synth = part(l.tally.synth, min(c.Admission.Permits, c.Synthesis.MaxParallel))
	u.GPU = max(part(l.tally.lock, c.GPU.Devices), part(l.tally.worker, model.Count(c.Workers())))
	u.Finish = part(l.tally.finish, c.Finalizers)
	u.Starved = part(l.tally.starved, 1)
	r.Bottleneck = u.bottleneck()
}

// bottleneck names the station that was busiest, as Result.Bottleneck says.
func (u *Utilization) bottleneck() string {
	name, busiest := "gpu", u.GPU
	if u.Synth > busiest {
		name, busiest = "synth", u.Synth
	}
	if u.Finish > busiest {
		name, busiest = "finish", u.Finish
	}
	switch {
	case u.Starved > 0.5:
		return "jobs_in_flight"
	case math.IsNaN(u.Synth) && !(busiest >= 0.5):
		return "unknown"
	}
	return name
}
