package sim_test

import (
	"cmp"
	"slices"

	"headroom/model"
	"headroom/model/profile"
)

// happening is one thing that happened to a job or a partition, with what it added to the resident bytes.
type happening struct {
	At             model.Instant
	What           string
	Job, Partition int32
	Worker         int // of a take
	Bytes          model.Bytes
}

// arrival is a job that arrived.
type arrival struct {
	job  int32
	kind uint16
	at   model.Instant
}

func arrivalsOf(records []model.Record) []arrival {
	var jobs []arrival
	for _, r := range records {
		if r.Input.Op != model.Arrive {
			continue
		}
		for i := range r.Input.Count {
			jobs = append(jobs, arrival{r.Input.Job + i, r.Input.Kind, r.At})
		}
	}
	return jobs
}

// happenings returns what a run's records say happened. Footprints may only step.
func happenings(records []model.Record, kinds []profile.Kind) []happening {
	var list []happening
	begun := map[model.Task]model.Effect{}
	for _, r := range records {
		note := func(what string, e *model.Effect, worker int32, bytes model.Bytes) {
			list = append(list, happening{r.At, what, e.Job, e.Partition, int(worker), bytes})
		}
		if r.Input.Op == model.Done {
			e := begun[r.Input.Task]
			f := &kinds[e.Kind].Footprint
			note("end "+stageName(e.Task.Stage, e.Task.Block), &e, 0, -during(f, e.Task.Stage))
			if e.Task.Stage == model.Synth {
				note("hold", &e, 0, f.Vectors.Value+f.Assignment.Value)
			}
		}
		for i := range r.Effects {
			e := &r.Effects[i]
			f := &kinds[e.Kind].Footprint
			switch e.Op {
			case model.JobStart:
				note("job start", e, 0, f.Parse.Value)
			case model.Start:
				begun[e.Task] = *e
				note("start "+stageName(e.Task.Stage, e.Task.Block), e, 0, during(f, e.Task.Stage))
			case model.Accept:
				note("accept", e, 0, 0)
			case model.Take:
				note("take", e, e.Task.Lane, f.Call.Value)
			case model.JobDone:
				note("job done", e, 0, -f.Parse.Value)
			case model.Freed:
				if e.Task.Block != model.ParseBuffer {
					note("free "+e.Task.Block.String(), e, 0, -blockBytes(f, e.Task.Block))
				}
			}
		}
	}
	return list
}

func stageName(s model.Stage, b model.Block) string {
	if b == model.NoBlock {
		return s.String()
	}
	return s.String() + " " + b.String()
}

func during(f *profile.Footprint, s model.Stage) model.Bytes {
	if points := f.During[s]; len(points) > 0 {
		return points[0].Bytes.Value
	}
	return 0
}

// blockBytes is the size of a block of a partition that was on a worker.
func blockBytes(f *profile.Footprint, b model.Block) model.Bytes {
	if b == model.Vectors {
		return f.Vectors.Value
	}
	return f.Assignment.Value + f.Call.Value
}

// inOrder sorts happenings by time, and those of one instant by what they are.
func inOrder(list []happening) []happening {
	slices.SortFunc(list, func(a, b happening) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.What, b.What), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Partition, b.Partition))
	})
	return list
}

// peakOf adds up the bytes of happenings in order. What changes at one instant counts together.
func peakOf(list []happening, base model.Bytes) (peak model.Bytes, at model.Instant) {
	level := base
	peak = base
	for i, h := range list {
		level += h.Bytes
		if last := i == len(list)-1 || list[i+1].At > h.At; last && level > peak {
			peak, at = level, h.At
		}
	}
	return peak, at
}
