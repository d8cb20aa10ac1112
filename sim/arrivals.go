package sim

import (
	"headroom/model"
	"headroom/model/stream"
	"headroom/model/work"
)

// arrivalPurpose keeps the draws of arrivals apart from those of stages.
const arrivalPurpose = 1 << 17

// arrivals yields the jobs of a workload in order of time.
type arrivals struct {
	kinds []uint16 // of each job, in order of arrival
	next  int
	at    model.Instant
	rate  float64 // jobs a second; 0: all are there at the start
	key   stream.Key
}

func newArrivals(p *Plan, kinds []uint16) *arrivals {
	a := &arrivals{key: stream.NewKey(p.Seed, p.Replication, arrivalPurpose), kinds: make([]uint16, 0, p.Workload.Jobs())}
	p.Workload.Sequence(func(share int) { a.kinds = append(a.kinds, kinds[share]) })
	if p.Workload.Arrival.Pattern == model.Poisson {
		a.rate = p.Workload.Arrival.Rate
	}
	a.schedule()
	return a
}

func (a *arrivals) schedule() {
	switch {
	case a.next == len(a.kinds):
		a.at = work.Forever
	case a.rate > 0:
		gap := stream.Exponential(a.key.Uniform(uint32(a.next), 0)) / a.rate
		a.at += model.Instant(model.SpanOf(gap))
	}
}

// pop returns the next arrival. Jobs of one kind that arrive together are one input.
func (a *arrivals) pop() model.Input {
	in := model.Input{Op: model.Arrive, Job: int32(a.next), Kind: a.kinds[a.next], Count: 1}
	a.next++
	for a.rate == 0 && a.next < len(a.kinds) && a.kinds[a.next] == in.Kind {
		a.next++
		in.Count++
	}
	a.schedule()
	return in
}
