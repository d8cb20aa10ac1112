package reach

import (
	"fmt"

	"headroom/model"
)

// search is a breadth-first search under way.
type search struct {
	space Space
	bound model.Bound
	seen  map[string]int32 // number of each state by its key
	tree  []link           // the way to each state, by its number
	ring  []*node
	spare []*node // states whose storage can be used again
	found *fault

	states, steps, depth, holding int

	inputs  []model.Input
	effects []model.Effect
	buf     []byte
}

// link is the last step of the way to a state: the state before it and which of the inputs there. It is kept for every
// state, so it is small; the way is found again by going it.
type link struct{ before, choice int32 }

// fault is what a step has come to that must not be.
type fault struct {
	verdict Verdict
	last    link
	reason  string
}

func newSearch(s Space, root *node) *search {
	partitions := 0
	for i := range s.Kinds {
		partitions = max(partitions, s.Kinds[i].Partitions)
	}
	q := &search{space: s, bound: s.Config.StructuralBound(partitions), seen: map[string]int32{}}
	q.seen[string(root.key(nil, &s))] = 0
	q.tree, q.ring = append(q.tree, link{-1, -1}), append(q.ring, root)
	return q
}

// run explores states in the order in which they were found, until there are no more or something is found.
func (q *search) run(explored func()) (*Answer, error) {
	for level := 0; len(q.ring) > 0 && q.found == nil; level++ {
		q.depth = level
		states := q.ring
		first := len(q.tree) - len(states)
		q.ring = nil
		for i, n := range states {
			if q.states == q.space.MaxStates {
				return q.answer(true)
			}
			if err := q.expand(int32(first+i), n); err != nil {
				return nil, err
			}
			if q.found != nil {
				return q.answer(false)
			}
			n.judge = nil
			q.spare = append(q.spare, n)
			if explored != nil {
				explored()
			}
		}
	}
	return q.answer(false)
}

// expand tries everything that can happen in a state.
func (q *search) expand(number int32, n *node) error {
	q.states++
	first := int32(len(q.tree))
	q.inputs = n.inputs(&q.space, q.inputs[:0])
	for choice := range q.inputs {
		q.steps++
		next := q.blank()
		n.copyTo(next)
		in := &q.inputs[choice]
		effects, err := next.step(in, q.effects[:0])
		if err != nil {
			return fmt.Errorf("reach: the core refuses what it asked for: %w", err)
		}
		q.effects = effects
		q.buf = next.key(q.buf[:0], &q.space)
		twin, known := q.seen[string(q.buf)]
		if known && twin >= first {
			q.spare = append(q.spare, next) // the same step but for names
			continue
		}
		next.judge = n.judge.Clone()
		last := link{number, int32(choice)}
		if q.judge(next, in, last) {
			return nil
		}
		if known {
			q.spare = append(q.spare, next)
			continue
		}
		q.seen[string(q.buf)] = int32(len(q.tree))
		q.tree = append(q.tree, last)
		q.ring = append(q.ring, next)
	}
	return nil
}

// blank returns a node whose storage can be used.
func (q *search) blank() *node {
	if last := len(q.spare) - 1; last >= 0 {
		n := q.spare[last]
		q.spare = q.spare[:last]
		return n
	}
	return &node{core: new(model.Core)}
}

// judge looks for a fault of a step and of the state that it leads to, and reports whether there is one.
func (q *search) judge(n *node, in *model.Input, last link) bool {
	record := model.Record{Input: *in, Effects: q.effects, State: n.core.State()}
	holding := n.holding(&q.space)
	q.holding = max(q.holding, holding)
	switch findings := n.judge.Step(&record); {
	case len(findings) > 0:
		f := findings[0]
		q.found = &fault{Broken, last, fmt.Sprintf("checker %d (%s): %s", f.Checker, f.Name, f.Message)}
	case n.core.Stalled():
		q.found = &fault{Stall, last, n.stuck()}
	case q.bound.Partitions > 0 && holding > q.bound.Partitions:
		q.found = &fault{Broken, last, fmt.Sprintf("%d partitions hold vectors; the structural bound is %s", holding, q.bound.Formula)}
	case n.core.Idle():
		if left := n.left(&q.space); left != "" {
			q.found = &fault{Broken, last, "the pipeline is empty, and " + left}
		}
	}
	return q.found != nil
}

// answer says what was found.
func (q *search) answer(more bool) (*Answer, error) {
	a := &Answer{States: q.states, Steps: q.steps, Depth: q.depth, Holding: q.holding, Bound: q.bound}
	switch {
	case q.found != nil:
		a.Verdict, a.Reason = q.found.verdict, q.found.reason
		return a, q.history(a)
	case more:
		a.Verdict = Unfinished
		a.Reason = fmt.Sprintf("not exhausted: explored %s and found nothing within %s; there are more",
			model.Counted(q.states, "state"), model.Counted(q.depth, "step"))
	default:
		a.Verdict = Clear
		a.Reason = fmt.Sprintf("no stall exists up to %s: explored all %s", model.Counted(q.space.Jobs, "job"), model.Counted(q.states, "state"))
	}
	return a, nil
}
