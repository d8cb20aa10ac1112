package work

import (
	"headroom/model"
	"headroom/model/stream"
)

// arrivalPurpose keeps the draws of arrivals apart from those of stages.
const arrivalPurpose = 1 << 17

// Arrivals yields the jobs of a workload in order of time.
type Arrivals struct {
	kinds    []uint16   // of each share
	share    func() int // of one job after the other
	kind     uint16     // of the next job
	jobs     int
	next     int
	At       model.Instant   // of the next one; Forever when all have arrived
	instants []model.Instant // of each job; nil: the first ones are there at the start and the others come at the rate
	first    int             // jobs that are there at the start
	rate     float64         // jobs a second
	key      stream.Key
}

// NewArrivals returns the arrivals of a valid workload. kinds is the index of each share's kind.
func NewArrivals(w *model.Workload, kinds []uint16, seed uint64, replication uint32) *Arrivals {
	a := &Arrivals{
		key: stream.NewKey(seed, replication, arrivalPurpose), kinds: kinds, share: w.Sequence(),
		jobs: w.Jobs(), rate: w.Arrival.Rate,
	}
	switch w.Arrival.Pattern {
	case model.Closed:
		a.first = a.jobs
	case model.Backlog:
		a.first = w.Arrival.Backlog
	case model.Listed:
		a.instants = w.Arrival.Instants
	}
	a.schedule()
	return a
}

// schedule looks at the next job.
func (a *Arrivals) schedule() {
	if a.next == a.jobs {
		a.At = Forever
		return
	}
	if len(a.kinds) > 1 {
		a.kind = a.kinds[a.share()]
	} else {
		a.kind = a.kinds[0]
	}
	switch {
	case a.instants != nil:
		a.At = a.instants[a.next]
	case a.next >= a.first:
		gap := stream.Exponential(a.key.Uniform(uint32(a.next), 0)) / a.rate
		a.At += model.Instant(model.SpanOf(gap))
	}
}

// Pop returns the next arrival. Jobs of one kind that arrive together are one input.
func (a *Arrivals) Pop() model.Input {
	at := a.At
	in := model.Input{Op: model.Arrive, Job: int32(a.next), Kind: a.kind, Count: 1}
	if len(a.kinds) == 1 && a.next < a.first {
		in.Count = int32(a.first)
	}
	a.next += int(in.Count)
	a.schedule()
	for a.At == at && a.kind == in.Kind {
		a.next++
		in.Count++
		a.schedule()
	}
	return in
}
