package model

import (
	"cmp"
	"fmt"
	"slices"
)

// policy is what the configuration says about the way of a partition, resolved once, since a comparison of words
// costs more than all the rest of a step.
type policy struct {
	release         releasePoint
	order           orderRule
	lockCall        bool
	prepBeside      bool
	split           bool
	freeAfterKernel bool
	retain          bool  // freed vectors go to a pool
	limited         bool  // synthesis has a number of workers
	admitted        marks // of a partition at its admission
	reserves        bool  // partitions reserve in the ledger
	paysAhead       bool  // jobs of some kind reserve for all their partitions before they begin
	prepares        bool  // a job may have to wait for others, for its reservation or for its data before it begins
}

// releasePoint is a Release as a number.
type releasePoint uint8

const (
	atSynthesisEnd releasePoint = iota
	atSendEnd
	atKernelEnd
	atFinishEnd
)

// orderRule is an Order as a number.
type orderRule uint8

const (
	inOrderOfArrival orderRule = iota
	byPriority
	oldestFirst
	inTurn
)

func newPolicy(c *Config) policy {
	points := map[Release]releasePoint{
		AfterSynthesis: atSynthesisEnd, AfterSend: atSendEnd, AfterKernel: atKernelEnd, AfterFinish: atFinishEnd,
	}
	orders := map[Order]orderRule{FIFO: inOrderOfArrival, ByPriority: byPriority, OldestJobFirst: oldestFirst, Interleave: inTurn}
	reserves, paysAhead, admitted := c.Admission.Budget != nil, false, holdsPermit
	if reserves {
		admitted |= holdsKernelPart | holdsRestPart
		for _, d := range c.Admission.Budget.Kinds {
			paysAhead = paysAhead || d.AcquireOrder == WorkingFirst
		}
	}
	return policy{
		admitted:        admitted,
		reserves:        reserves,
		paysAhead:       paysAhead,
		release:         points[c.Admission.Release],
		order:           orders[c.Order],
		lockCall:        c.GPU.Lock == LockCall,
		prepBeside:      c.GPU.Prep == PrepBesideLock,
		split:           c.GPU.Split,
		freeAfterKernel: c.FreeVectors == AfterKernel,
		retain:          c.Pool == PoolRetain,
		limited:         c.Synthesis.MaxParallel != Unbounded,
		prepares:        c.Prepares(),
	}
}

// traits is what the core knows of a kind besides its shape.
type traits struct {
	rank         int   // of its priority among the kinds'; the highest is 0
	kernelPart   Bytes // reserved by a partition until its kernel region is over
	restPart     Bytes // reserved by a partition until its finish is over
	workingFirst bool
	batches      bool
	needs        []int // indices of the managed data that its jobs need
}

// reserve is what a partition reserves at its admission.
func (t *traits) reserve() Bytes { return t.kernelPart + t.restPart }

// mostKinds is what the key of an order has room for.
const mostKinds = 1 << 13

func newTraits(c *Config, kinds []Kind) ([]traits, error) {
	if len(kinds) > mostKinds {
		return nil, fmt.Errorf("model: there are %d kinds: at most %d", len(kinds), mostKinds)
	}
	var priorities []int
	for i := range kinds {
		priorities = append(priorities, kinds[i].Priority)
	}
	slices.SortFunc(priorities, func(a, b int) int { return cmp.Compare(b, a) })
	priorities = slices.Compact(priorities)
	list := make([]traits, len(kinds))
	for i := range kinds {
		k, t := &kinds[i], &list[i]
		if k.Partitions < 1 || !k.Stages.Has(Synth) || !k.Stages.Has(Kernel) || k.Stages.Has(Load) {
			return nil, fmt.Errorf("model: kind %q has %d partitions and stages %s: at least one partition and the stages synth and kernel are needed, and load is of no kind", k.Name, k.Partitions, k.Stages)
		}
		if c.Order == ByPriority {
			t.rank = slices.Index(priorities, k.Priority)
		}
		if b := c.Admission.Budget; b != nil {
			d, given := b.Kinds[k.Name]
			if !given {
				return nil, fmt.Errorf("model: kind %q has no entry in config.admission.budget.kinds: give what its partitions reserve, be it 0B", k.Name)
			}
			t.kernelPart, t.restPart = d.ReleaseAfterKernel, d.Reserve-d.ReleaseAfterKernel
			t.workingFirst = d.AcquireOrder == WorkingFirst
		}
		t.batches = c.Batch != nil && c.Batch.Size > 1 && concerns(c.Batch.Kinds, k.Name)
		for n := range c.Resident {
			if r := &c.Resident[n]; r.Managed() && concerns(r.Kinds, k.Name) {
				t.needs = append(t.needs, n)
			}
		}
	}
	return list, nil
}

// concerns reports whether a list of kinds, of which an empty one means all, has the name.
func concerns(kinds []string, name string) bool {
	return len(kinds) == 0 || slices.Contains(kinds, name)
}

// key returns the place of a partition in an order that is not first in first out: the rank of its kind's priority,
// its job and its number. In turn, it is the number of its admission.
func (c *Core) key(j *job) uint64 {
	if c.policy.order == inTurn {
		c.turns++
		return c.turns
	}
	return uint64(c.traits[j.kind].rank)<<51 | uint64(j.number)<<20 | uint64(j.admitted)
}
