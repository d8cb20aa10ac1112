package reach

import (
	"slices"

	"headroom/model"
	"headroom/model/check"
)

// history goes the way to the fault again, from the empty pipeline, and writes it down with one input a second.
func (q *search) history(a *Answer) error {
	var choices []int32
	for l := q.found.last; l.choice >= 0; l = q.tree[l.before] {
		choices = append(choices, l.choice)
	}
	slices.Reverse(choices)
	n, err := newNode(&q.space)
	if err != nil {
		return err
	}
	begun := map[model.Task]model.Instant{}
	for i, choice := range choices {
		at := model.Instant(i) * model.Instant(model.Second)
		in := n.inputs(&q.space, nil)[choice]
		effects, err := n.step(&in, nil)
		if err != nil {
			return err
		}
		begin, known := begun[in.Task]
		if !known {
			begin = at
		}
		for _, e := range effects {
			if e.Op == model.Start {
				begun[e.Task] = at
			}
		}
		a.History = append(a.History, model.Record{At: at, Input: in, Effects: effects, Begin: begin, End: at, State: n.core.State()})
	}
	stream := a.Stream(q.space)
	stream.Finished = n.core.Idle()
	a.Findings = check.Run(stream)
	return nil
}
