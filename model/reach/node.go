package reach

import (
	"encoding/binary"
	"slices"

	"headroom/model"
	"headroom/model/check"
)

// node is a state with what can happen in it, on the way by which it was found.
type node struct {
	core     *model.Core
	judge    *check.Judge
	running  []model.Task // stages that have begun and not ended
	timers   []model.Task // that were set and have not rung; of each, the last
	arrived  int32
	draining bool
}

// unjudged are the checkers that cannot fail in a search: it has no clock, and the core itself answers.
var unjudged = []string{"time", "rounds", "replay"}

func newNode(s *Space) (*node, error) {
	core, err := model.NewCore(s.Config, s.Kinds)
	if err != nil {
		return nil, err
	}
	return &node{core: core, judge: check.NewJudge(check.Stream{Config: s.Config, Kinds: s.Kinds}, unjudged...)}, nil
}

// inputs appends everything that can happen in the state, in an order that follows from the way to it.
func (n *node) inputs(s *Space, list []model.Input) []model.Input {
	for _, t := range n.running {
		list = append(list, model.Input{Op: model.Done, Task: t})
		if s.Failures && t.Stage != model.Dealloc {
			list = append(list, model.Input{Op: model.Failed, Task: t})
		}
	}
	for _, t := range n.timers {
		list = append(list, model.Input{Op: model.Wake, Task: t})
	}
	if n.draining {
		return n.cancels(s, list)
	}
	for k := range s.Kinds {
		for count := int32(1); count <= int32(s.Jobs)-n.arrived; count++ {
			list = append(list, model.Input{Op: model.Arrive, Kind: uint16(k), Job: n.arrived, Count: count})
		}
	}
	if s.Cancels {
		list = append(list, model.Input{Op: model.Drain})
	}
	return n.cancels(s, list)
}

func (n *node) cancels(s *Space, list []model.Input) []model.Input {
	for job := int32(0); s.Cancels && job < n.arrived; job++ {
		if n.core.Live(job) {
			list = append(list, model.Input{Op: model.Cancel, Job: job})
		}
	}
	return list
}

// copyTo makes into the same state on the same way, using its storage again. The judge stays behind: whoever goes on
// from there needs a clone of it.
func (n *node) copyTo(into *node) {
	n.core.CopyTo(into.core)
	into.judge = nil
	into.running = append(into.running[:0], n.running...)
	into.timers = append(into.timers[:0], n.timers...)
	into.arrived, into.draining = n.arrived, n.draining
}

// step lets something happen and returns what the core answers, in the storage of effects.
func (n *node) step(in *model.Input, effects []model.Effect) ([]model.Effect, error) {
	effects, err := n.core.Step(*in, effects)
	if err != nil {
		return nil, err
	}
	is := func(t model.Task) bool { return t == in.Task }
	switch in.Op {
	case model.Done, model.Failed:
		n.running = slices.DeleteFunc(n.running, is)
	case model.Wake:
		n.timers = slices.DeleteFunc(n.timers, is)
	case model.Arrive:
		n.arrived += in.Count
	case model.Drain:
		n.draining = true
	}
	for i := range effects {
		switch e := &effects[i]; e.Op {
		case model.Start:
			n.running = append(n.running, e.Task)
		case model.WakeAt:
			// One that is still to ring is ignored when it does.
			n.timers = slices.DeleteFunc(n.timers, func(t model.Task) bool { return t.Slot == e.Task.Slot })
			n.timers = append(n.timers, e.Task)
		}
	}
	return effects, nil
}

// key appends what tells the state from others.
func (n *node) key(buf []byte, s *Space) []byte {
	buf = binary.AppendUvarint(buf, uint64(n.arrived))
	return n.core.Fingerprint(buf, s.Failures || s.Cancels)
}

// holding returns how many partitions hold vectors, those being synthesized included and those whose vectors wait to
// be freed not: what Config.StructuralBound bounds.
func (n *node) holding(s *Space) int {
	sum := 0
	for k := range s.Kinds {
		for p := model.InSynth; p <= model.OnGPU; p++ {
			sum += n.core.Count(k, p)
		}
		if s.Config.FreeVectors == model.AfterFinish {
			sum += n.core.Count(k, model.InFinish)
		}
	}
	return sum
}
