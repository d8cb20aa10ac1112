package diagnose

import (
	"fmt"
	"math"
	"slices"

	"headroom/model"
	"headroom/model/trace"
)

// queue is a place where work waits.
type queue int

const (
	waitingJobs queue = iota // arrived and not begun
	blockedInSend
	inChannel
	waitingForFinish // for a finalizer
	waitingForFree   // blocks that are being freed, or are to be
	numQueues
)

// corners is into how many corners, linear in between, the memory of a synthesis is cut over its progress.
const corners = 5

// The columns of what a kind has in flight: the corners of its syntheses, then partitions by where they are, blocks
// that are being freed, and jobs.
const (
	columnWaiting = corners + iota // synthesized and not yet on a worker
	columnGPU
	columnFinish
	columnFreeingVectors
	columnFreeingAssignment
	columnParse
	perKind
)

// point is what was in flight at one instant, and what a sample says of the memory there.
type point struct {
	at         model.Instant
	memory     trace.Memory
	near       bool      // to a step: clocks may not agree on whether it was before or after
	inFlight   []float64 // by kind and column
	partitions float64   // that hold vectors, those in synthesis by their progress
	most       float64   // partitions so far at once
	queues     [numQueues]float64
	done       float64 // jobs
	tally      tally
}

// tally is what a run has counted up to an instant.
type tally struct {
	synth, finish, lock, worker float64 // busy nanoseconds of all together
	open                        float64 // nanoseconds in which there was a job
	synthesized, accepted       float64 // partitions
	taken                       float64 // by workers
	worth                       float64 // the same in jobs, each partition being its part of one
}

// run is a trace as points in time.
type run struct {
	points    []point
	sampled   bool          // the points are samples of memory
	firstTake model.Instant // of a partition by a worker, and
	firstDone model.Instant // end of a job; both after the end if there was none
	admitted  model.Instant // since when there is nothing left to admit
	end       model.Instant
	done      int
	most      float64 // partitions at once, as point has them
	holders   int     // the most partitions at once that held vectors or made them, those apart whose vectors are to be freed
}

// walker gives the records of a trace to a core of its own.
type walker struct {
	run
	trace     *trace.Trace
	core      *model.Core
	syntheses []synthesis // in order of their begins
	begun     int         // of them
	active    []int       // indices of those that run
	finishing int         // running finishes
	arrived   int
	started   int // jobs
	now       model.Instant
	tally     tally
	effects   []model.Effect
}

// synthesis is the synthesis of one partition.
type synthesis struct {
	task       model.Task
	kind       int
	begin, end model.Instant
}

// syntheses lists the syntheses of a trace. One that did not end is taken to last as long as others of its kind.
func syntheses(t *trace.Trace) []synthesis {
	var list []synthesis
	open := map[model.Task]int{}
	spent, ended := make([]model.Span, len(t.Header.Kinds)), make([]int, len(t.Header.Kinds))
	for i := range t.Records {
		r := &t.Records[i]
		if j, runs := open[r.Input.Task]; runs && r.Input.Op != model.Arrive {
			s := &list[j]
			s.begin, s.end = max(s.begin, r.Begin), r.End
			spent[s.kind] += s.end.Sub(s.begin)
			ended[s.kind]++
			delete(open, r.Input.Task)
		}
		for _, e := range r.Effects {
			if e.Op == model.Start && e.Task.Stage == model.Synth {
				open[e.Task] = len(list)
				list = append(list, synthesis{task: e.Task, kind: int(e.Kind), begin: r.At})
			}
		}
	}
	for _, j := range open {
		s := &list[j]
		s.end = s.begin + model.Instant(spent[s.kind])/model.Instant(max(1, ended[s.kind]))
	}
	return list
}

// walk goes through a trace. A trace without samples gets points at even distances, without memory.
func walk(t *trace.Trace) (*run, error) {
	core, err := model.NewCore(t.Header.Config, t.Header.Kinds)
	if err != nil {
		return nil, fmt.Errorf("diagnose: %w", err)
	}
	w := &walker{trace: t, core: core, syntheses: syntheses(t)}
	w.firstTake, w.firstDone, w.sampled = math.MaxInt64, math.MaxInt64, len(t.Samples) > 0
	if n := len(t.Records); n > 0 {
		w.end = t.Records[n-1].At
	}
	next := 0
	samples := t.Samples
	if !w.sampled {
		samples = evenly(w.end)
	}
	for _, s := range samples {
		for ; next < len(t.Records) && t.Records[next].At <= s.At; next++ {
			if err := w.step(next); err != nil {
				return nil, err
			}
		}
		near := next > 0 && s.At.Sub(t.Records[next-1].At) < trace.Guard ||
			next < len(t.Records) && t.Records[next].At.Sub(s.At) < trace.Guard
		w.look(&s, near)
	}
	for ; next < len(t.Records); next++ {
		if err := w.step(next); err != nil {
			return nil, err
		}
	}
	w.done = w.core.Done()
	w.trust()
	return &w.run, nil
}

// trust lets samples near to a step count where they must: on a virtual clock, which leaves no doubt, and where steps
// follow each other so fast that most samples are near to one.
func (w *walker) trust() {
	near := 0
	for i := range w.points {
		if w.points[i].near {
			near++
		}
	}
	if w.trace.Header.Clock == trace.Virtual || 2*near > len(w.points) {
		for i := range w.points {
			w.points[i].near = false
		}
	}
}

// evenly returns empty samples over a run of that length.
func evenly(end model.Instant) []trace.Sample {
	const n = 600
	list := make([]trace.Sample, 0, n)
	for i := range model.Instant(n) {
		list = append(list, trace.Sample{At: end/n*i + end/(2*n)})
	}
	return list
}

// step gives a record to the core.
func (w *walker) step(i int) error {
	r := &w.trace.Records[i]
	if r.At < w.now {
		return fmt.Errorf("diagnose: record %d is at %s, after one at %s: they must be in order", i+1, r.At, w.now)
	}
	w.pass(r.At)
	w.most = max(w.most, w.partitions(r.At))
	var err error
	if w.effects, err = w.core.Step(r.Input, w.effects[:0]); err != nil {
		return fmt.Errorf("diagnose: record %d is not what a pipeline does: %w", i+1, err)
	}
	if !slices.Equal(w.effects, r.Effects) {
		return fmt.Errorf("diagnose: record %d is not what a pipeline does: other effects follow from its input; headroom check says more", i+1)
	}
	w.count(r)
	w.most = max(w.most, w.partitions(r.At))
	w.holders = max(w.holders, w.holding())
	if w.core.Done() > 0 {
		w.firstDone = min(w.firstDone, r.At)
	}
	if w.core.Waiting() || w.core.Admitting() {
		w.admitted = w.end
	} else if w.admitted == w.end {
		w.admitted = r.At
	}
	return nil
}

// count takes note of a step that the core has answered.
func (w *walker) count(r *model.Record) {
	switch in := &r.Input; {
	case in.Op == model.Arrive:
		w.arrived += int(in.Count)
	case in.Op == model.Done || in.Op == model.Failed:
		switch in.Task.Stage {
		case model.Synth:
			w.active = slices.DeleteFunc(w.active, func(i int) bool { return w.syntheses[i].task == in.Task })
			if in.Op == model.Done {
				w.tally.synthesized++
			}
		case model.Finish:
			w.finishing--
		}
	}
	for i := range w.effects {
		switch e := &w.effects[i]; e.Op {
		case model.JobStart:
			w.started++
		case model.Accept:
			w.tally.accepted++
		case model.Take:
			w.tally.taken++
			w.tally.worth += 1 / float64(w.trace.Header.Kinds[e.Kind].Partitions)
			w.firstTake = min(w.firstTake, r.At)
		case model.Start:
			switch e.Task.Stage {
			case model.Synth:
				w.active = append(w.active, w.begun)
				w.begun++
			case model.Finish:
				w.finishing++
			}
		}
	}
}

// pass counts the time up to an instant.
func (w *walker) pass(next model.Instant) {
	dt := float64(next.Sub(w.now))
	w.tally.synth += dt * float64(len(w.active))
	w.tally.finish += dt * float64(w.finishing)
	w.tally.lock += dt * float64(w.core.LocksHeld())
	w.tally.worker += dt * float64(w.core.BusyWorkers())
	if w.core.InFlight() > 0 || w.core.Waiting() {
		w.tally.open += dt
	}
	w.now = next
}

// progress returns how far a synthesis is, from 0 to 1.
func (s *synthesis) progress(at model.Instant) float64 {
	if at >= s.end {
		return 1
	}
	return max(0, float64(at.Sub(s.begin))/float64(s.end.Sub(s.begin)))
}

// partitions returns how much of partitions is held: those that hold vectors, those in synthesis by their progress, and
// vectors that are to be freed.
func (w *walker) partitions(at model.Instant) float64 {
	sum := float64(w.holding() - len(w.active))
	for _, i := range w.active {
		sum += w.syntheses[i].progress(at)
	}
	for k := range w.trace.Header.Kinds {
		sum += float64(w.core.Count(k, model.FreeingVectors))
	}
	return sum
}

// holding returns how many partitions hold vectors or make them.
func (w *walker) holding() int {
	sum := 0
	for k := range w.trace.Header.Kinds {
		for _, p := range []model.Place{model.InSynth, model.InSend, model.InChannel, model.OnGPU} {
			sum += w.core.Count(k, p)
		}
		if w.trace.Header.Config.FreeVectors == model.AfterFinish {
			sum += w.core.Count(k, model.InFinish)
		}
	}
	return sum
}

// look adds the point of a sample.
func (w *walker) look(s *trace.Sample, near bool) {
	w.pass(s.At)
	p := point{at: s.At, memory: s.Memory, near: near, done: float64(w.core.Done()), partitions: w.partitions(s.At), tally: w.tally}
	w.most = max(w.most, p.partitions)
	p.most = w.most
	kinds := len(w.trace.Header.Kinds)
	p.inFlight = make([]float64, kinds*perKind)
	for _, i := range w.active {
		synth := &w.syntheses[i]
		place := (corners - 1) * synth.progress(s.At)
		corner := min(int(place), corners-2)
		p.inFlight[synth.kind*perKind+corner] += 1 - (place - float64(corner))
		p.inFlight[synth.kind*perKind+corner+1] += place - float64(corner)
	}
	p.queues[waitingJobs] = float64(w.arrived - w.started)
	for k := range kinds {
		at := func(place model.Place) float64 { return float64(w.core.Count(k, place)) }
		row := p.inFlight[k*perKind:]
		row[columnWaiting] = at(model.InSend) + at(model.InChannel)
		row[columnGPU] = at(model.OnGPU)
		row[columnFinish] = at(model.InFinish)
		row[columnFreeingVectors] = at(model.FreeingVectors)
		row[columnFreeingAssignment] = at(model.FreeingAssignment)
		row[columnParse] = at(model.HeldParse)
		p.queues[blockedInSend] += at(model.InSend)
		p.queues[inChannel] += at(model.InChannel)
		p.queues[waitingForFinish] += at(model.InFinish)
		p.queues[waitingForFree] += at(model.FreeingVectors) + at(model.FreeingAssignment)
	}
	p.queues[waitingForFinish] = max(0, p.queues[waitingForFinish]-float64(w.finishing))
	w.points = append(w.points, p)
}
