package check

import "headroom/model"

// clock judges instants.
type clock struct {
	idle
	last model.Instant
}

func (c *clock) input(w *world, r *model.Record) {
	if r.At < c.last {
		w.report("it is %s after it was %s", r.At, c.last)
	}
	c.last = r.At
	if r.Input.Op != model.Done && r.Input.Op != model.Failed {
		return
	}
	if r.Begin < 0 || r.End < r.Begin || r.At < r.End {
		w.report("%s began at %s, ended at %s and was over at %s", r.Input.Task.Stage, r.Begin, r.End, r.At)
	}
	if run, ok := w.runs(r.Input.Task); ok && r.Begin < run.at {
		w.report("%s began at %s and was started at %s", r.Input.Task.Stage, r.Begin, run.at)
	}
}

// rounds judges the order of inputs of one instant.
type rounds struct {
	idle
	at      model.Instant
	last    place
	started map[int]int // round of each record of this instant
}

// place is where an input stands in its instant.
type place struct {
	round, rank int
	lane        int32
}

func (p place) before(q place) bool {
	if p.round != q.round {
		return p.round < q.round
	}
	if p.rank != q.rank {
		return p.rank < q.rank
	}
	return p.lane < q.lane
}

func (o *rounds) input(w *world, r *model.Record) {
	if r.At != o.at || o.started == nil {
		o.at, o.last, o.started = r.At, place{}, map[int]int{}
	}
	p := place{round: o.last.round, rank: rank(&r.Input)}
	if r.Input.Op == model.Wake {
		p.lane = r.Input.Task.Slot
	} else if run, ok := w.runs(r.Input.Task); ok {
		p.lane = r.Input.Task.Lane
		p.round = 0
		if run.at == r.At {
			p.round = o.started[run.record] + 1
		}
	}
	if p.before(o.last) {
		w.report("%s %s on lane %d is out of order in its instant", r.Input.Op, r.Input.Task.Stage, r.Input.Task.Lane)
	}
	o.started[w.index] = p.round
	o.last = p
}

// rank is the place of an input in its round.
func rank(in *model.Input) int {
	switch in.Op {
	case model.Wake:
		return int(model.NumStages)
	case model.Arrive:
		return int(model.NumStages) + 1
	case model.Cancel:
		return int(model.NumStages) + 2
	case model.Drain:
		return int(model.NumStages) + 3
	}
	return int(model.NumStages - in.Task.Stage)
}
