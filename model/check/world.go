package check

import (
	"fmt"
	"slices"

	"headroom/model"
)

// world is the books: what the stream says of every job and partition that is not over. Nonsense in the stream
// is left out of them; the checkers report it.
type world struct {
	config *model.Config
	kinds  []model.Kind
	stream *Stream

	arrivals []arrival // of jobs that have not begun, in order
	skipped  map[int32]bool
	given    int32 // job that was given up before it began, to be reported in this step; -1: none
	arrived  int
	waiting  int // jobs that have not begun and were not given up
	draining bool

	jobs    []*job  // in flight, in order of beginning
	lives   []*life // in order of admission
	running map[ref]run
	ends    int // syntheses ended so far
	accepts int // partitions that entered the channel so far
	turns   int // jobs that became ready and partitions that were admitted so far
	stalled bool

	batch  *job    // to which the next Joins of this step belong, and how many of them
	joins  int     // are still to come
	data   []datum // by index in Config.Resident
	pool   []int   // proofs whose vectors are in the pool, by kind
	timers map[int32]uint32

	index    int
	record   *model.Record
	checker  *Checker // whose turn it is
	findings []Finding
	found    [64]int // by checker number
}

// arrival is jobs of one kind that arrived together.
type arrival struct {
	first, count int32
	kind         uint16
}

// ref names a running stage as its completion does.
type ref struct {
	slot  int32
	stage model.Stage
	block model.Block
}

// run is a stage under way; life is nil for a parse.
type run struct {
	task   model.Task
	job    *job
	life   *life
	at     model.Instant
	record int
}

func newWorld(s *Stream) *world {
	w := &world{
		config: &s.Config, kinds: s.Kinds, stream: s, skipped: map[int32]bool{}, given: -1, running: map[ref]run{},
		data: make([]datum, len(s.Config.Resident)), pool: make([]int, len(s.Kinds)), timers: map[int32]uint32{},
	}
	for i := range w.data {
		if r := &s.Config.Resident[i]; !r.OnDemand {
			w.data[i] = datum{loaded, r.Bytes}
		}
	}
	return w
}

// report notes a finding of the checker whose turn it is.
func (w *world) report(format string, args ...any) {
	if w.found[w.checker.Number]++; w.found[w.checker.Number] > MaxFindings {
		return
	}
	f := Finding{Checker: w.checker.Number, Name: w.checker.Name, Record: w.index, Message: fmt.Sprintf(format, args...)}
	if w.record != nil {
		f.At = w.record.At
	}
	w.findings = append(w.findings, f)
}

func (w *world) job(number int32) *job {
	for _, j := range w.jobs {
		if j.number == number {
			return j
		}
	}
	return nil
}

func (w *world) life(number, partition int32) *life {
	for _, l := range w.lives {
		if l.job.number == number && l.index == partition {
			return l
		}
	}
	return nil
}

// runs returns the running stage that a completion names exactly.
func (w *world) runs(t model.Task) (run, bool) {
	r, ok := w.running[ref{t.Slot, t.Stage, t.Block}]
	return r, ok && r.task == t
}

// next returns the job that is to begin next, and its kind: the one that has waited longest, where the order is by
// priority among those of the highest one.
func (w *world) next() (number int32, kind uint16, ok bool) {
	for i := range w.arrivals {
		for a := &w.arrivals[i]; a.count > 0 && w.skipped[a.first]; {
			delete(w.skipped, a.first)
			a.first++
			a.count--
		}
	}
	w.arrivals = slices.DeleteFunc(w.arrivals, func(a arrival) bool { return a.count == 0 })
	if len(w.arrivals) == 0 {
		return 0, 0, false
	}
	if w.config.Order == model.ByPriority {
		slices.SortStableFunc(w.arrivals, func(a, b arrival) int {
			return w.kinds[b.kind].Priority - w.kinds[a.kind].Priority
		})
	}
	return w.arrivals[0].first, w.arrivals[0].kind, true
}

// pop takes out the job that next returned.
func (w *world) pop() {
	w.arrivals[0].first++
	w.arrivals[0].count--
	w.waiting--
}

// count returns how many partitions are as a predicate says.
func (w *world) count(is func(*life) bool) int {
	n := 0
	for _, l := range w.lives {
		if is(l) {
			n++
		}
	}
	return n
}

// inFlight returns the number of jobs in flight.
func (w *world) inFlight() int {
	n := 0
	for _, j := range w.jobs {
		if !j.ended {
			n++
		}
	}
	return n
}

func (w *world) permits() int {
	return w.count(func(l *life) bool { return l.holdsPermit(w.config) })
}
func (w *world) blocked() int   { return w.count((*life).blocked) }
func (w *world) inChannel() int { return w.count((*life).inChannel) }
func (w *world) onWorkers() int {
	return w.count(func(l *life) bool { return l.onWorker(w.config) })
}

// lockHolder returns the partition that holds a device's lock, or nil.
func (w *world) lockHolder(device int) *life {
	for _, l := range w.lives {
		if l.holdsLock(w.config) && w.device(l.worker) == device {
			return l
		}
	}
	return nil
}

func (w *world) device(worker int32) int { return int(worker) % int(w.config.GPU.Devices) }

// runners returns how many of a stage run.
func (w *world) runners(s model.Stage) int {
	n := 0
	for r := range w.running {
		if r.stage == s {
			n++
		}
	}
	return n
}

// forget drops what is over from the books after a step.
func (w *world) forget() {
	w.given, w.stalled, w.batch, w.joins = -1, false, nil, 0
	w.lives = slices.DeleteFunc(w.lives, (*life).gone)
	w.jobs = slices.DeleteFunc(w.jobs, func(j *job) bool { return j.ended })
}
