// Package published fits the profile of a prover that cannot be run here to what its authors published of it: rows of
// a table, and the times and sizes of single stages that their notes give.
//
// Open number.go (what the profile is made from, and what the notes say of it) first, then fit.go (how the rows move
// it), then profile.go (the profile that comes out).
package published

import (
	"fmt"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// Kind is the name of the kind of job that the rows prove: a 32 GiB PoRep of ten partitions.
const Kind = "porep-32g"

const partitions = 10

// Row is a run that was published: what was run, and what was read off it. A reading of 0 was not published.
type Row struct {
	Engine       string // a generation of the engine, one of Engines
	Workers      int    // that synthesize
	GPUWorkers   int
	JobsInFlight int
	Jobs         int

	SecondsPerJob float64
	// Span is the time from pickup to the end of the finish, summed over the partitions of a job.
	Span model.Span
	Peak model.Bytes // resident memory
	// KilledAfter is the number of jobs that were done when the run was killed with Peak resident.
	KilledAfter int
}

// Name returns the name that the row goes by.
func (r *Row) Name() string {
	return fmt.Sprintf("%s workers=%d gpu_workers=%d jobs_in_flight=%d jobs=%d",
		r.Engine, r.Workers, r.GPUWorkers, r.JobsInFlight, r.Jobs)
}

// Engines lists the generations of the engine that the profile covers. Earlier ones do not cut a proof into
// partitions, or synthesize and prove them differently.
func Engines() []string { return []string{"phase8", "phase11", "phase12-pre", "phase12-post"} }

// Config returns the configuration that makes the pipeline what the engine was in the row. Up to the fix of phase 12
// a permit returned when synthesis ended, and one finished partition fitted into the channel; up to phase 11 the GPU
// worker did the finish.
func (r *Row) Config() model.Config {
	c := model.DefaultConfig(1)
	c.JobsInFlight = model.Count(r.JobsInFlight)
	c.Admission.Permits = model.Count(r.Workers)
	c.GPU.WorkersPerDevice = model.Count(r.GPUWorkers)
	if r.Engine != "phase12-post" {
		c.Admission.Release = model.AfterSynthesis
		c.Channel.Capacity = 1
		c.FreeVectors = model.AfterFinish
	}
	c.GPU.Split = r.Engine == "phase12-pre" || r.Engine == "phase12-post"
	return c
}

// plan returns the row as a plan. There is a limit only where the run was killed.
func (r *Row) plan(p *profile.Profile) sim.Plan {
	var machine model.Machine
	if r.KilledAfter > 0 {
		machine.RAM = r.Peak
	}
	return sim.Plan{
		Machine: machine,
		Config:  r.Config(),
		Workload: model.Workload{
			Shares: []model.Share{{Kind: Kind, Jobs: r.Jobs}}, Arrival: model.Arrival{Pattern: model.Closed},
		},
		Profile: p,
		Seed:    1,
	}
}

// Reading is what a row read, or what a profile predicts that it reads.
type Reading struct {
	SecondsPerJob float64
	Span          model.Span
	Peak          model.Bytes
	JobsDone      float64
}

// Predict returns the means of what replications first to first+n-1 of the row read. Of a run that is killed there
// are neither seconds per job, which are NaN, nor a span.
func Predict(p *profile.Profile, r *Row, first uint32, n int) (Reading, error) {
	plan := r.plan(p)
	var seconds, span, peak, jobs float64
	for i := range n {
		plan.Replication = first + uint32(i)
		var s spans
		result, err := sim.Run(plan, s.add)
		if err != nil {
			return Reading{}, fmt.Errorf("published: %s: %w", r.Name(), err)
		}
		seconds += result.SecondsPerJob
		if result.JobsDone == r.Jobs {
			span += float64(s)
		}
		peak += float64(result.Peak)
		jobs += float64(result.JobsDone)
	}
	return Reading{
		SecondsPerJob: seconds / float64(n),
		Span:          model.Span(span / float64(n*r.Jobs)),
		Peak:          model.Bytes(peak / float64(n)),
		JobsDone:      jobs / float64(n),
	}, nil
}

// spans adds up the spans of a run's partitions: the ends of their finishes less their pickups.
type spans model.Span

func (s *spans) add(r *model.Record) {
	if r.Input.Op == model.Done && r.Input.Task.Stage == model.Finish {
		*s += spans(r.At)
	}
	for i := range r.Effects {
		if r.Effects[i].Op == model.Take {
			*s -= spans(r.At)
		}
	}
}
