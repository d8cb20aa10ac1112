package sim

import (
	"math"

	"headroom/model"
)

// bound adds the worst case by structure: as many partitions as can hold vectors, beside as much data as can be there.
func (l *loop) bound(r *Result) {
	c := &l.config
	partitions, most, job := 0, model.Bytes(0), model.Bytes(0)
	for k := range l.kinds {
		f := &l.kinds[k].Footprint
		partitions = max(partitions, l.kinds[k].Partitions)
		most = max(most, f.Most(c.FreeVectors))
		job = max(job, f.Parse.Value+f.Highest(model.Parse))
	}
	r.Bound = c.StructuralBound(partitions)
	if r.Bound.Partitions == 0 {
		return
	}
	jobs := l.plan.Workload.Jobs()
	if c.JobsInFlight != model.Unbounded {
		jobs = min(jobs, int(c.JobsInFlight))
	}
	base := l.baseline + c.DataBound()
	bytes := float64(base) + float64(most)*float64(r.Bound.Partitions) + float64(job)*float64(jobs)
	if bytes >= math.MaxInt64 {
		r.BoundBytes = math.MaxInt64 // more than any machine has
		return
	}
	r.BoundBytes = max(base+most*model.Bytes(r.Bound.Partitions)+job*model.Bytes(jobs), l.preloaded)
}
