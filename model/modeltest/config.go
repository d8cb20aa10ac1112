package modeltest

import (
	"fmt"

	"headroom/model"
)

// Config returns a valid configuration with any knob set.
func Config(choose Choose) model.Config {
	c := Pipeline(choose)
	c.Order = Pick(choose, model.FIFO, model.ByPriority, model.OldestJobFirst, model.Interleave)
	c.Synthesis.MaxParallel = Pick(choose, 1, 2, 4, model.Unbounded, model.Unbounded)
	c.Synthesis.Handoff = Pick[model.Count](choose, 0, 1, 3)
	c.Pool = Pick(choose, model.PoolRetain, model.PoolNone)
	if choose(3) == 0 {
		c.Batch = &model.Batch{Size: model.Count(1 + choose(3)), Wait: model.Second, Kinds: Pick(choose, nil, []string{"kind0"})}
	}
	if choose(2) == 0 {
		c.Admission.Budget = budget(choose)
	}
	if choose(2) == 0 {
		c.Resident = resident(choose)
	}
	return c
}

// Pipeline returns a valid configuration of the pipeline alone: first in, first out, with permits, a channel and GPUs,
// and without a ledger, data that comes and goes, batches and a pool.
func Pipeline(choose Choose) model.Config {
	c := model.DefaultConfig(1 + choose(3))
	c.JobsInFlight = Pick(choose, 1, 2, 4, model.Unbounded)
	c.Admission.Permits = Pick(choose, 1, 2, 3, 7, model.Unbounded)
	c.Admission.Release = Pick(choose, model.AfterSynthesis, model.AfterSend, model.AfterKernel, model.AfterFinish)
	c.Channel.Capacity = Pick(choose, 0, 1, 3, model.Auto, model.Unbounded)
	c.Channel.Lookahead = Pick[model.Count](choose, 0, 1, 5)
	c.GPU.WorkersPerDevice = model.Count(1 + choose(3))
	c.GPU.Lock = Pick(choose, model.LockKernel, model.LockCall)
	c.GPU.Prep = Pick(choose, model.PrepBesideLock, model.PrepBeforeLock)
	if c.GPU.Lock == model.LockCall {
		c.GPU.Prep = ""
	}
	c.GPU.Split = choose(2) == 0
	if c.GPU.Split {
		c.Finalizers = Pick(choose, 1, 2, model.Unbounded)
	}
	c.FreeVectors = Pick(choose, model.AfterKernel, model.AfterFinish)
	c.Dealloc.Workers = model.Count(1 + choose(3))
	return c
}

// budget returns a ledger that is sometimes too small for everything that may have to be in it at once.
func budget(choose Choose) *model.Budget {
	b := &model.Budget{
		Total: model.Bytes(30 + choose(60)), Kinds: map[string]model.Demand{},
		EvictionMinIdle: Pick[model.Span](choose, 0, model.Second),
		Retry:           Pick(choose, "", model.RetryOnRelease, model.RetryTimed),
	}
	for i := range mostKinds {
		d := model.Demand{Reserve: model.Bytes(choose(10)), AcquireOrder: Pick(choose, "", model.ResidentFirst, model.WorkingFirst)}
		d.ReleaseAfterKernel = model.Bytes(choose(int(d.Reserve) + 1))
		b.Kinds[kindName(i)] = d
	}
	return b
}

func resident(choose Choose) []model.Resident {
	list := make([]model.Resident, 1+choose(3))
	for i := range list {
		r := &list[i]
		*r = model.Resident{
			Name: fmt.Sprint("data", i), Bytes: model.Bytes(1 + choose(20)), Transient: model.Bytes(choose(9)), LoadTime: model.Second,
			Acquire:  Pick(choose, "", model.AcquireBlocking, model.AcquirePolling),
			OnDemand: choose(2) == 0, Evictable: choose(2) == 0,
			Kinds: Pick(choose, nil, []string{kindName(0)}, []string{kindName(1), kindName(2)}),
		}
		r.Background = r.OnDemand && choose(4) == 0
	}
	return list
}

const mostKinds = 3

func kindName(i int) string { return fmt.Sprint("kind", i) }

// Kinds returns one to three kinds, with and without each stage that a kind may lack.
func Kinds(choose Choose) []model.Kind {
	kinds := make([]model.Kind, 1+choose(mostKinds))
	for i := range kinds {
		stages := model.StageSet(0).With(model.Synth, model.Kernel)
		for _, s := range []model.Stage{model.Parse, model.Prep, model.Tail, model.Finish, model.Dealloc} {
			if choose(3) > 0 {
				stages = stages.With(s)
			}
		}
		kinds[i] = model.Kind{Name: kindName(i), Partitions: 1 + choose(4), Priority: choose(3), Stages: stages}
	}
	return kinds
}

// ChooseSetup returns a configuration with kinds and up to twelve jobs.
func ChooseSetup(choose Choose) Setup {
	return Setup{
		Config: Config(choose), Kinds: Kinds(choose), Jobs: 1 + choose(12),
		Failures: choose(2) == 1, Cancels: choose(2) == 1,
	}
}
