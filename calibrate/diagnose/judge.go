package diagnose

import (
	"fmt"
	"math"

	"headroom/model"
)

const (
	fewestJobs = 10   // that finish, for all findings but QueueGrowth and CannotTell
	fewestLate = 7    // of them, after the start-up
	manyJobs   = 1000 // within which a growth must come to a partition's memory to matter
	tenth      = 0.1
	quarter    = 0.25
)

// judge returns the finding and its reason.
func (d *diagnosis) judge() (Finding, string) {
	leaks := d.leaks()
	q, grows := d.flow.growing()
	switch {
	case leaks && !(grows && d.explained() > d.growth.perJob.Value*d.growth.jobs):
		return Leak, d.leakReason()
	case grows:
		return QueueGrowth, d.queueReason(q)
	}
	if reason := d.missing(); reason != "" {
		return CannotTell, reason
	}
	g := d.growth
	rest := d.rest()
	switch {
	case rest.Low > 0 && d.matters() || rest.High*g.jobs > quarter*d.above:
		return CannotTell, d.unclear(rest)
	case d.kept != nil && d.kept.Value > 0.5 && d.kept.Low > quarter:
		return Retention, fmt.Sprintf("%.0f %% (%.0f to %.0f) of a partition's memory stays resident when it is gone, for the next one to use; "+
			"beyond that, memory does not grow with the jobs: %s", 100*d.kept.Value, 100*max(0, d.kept.Low), 100*min(1, d.kept.High), excluded(rest)+d.beside())
	case g.perJob.Value*g.jobs > quarter*d.above:
		return CannotTell, d.unclear(g.perJob)
	}
	return Plateau, fmt.Sprintf("memory rose by %s and stopped with what is in flight, of which at most %s held vectors (%s): %s",
		size(d.above), model.Counted(d.run.holders, "partition"), d.bound(), excluded(rest)+d.beside())
}

// rest returns the growth that nothing in flight explains: that of the later half of the jobs if memory grew before and
// stopped, else that of all.
func (d *diagnosis) rest() *Interval {
	g := d.growth
	if g.perJob.Low > 0 && g.late != nil && g.late.Low <= 0 {
		return g.late
	}
	return g.perJob
}

// leaks reports whether memory grows with finished jobs beyond what is in flight, for certain, to the end, and enough
// to matter.
func (d *diagnosis) leaks() bool {
	g := d.growth
	return d.run.sampled && g.jobs >= fewestLate && g.perJob != nil && g.late != nil &&
		g.least > 0 && g.late.Low > 0 && d.matters()
}

// matters reports whether the unexplained growth is large enough to speak of.
func (d *diagnosis) matters() bool {
	perJob := d.growth.perJob.Value
	return d.adds(perJob) && perJob*d.growth.jobs >= tenth*math.Abs(d.explained())
}

// adds reports whether so many bytes a job come to a partition's memory within many jobs.
func (d *diagnosis) adds(perJob float64) bool { return perJob*manyJobs >= d.above/max(1, d.run.most) }

// beside says what grows beside the process's own memory, if anything: it is no leak of the process, but the system cannot
// take it back.
func (d *diagnosis) beside() (text string) {
	for _, other := range []struct {
		growth     *Interval
		what, from string
	}{{d.growth.shmem, "shared memory", "/dev/shm"}, {d.growth.vram, "what is in use on the devices", "their memory"}} {
		if i := other.growth; i != nil && i.Low > 0 && d.adds(i.Value) {
			text += fmt.Sprintf("; %s grows by %s a job, which counts against %s", other.what, between(*i), other.from)
		}
	}
	return text
}

// explained returns by how many bytes what is in flight grew while jobs finished.
func (d *diagnosis) explained() float64 {
	if d.growth.inFlight == nil {
		return 0
	}
	return d.growth.inFlight.Value * d.growth.jobs
}

// missing returns what keeps the trace from telling anything, or nothing.
func (d *diagnosis) missing() string {
	g := d.growth
	switch jobs := d.run.done; {
	case !d.run.sampled:
		return "the trace has no samples of memory: record with headroom record, which takes them"
	case jobs == 0:
		return "no job finished, and at start-up every prover grows: record at least ten jobs"
	case jobs == 1:
		return "one job finished: whether memory is used again shows when the load comes again; record at least ten jobs"
	case jobs < fewestJobs:
		return fmt.Sprintf("only %s finished, and a process grows at its first jobs for many reasons: record at least ten", model.Counted(jobs, "job"))
	case d.bins == nil || len(g.bins) < fewestBins:
		return fmt.Sprintf("too few samples of memory lie away from steps of the pipeline while jobs finish: %d, and at least %.0f are needed; sample more often or record for longer",
			d.finishing(), math.Ceil(fewestBins*fewestEach/(1-startUp)))
	case g.jobs < fewestLate:
		return fmt.Sprintf("only %.0f jobs finished in the part of the run that can be judged: record more", g.jobs)
	case len(d.footprints.columns) == 0:
		return "nothing in flight ever came or went between two samples of a bin, so that nothing falls and nothing repeats: sample more often"
	case g.perJob == nil:
		return "what is in flight changes only together with the jobs that finish, so that the two cannot be told apart: record a steady load for longer"
	}
	return ""
}

// samples returns how many samples can be used.
func (d *diagnosis) samples() int { return d.count(func(*point) bool { return true }) }

// finishing returns how many of them are from while jobs finish.
func (d *diagnosis) finishing() int {
	return d.count(func(p *point) bool { return d.run.phase(p) == finishing })
}

func (d *diagnosis) count(is func(*point) bool) int {
	n := 0
	for i := range d.run.points {
		if p := &d.run.points[i]; !p.near && is(p) {
			n++
		}
	}
	return n
}

// unclear says why a growth is neither certain nor excluded.
func (d *diagnosis) unclear(i *Interval) string {
	g := d.growth
	open := fmt.Sprintf("growth of %s a job is neither certain nor excluded", between(*i))
	if g.entangled {
		return open + ", because what is in flight grows together with the jobs that finish: record a steady load for longer"
	}
	// The interval of a slope narrows with the jobs to the power of 3/2.
	factor := math.Pow(max(1, (i.High-i.Low)*g.jobs/max(1, quarter*d.above)), 2.0/3)
	return open + fmt.Sprintf(": record about %.0f jobs, of which %d have finished here", math.Ceil(1.5*factor*float64(d.run.done)), d.run.done)
}

// excluded says how much growth a job is excluded by its interval.
func excluded(i *Interval) string {
	if i.High <= 0 {
		return "no growth is left that what is in flight does not explain"
	}
	return fmt.Sprintf("more than %s a job that nothing in flight explains is excluded", size(i.High))
}

// bound says what bounds the partitions that hold vectors.
func (d *diagnosis) bound() string {
	partitions := 0
	for _, k := range d.trace.Header.Kinds {
		partitions = max(partitions, k.Partitions)
	}
	return "by structure, " + d.trace.Header.Config.StructuralBound(partitions).Formula
}

func (d *diagnosis) leakReason() string {
	g := d.growth
	reason := fmt.Sprintf("resident memory grows by %s for each job that finishes, and nothing in flight explains it", between(*g.perJob))
	if !d.split {
		reason += "; the samples do not tell mapped files and shared memory apart, so it may be those"
	}
	return reason
}

// queueReason says which queue grows, and which side is faster.
func (d *diagnosis) queueReason(q queue) string {
	w := &d.flow.queues[q]
	name := queueNames[q]
	reason := fmt.Sprintf("%s grow by %.2f (%.2f to %.2f) for each job, to %.0f", name.what, w.perJob.Value, w.perJob.Low, w.perJob.High, w.last)
	reason += ", because " + name.because + d.sides()
	if a := &d.trace.Header.Config.Admission; q == blockedInSend && a.Release == model.AfterSynthesis {
		reason += "; permits do not hold them back, since admission.release is " + string(a.Release)
	}
	return reason
}

// queueNames says what waits in a queue, and why it grows when it does.
var queueNames = [numQueues]struct{ name, what, because string }{
	waitingJobs:      {"jobs_waiting", "jobs that have not begun", "they arrive faster than they finish; they hold no memory yet"},
	blockedInSend:    {"send", "partitions blocked in send", "synthesis is faster than the GPU takes them from the channel"},
	inChannel:        {"channel", "partitions in the channel", "synthesis is faster than the GPU takes them"},
	waitingForFinish: {"finish", "partitions that wait for a finalizer", "the GPU is faster than the finalizers"},
	waitingForFree:   {"dealloc", "blocks that wait to be freed", "jobs finish faster than dealloc frees their memory"},
}

// sides says how busy the two sides of the channel were.
func (d *diagnosis) sides() string {
	text := ""
	for _, s := range d.flow.stations(&d.trace.Header.Config) {
		if s.name == "synth" || s.name == "gpu" {
			text += fmt.Sprintf(", %s busy %.0f %%", s.name, 100*s.part)
		}
	}
	return text
}

func size(bytes float64) string { return model.Bytes(math.Round(bytes)).Short() }

// between prints bytes with their interval.
func between(i Interval) string {
	return fmt.Sprintf("%s (%s to %s)", size(i.Value), size(i.Low), size(i.High))
}
