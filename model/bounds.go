package model

import "fmt"

// Bound is the most partitions that can hold vectors at once, whatever the durations, not counting those whose
// vectors wait to be freed. The partitions of a batch count once for each of its proofs.
type Bound struct {
	Partitions int    // 0 where nothing bounds them
	Formula    string // how the number comes about
}

// StructuralBound returns the bound that the configuration sets for kinds of at most that many partitions a job: the
// least of what the jobs in flight, the permits, the synthesis workers and the ledger allow.
func (c *Config) StructuralBound(partitions int) Bound {
	least := Bound{Formula: "unbounded: neither jobs in flight, permits, synthesis workers nor a ledger limit the partitions that wait"}
	for _, b := range []Bound{c.jobBound(partitions), c.permitBound(), c.workerBound(), c.ledgerBound(), c.finishBound()} {
		if b.Partitions > 0 && (least.Partitions == 0 || b.Partitions < least.Partitions) {
			least = b
		}
	}
	return least
}

// jobBound is the bound by the jobs in flight.
func (c *Config) jobBound(partitions int) Bound {
	if c.JobsInFlight == Unbounded {
		return Bound{}
	}
	n := int(c.JobsInFlight) * partitions
	return Bound{n, fmt.Sprintf("jobs_in_flight %d x partitions %d = %d", c.JobsInFlight, partitions, n)}
}

// permitBound is the bound by permits: who holds one, and who may still hold vectors after returning it.
func (c *Config) permitBound() Bound {
	permits := c.Admission.Permits
	if permits == Unbounded || c.Admission.Release == AfterSynthesis {
		return Bound{}
	}
	n, formula := int(permits), fmt.Sprintf("permits %d", permits)
	switch release := c.Admission.Release; {
	case release == AfterSend:
		return c.beyondSend(n, formula)
	case release == AfterKernel && c.FreeVectors == AfterFinish && c.GPU.Split:
		return Bound{} // partitions that wait for a finalizer are not limited
	case release == AfterKernel && c.FreeVectors == AfterFinish:
		// The worker finishes the partition itself, after the release.
		n += c.Workers()
		formula += fmt.Sprintf(" + gpu workers %d", c.Workers())
	}
	return c.batched(n, formula)
}

// workerBound is the bound by synthesis workers, each of which is taken until the channel has its partition.
func (c *Config) workerBound() Bound {
	workers := c.Synthesis.MaxParallel
	if workers == Unbounded {
		return Bound{}
	}
	return c.beyondSend(int(workers), fmt.Sprintf("synthesis workers %d", workers))
}

// beyondSend adds those to n partitions before the channel that the channel and the GPU workers hold.
func (c *Config) beyondSend(n int, formula string) Bound {
	capacity := c.ChannelCapacity()
	if capacity == Unbounded || (c.FreeVectors == AfterFinish && c.GPU.Split) {
		return Bound{}
	}
	n += int(capacity) + c.Workers()
	return c.batched(n, formula+fmt.Sprintf(" + channel %d + gpu workers %d", capacity, c.Workers()))
}

// batched multiplies a bound by the size of a batch.
func (c *Config) batched(n int, formula string) Bound {
	if c.Batch != nil && c.Batch.Size > 1 {
		n *= int(c.Batch.Size)
		formula = fmt.Sprintf("(%s) x batch %d", formula, c.Batch.Size)
	}
	return Bound{n, fmt.Sprintf("%s = %d", formula, n)}
}
