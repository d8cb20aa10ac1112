package trace

import "headroom/model"

// owner is the partition that a slot of the core belongs to.
type owner struct{ job, partition int32 }

// owners knows what was last started in each slot, so that completions can be written and checked with the job and
// the partition that they are of. Jobs, partitions and resident data have slots of their own.
type owners map[slot]owner

// slot is a number and the stage whose slots it counts: Load, Parse, or Synth for all the others.
type slot struct {
	number int32
	of     model.Stage
}

func slotOf(t *model.Task) slot { return slot{t.Slot, min(t.Stage, model.Synth)} }

// of returns whom an input is about. It is not known if the input ends what was never started.
func (o owners) of(in *model.Input) (found owner, known bool) {
	if in.Op != model.Done && in.Op != model.Failed {
		return owner{job: in.Job}, true
	}
	found, known = o[slotOf(&in.Task)]
	return found, known
}

// note takes in what a step started.
func (o owners) note(effects []model.Effect) {
	for i := range effects {
		if e := &effects[i]; e.Op == model.Start {
			o[slotOf(&e.Task)] = owner{e.Job, e.Partition}
		}
	}
}
