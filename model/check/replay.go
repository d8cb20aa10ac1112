package check

import (
	"fmt"
	"slices"

	"headroom/model"
)

// Replay gives the recorded inputs of a stream to a fresh core and returns where its answers differ first, if
// they do. It is the checker named replay alone, for streams whose every other property is known.
func Replay(s Stream) []Finding {
	w := newWorld(&s)
	w.checker = &checkers[slices.IndexFunc(checkers, func(c Checker) bool { return c.Name == "replay" })]
	r := newReplay(&s)
	for i := range s.Records {
		w.index, w.record = i, &s.Records[i]
		r.input(w, w.record)
	}
	return w.findings
}

// replay is the judge that runs the core. It stops at the first difference, since the states differ from there.
type replay struct {
	idle
	config  *model.Config
	kinds   []model.Kind
	core    *model.Core
	err     error
	mayWait bool  // a job that begins may have to wait for something before its partitions
	waiting int64 // jobs that have not begun, or fewer
	effects []model.Effect
}

func newReplay(s *Stream) *replay {
	r := &replay{config: &s.Config, kinds: s.Kinds}
	r.mayWait = newWorld(s).prepares() || s.Config.Synthesis.MaxParallel != model.Unbounded
	r.core, r.err = model.NewCore(s.Config, s.Kinds)
	return r
}

func (r *replay) input(w *world, record *model.Record) {
	if r.err != nil {
		w.report("%v", r.err)
		r.core, r.err = nil, nil
	}
	if r.core == nil {
		return
	}
	if least := r.least(&record.Input); least > int64(len(record.Effects)) {
		w.report("the core answers at least %d effects: %d are recorded", least, len(record.Effects))
		r.core = nil
		return
	}
	effects, err := r.core.Step(record.Input, r.effects[:0])
	if err != nil {
		w.report("the core refuses the input: %v", err)
		r.core = nil
		return
	}
	r.effects = effects
	r.count(&record.Input, effects)
	if !slices.Equal(effects, record.Effects) {
		w.report("%s", difference(effects, record.Effects))
		r.core = nil
	}
}

// least returns a number of effects that the core will not stay below. A stream that records fewer is wrong, and
// without knowing that first, one that claims a billion jobs would make the core answer for them.
func (r *replay) least(in *model.Input) int64 {
	switch in.Op {
	case model.Drain:
		return r.waiting
	case model.Arrive:
		if in.Count < 0 || int(in.Kind) >= len(r.kinds) {
			return 0 // refused
		}
		k := &r.kinds[in.Kind]
		opened := min(int64(in.Count), int64(r.config.JobsInFlight)-int64(r.core.InFlight()))
		if r.mayWait {
			return opened
		}
		if k.Stages.Has(model.Parse) {
			return 2 * opened
		}
		return opened + min(opened*int64(k.Partitions), int64(r.core.FreePermits()))
	}
	return 0
}

func (r *replay) count(in *model.Input, effects []model.Effect) {
	if in.Op == model.Arrive {
		r.waiting += int64(in.Count)
	}
	for i := range effects {
		if op := effects[i].Op; op == model.JobStart || op == model.JobFailed {
			r.waiting--
		}
	}
	r.waiting = max(r.waiting, 0)
}

// difference describes the first effect in which two answers differ.
func difference(core, recorded []model.Effect) string {
	i := 0
	for i < len(core) && i < len(recorded) && core[i] == recorded[i] {
		i++
	}
	return "effect " + describe(i, core) + " of the core, " + describe(i, recorded) + " in the record"
}

func describe(i int, effects []model.Effect) string {
	if i >= len(effects) {
		return fmt.Sprintf("%d is absent", i+1)
	}
	e := &effects[i]
	return fmt.Sprintf("%d is %s %s of job %d partition %d on lane %d", i+1, e.Op, e.Task.Stage, e.Job, e.Partition, e.Task.Lane)
}
