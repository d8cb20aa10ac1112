package model

import "fmt"

// Bound is the most partitions that can hold vectors at once, whatever the durations, not counting those whose
// vectors wait to be freed.
type Bound struct {
	Partitions int    // 0 where nothing bounds them
	Formula    string // how the number comes about
}

// StructuralBound returns the bound that the configuration sets for kinds of at most that many partitions a job.
func (c *Config) StructuralBound(partitions int) Bound {
	jobs := Bound{Formula: "unbounded: neither permits nor jobs in flight limit the partitions that wait"}
	if c.JobsInFlight != Unbounded {
		n := int(c.JobsInFlight) * partitions
		jobs = Bound{n, fmt.Sprintf("jobs_in_flight %d x partitions %d = %d", c.JobsInFlight, partitions, n)}
	}
	byPermits := c.permitBound()
	if byPermits.Partitions == 0 || (jobs.Partitions != 0 && jobs.Partitions <= byPermits.Partitions) {
		return jobs
	}
	return byPermits
}

// permitBound is the bound by permits: who holds one, and who may still hold vectors after returning it.
func (c *Config) permitBound() Bound {
	permits := c.Admission.Permits
	if permits == Unbounded || c.Admission.Release == AfterSynthesis {
		return Bound{}
	}
	n := int(permits)
	formula := fmt.Sprintf("permits %d", permits)
	release := c.Admission.Release
	if release == AfterSend {
		capacity := c.ChannelCapacity()
		if capacity == Unbounded {
			return Bound{}
		}
		n += int(capacity)
		formula += fmt.Sprintf(" + channel %d", capacity)
	}
	// A worker still has vectors after the release if it took the partition before, or finishes it itself.
	if release == AfterSend || (release == AfterKernel && c.FreeVectors == AfterFinish && !c.GPU.Split) {
		n += c.Workers()
		formula += fmt.Sprintf(" + gpu workers %d", c.Workers())
	}
	// Vectors that outlive the kernel are also with finalizers, once the worker has left.
	if c.FreeVectors == AfterFinish && c.GPU.Split && release != AfterFinish {
		return Bound{} // partitions that wait for a finalizer are not limited
	}
	return Bound{n, fmt.Sprintf("%s = %d", formula, n)}
}
