package calibrate

import (
	"errors"
	"fmt"
	"slices"

	"headroom/model"
	"headroom/model/trace"
)

// interval is one stage of one partition, as its worker ran it.
type interval struct {
	kind           int // index among the fit's kinds
	proofs         int // that are joined: 1 without a batch
	job, partition int32
	stage          model.Stage
	block          model.Block // of Dealloc
	device         uint8       // of the stages on a GPU worker
	begin, end     model.Instant
	ended          bool // it ended, and well
	counts         bool // its job was done besides, so that its work says something
	fresh          bool // its vectors are new to the pool
	first, last    int  // segments of the timeline that begin where it begins and ends
}

// holding is memory of one class that was held for a while, for some proofs.
type holding struct {
	kind       int
	proofs     int
	class      class
	begin, end model.Instant
}

// class is what a partition or a job holds as a whole, as the footprint has it. A block that is being freed is a class
// of its own, since it may shrink meanwhile.
type class uint8

const (
	vectors class = iota
	assignment
	call
	parseBuffer
	freeingVectors
	freeingAssignment // with the call's memory
	numClasses
)

// history is what a trace says, ready for fitting.
type history struct {
	name     string
	trace    *trace.Trace
	busy     []interval
	held     []holding
	end      model.Instant // of the last record
	jobsDone int
	failures int // jobs that failed or were cancelled
	data     dataBook
	pooled   bool // freed vectors went to a pool
	timeline timeline
}

// newHistory reads the busy intervals and the holdings out of a trace. kinds gives the fit's index of each of the
// trace's kinds.
func newHistory(name string, t *trace.Trace, kinds []int) (*history, error) {
	h := &history{name: name, trace: t, data: newDataBook(&t.Header), pooled: t.Header.Config.Pool == model.PoolRetain}
	r := reader{
		history: h, kinds: kinds,
		running: map[model.Task]int{}, holders: map[holder]int{}, done: map[int32]bool{},
	}
	for i := range t.Records {
		if err := errors.Join(r.read(&t.Records[i]), h.data.read(&t.Records[i])); err != nil {
			return nil, fmt.Errorf("calibrate: %s: record %d: %w", name, i+1, err)
		}
	}
	if err := arrivedAsSaid(t); err != nil {
		return nil, fmt.Errorf("calibrate: %s: %w", name, err)
	}
	if n := len(t.Records); n > 0 {
		h.end = t.Records[n-1].At
	}
	r.close()
	h.jobsDone = len(r.done)
	h.timeline = newTimeline(h.busy)
	return h, nil
}

// arrivedAsSaid reports an error unless the jobs that arrived are those of the header's workload: of a run that was cut
// off no more than these, of one that finished all of them. Predictions are of the header's workload.
func arrivedAsSaid(t *trace.Trace) error {
	arrived, said := 0, t.Header.Workload.Jobs()
	for i := range t.Records {
		if in := &t.Records[i].Input; in.Op == model.Arrive {
			arrived += int(in.Count)
		}
	}
	finished := t.End != nil && t.End.Outcome == trace.Finished
	if arrived > said || finished && arrived < said {
		return fmt.Errorf("has a workload of %s in its header, and %d arrived: the header is of another run", model.Counted(said, "job"), arrived)
	}
	return nil
}

// reader goes through the records of a trace.
type reader struct {
	*history
	kinds   []int
	running map[model.Task]int // index in busy of what has not ended
	holders map[holder]int     // index in held of what is not freed
	done    map[int32]bool     // jobs
}

type holder struct {
	job, partition int32
	class          class
}

func (r *reader) read(record *model.Record) error {
	in := &record.Input
	if (in.Op == model.Done || in.Op == model.Failed) && in.Task.Stage != model.Load {
		if err := r.endStage(record); err != nil {
			return err
		}
	}
	for i := range record.Effects {
		e := &record.Effects[i]
		if int(e.Kind) >= len(r.kinds) {
			return fmt.Errorf("is of kind %d, of %d that the header lists", e.Kind, len(r.kinds))
		}
		switch e.Op {
		case model.Start:
			r.begin(e, record.At)
		case model.JobStart:
			r.hold(e, parseBuffer, record.At)
		case model.Take:
			r.hold(e, call, record.At)
		case model.Freed:
			r.free(e, record)
		case model.JobDone:
			r.done[e.Job] = true
		case model.JobFailed:
			r.failures++
		}
	}
	return nil
}

// begin notes a stage that begins. With a pool, a synthesis that finds no vectors there holds new ones from then on,
// and for ever.
func (r *reader) begin(e *model.Effect, at model.Instant) {
	if e.Task.Stage == model.Load {
		return
	}
	fresh := r.pooled && e.Task.Stage == model.Synth && !e.Reused
	if fresh {
		r.hold(e, vectors, at)
	}
	r.running[e.Task] = len(r.busy)
	r.busy = append(r.busy, interval{
		kind: r.kinds[e.Kind], proofs: proofs(e), job: e.Job, partition: e.Partition,
		stage: e.Task.Stage, block: e.Task.Block, device: e.Device, begin: at, end: -1, fresh: fresh,
	})
}

// proofs returns how many proofs an effect is about.
func proofs(e *model.Effect) int { return max(1, int(e.Proofs)) }

func (r *reader) endStage(record *model.Record) error {
	i, there := r.running[record.Input.Task]
	if !there {
		return fmt.Errorf("ends %s on lane %d, which did not begin", record.Input.Task.Stage, record.Input.Task.Lane)
	}
	delete(r.running, record.Input.Task)
	b := &r.busy[i]
	if record.End < record.Begin || record.End > record.At {
		return fmt.Errorf("has a worker's time from %s to %s at %s: it ends after it begins and before it is recorded",
			record.Begin, record.End, record.At)
	}
	b.begin, b.end = record.Begin, record.End
	b.ended = record.Input.Op == model.Done
	if b.stage != model.Synth || !b.ended {
		return nil
	}
	for _, c := range []class{vectors, assignment} {
		if c == vectors && r.pooled {
			continue // they were there before
		}
		r.holders[holder{b.job, b.partition, c}] = len(r.held)
		r.held = append(r.held, holding{kind: b.kind, proofs: b.proofs, class: c, begin: b.end, end: -1})
	}
	return nil
}

func (r *reader) hold(e *model.Effect, c class, at model.Instant) {
	r.holders[holder{e.Job, e.Partition, c}] = len(r.held)
	r.held = append(r.held, holding{kind: r.kinds[e.Kind], proofs: proofs(e), class: c, begin: at, end: -1})
}

// free ends holdings: where dealloc frees a block, when its worker began to.
func (r *reader) free(e *model.Effect, record *model.Record) {
	at := record.At
	var freed, freeing class
	switch e.Task.Block {
	case model.Vectors:
		freed, freeing = vectors, freeingVectors
	case model.Assignment:
		freed, freeing = assignment, freeingAssignment
	case model.ParseBuffer:
		freed = parseBuffer
	}
	if record.Input.Task.Stage == model.Dealloc && e.Task.Block != model.ParseBuffer {
		at = record.Begin
		r.held = append(r.held, holding{kind: r.kinds[e.Kind], proofs: proofs(e), class: freeing, begin: at, end: record.End})
	}
	r.release(holder{e.Job, e.Partition, freed}, at)
	if e.Call {
		r.release(holder{e.Job, e.Partition, call}, at)
	}
}

func (r *reader) release(h holder, at model.Instant) {
	if i, there := r.holders[h]; there {
		r.held[i].end = at
		delete(r.holders, h)
	}
}

// baseline is what was resident before the first job, without the resident data.
func (h *history) baseline() model.Bytes {
	return max(0, h.trace.Baseline.RSSBytes-h.data.atStart)
}

// above is what a sample has above the baseline, without the resident data.
func (h *history) above(s *trace.Sample) model.Bytes {
	return s.RSSBytes - h.trace.Baseline.RSSBytes - h.data.held(s.At)
}

// close ends what was not over when the trace ended, and tells which intervals count.
func (r *reader) close() {
	for i := range r.busy {
		b := &r.busy[i]
		if b.end < 0 {
			b.end = max(r.end, b.begin)
		}
		b.counts = b.ended && r.done[b.job] && b.end > b.begin
	}
	for i := range r.held {
		if h := &r.held[i]; h.end < 0 {
			h.end = max(r.end, h.begin)
		}
	}
}

// occupancy is how many of each stage run.
type occupancy [model.NumStages]int32

// timeline is who ran when: segments between which nothing begins or ends.
type timeline struct {
	at  []model.Instant // where each segment begins
	who []occupancy     // who runs in it; nobody in the last
}

// newTimeline cuts the time at every begin and end, and tells each interval its segments.
func newTimeline(busy []interval) timeline {
	var t timeline
	for i := range busy {
		t.at = append(t.at, busy[i].begin, busy[i].end)
	}
	slices.Sort(t.at)
	t.at = slices.Compact(t.at)
	changes := make([]occupancy, len(t.at))
	for i := range busy {
		b := &busy[i]
		b.first, _ = slices.BinarySearch(t.at, b.begin)
		b.last, _ = slices.BinarySearch(t.at, b.end)
		changes[b.first][b.stage]++
		changes[b.last][b.stage]--
	}
	t.who = changes
	for i := 1; i < len(t.who); i++ {
		for s := range t.who[i] {
			t.who[i][s] += t.who[i-1][s]
		}
	}
	return t
}

// segment returns the segment that an instant lies in, or -1 before the first.
func (t *timeline) segment(at model.Instant) int {
	i, found := slices.BinarySearch(t.at, at)
	if found {
		return i
	}
	return i - 1
}
