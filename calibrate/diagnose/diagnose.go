package diagnose

import (
	"headroom/model"
	"headroom/model/trace"
)

// Finding is what resident memory does over a run.
type Finding string

// The findings. All are about anonymous memory: mapped files and shared memory are evidence, since page cache is no
// leak. Where samples do not tell them apart, resident memory stands for it.
const (
	// Leak: it grows with each job that finishes, and nothing in flight explains it.
	Leak Finding = "leak"
	// QueueGrowth: what is in flight grows, because one side of a queue is faster than the other.
	QueueGrowth Finding = "queue_growth"
	// Plateau: it grew until what is in flight reached its bound, and then stopped.
	Plateau Finding = "plateau"
	// Retention: it does not fall when what is in flight falls, and does not pass its high-water mark either.
	Retention Finding = "retention"
	// CannotTell: the trace does not say; the reason says what is missing and what to record.
	CannotTell Finding = "cannot_tell"
)

// Report is a diagnosis with what it rests on.
type Report struct {
	Finding  Finding
	Reason   string
	Evidence []Evidence
	// PerJob is the growth of anonymous memory that nothing in flight explains, in bytes for each job that finishes;
	// nil if it could not be measured.
	PerJob *Interval
	Limit  model.Bytes // of resident memory; 0: none is known
	// SecondsToLimit is how long after the last admission, had more been admitted, the growth would pass the limit; nil
	// unless there is a limit and the finding is Leak or QueueGrowth. High is infinite where the growth may be 0.
	SecondsToLimit *Interval
}

// Evidence is a number that the finding rests on. Low and High are its 95 % interval, or nil.
type Evidence struct {
	Name      string // stable, for programs
	Value     float64
	Unit      string
	Low, High *float64
	Text      string // the same for people
}

// Of diagnoses a trace. limit is that of resident memory; 0 is the trace's own, if it has one. It is an error if the
// trace is not what a pipeline does. Each finding but CannotTell needs both of these:
//
//   - The 95 % interval of a growth (for a leak the 99 % interval) excludes 0 over the time in which jobs finish, and
//     the 95 % interval does over the later half of it; for the absence of growth, what the interval leaves open adds
//     at most a quarter to the memory above the baseline. Intervals hold for errors that follow each other, up to a
//     random walk (fitLine).
//   - The growth matters. A leak comes to a partition's memory within 1,000 jobs, and is at least a tenth of what the
//     memory in flight changed by, since footprints are no better known than that. A queue grows by a partition or
//     more, and by a tenth of those in flight.
//
// At least ten jobs must have finished, and the first fifth of the time in which jobs finish is left out, since a
// process at its first jobs grows for many reasons; a queue may show earlier.
func Of(t *trace.Trace, limit model.Bytes) (*Report, error) {
	if limit == 0 {
		limit = t.Header.LimitBytes
	}
	if len(t.Records) == 0 {
		return &Report{Finding: CannotTell, Limit: limit, Reason: "the trace has no steps, so that what was in flight is not known: " +
			"record with headroom record, or import a log that has the queue's depth"}, nil
	}
	r, err := walk(t)
	if err != nil {
		return nil, err
	}
	d := newDiagnosis(t, r, limit)
	report := &Report{Limit: limit}
	report.Finding, report.Reason = d.judge()
	report.PerJob = d.growth.perJob
	if !d.run.sampled {
		report.PerJob = nil
	}
	report.SecondsToLimit = d.secondsToLimit(report.Finding)
	report.Evidence = d.evidence(report)
	return report, nil
}

// diagnosis is what was measured of a trace.
type diagnosis struct {
	trace      *trace.Trace
	run        *run
	limit      model.Bytes
	split      bool // the samples tell anonymous memory apart
	bins       []bin
	footprints *footprints
	growth     *growth // while there was something to admit if enough jobs finished by then, else until the last
	flow       *flow
	kept       *Interval
	above      float64 // the most anonymous memory above the baseline, bytes
	last       float64 // the most of all resident memory in the last bin, bytes
	start      float64 // the same in the baseline
}

func newDiagnosis(t *trace.Trace, r *run, limit model.Bytes) *diagnosis {
	d := &diagnosis{trace: t, run: r, limit: limit, growth: &growth{}}
	for _, p := range r.points {
		d.split = d.split || p.memory.AnonBytes > 0
	}
	d.flow = measureFlow(r.fed(d.split))
	d.bins = r.bins(d.split)
	if d.bins == nil {
		return d
	}
	d.footprints = fitFootprints(d.bins, d.split)
	d.growth = grow(choose(d.bins, func(b *bin) bool { return b.loaded && b.phase == finishing }), d.footprints)
	if d.growth.jobs < fewestLate {
		d.growth = grow(choose(d.bins, func(b *bin) bool { return b.phase == finishing }), d.footprints)
	}
	d.kept = kept(d.bins, d.split)
	d.levels()
	return d
}

// levels reads how high the memory was.
func (d *diagnosis) levels() {
	points := d.run.points
	base := points[0]
	if b := d.trace.Baseline; b != nil {
		base.memory = b.Memory
	}
	d.start = float64(base.memory.RSSBytes)
	for i := range points {
		d.above = max(d.above, points[i].anonymous(d.split)-base.anonymous(d.split))
	}
	tail := points[len(points)-len(points)/10:]
	for i := range points {
		if points[i].at <= d.run.admitted {
			tail = points[max(0, i-len(points)/10) : i+1]
		}
	}
	for _, p := range tail {
		d.last = max(d.last, float64(max(p.memory.RSSBytes, p.memory.AnonBytes)))
	}
}

// choose returns the bins that are as asked for.
func choose(bins []bin, is func(*bin) bool) []bin {
	var list []bin
	for i := range bins {
		if is(&bins[i]) {
			list = append(list, bins[i])
		}
	}
	return list
}
