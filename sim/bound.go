package sim

import (
	"math"

	"headroom/model"
	"headroom/model/profile"
)

// bound adds the worst case by structure.
func (l *loop) bound(r *Result) {
	c := &l.plan.Config
	partitions, most, job := 0, model.Bytes(0), model.Bytes(0)
	for k := range l.kinds {
		f := &l.kinds[k].Footprint
		partitions = max(partitions, l.kinds[k].Partitions)
		most = max(most, mostHeld(f, c.FreeVectors))
		job = max(job, f.Parse.Value+highest(f, model.Parse))
	}
	r.Bound = c.StructuralBound(partitions)
	if r.Bound.Partitions == 0 {
		return
	}
	jobs := l.plan.Workload.Jobs()
	if c.JobsInFlight != model.Unbounded {
		jobs = min(jobs, int(c.JobsInFlight))
	}
	bytes := float64(l.base) + float64(most)*float64(r.Bound.Partitions) + float64(job)*float64(jobs)
	if bytes >= math.MaxInt64 {
		r.BoundBytes = math.MaxInt64 // more than any machine has
		return
	}
	r.BoundBytes = l.base + most*model.Bytes(r.Bound.Partitions) + job*model.Bytes(jobs)
}

// mostHeld returns the most that a partition holds while it holds vectors. Prep may run beside the first part of
// the kernel.
func mostHeld(f *profile.Footprint, freed model.Release) model.Bytes {
	blocks := f.Vectors.Value + f.Assignment.Value + f.Call.Value
	extra := highest(f, model.Prep) + max(highest(f, model.Kernel), highest(f, model.Tail))
	if freed == model.AfterFinish {
		extra = max(extra, highest(f, model.Finish))
	}
	return max(highest(f, model.Synth), blocks+extra)
}

// highest returns the most that a stage holds by its progress.
func highest(f *profile.Footprint, s model.Stage) model.Bytes {
	most := model.Bytes(0)
	for _, p := range f.During[s] {
		most = max(most, p.Bytes.Value)
	}
	return most
}
