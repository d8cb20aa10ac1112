package explain

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"headroom/model"
	"headroom/sim"
)

// Case is what a plan comes to in the mean over its replications.
type Case struct {
	// Peak is the mean of the peaks of runs that the limit does not stop, to the nearest byte.
	Peak model.Bytes
	// SecondsPerJob is the mean over the replications, rounded to a multiple of 2^-30 s (about a nanosecond), so
	// that sums and differences of such numbers below 97 days are exact; NaN if a replication stalls or does no job.
	SecondsPerJob float64
	OOMs, Stalls  int // replications that pass a limit of the machine or are refused for it, and that stall
	// AtPeak is the means of what each owner holds at the peak. They add up to Peak; the largest is first.
	AtPeak []Holding
	Bound  model.Bound

	peak, perJob *big.Rat // the means without rounding, perJob in ticks; perJob is nil if there is none
}

// Holding is what one owner holds at the peak, in the mean.
type Holding struct {
	Owner sim.Owner
	Count float64 // partitions; blocks for dealloc, jobs for parse
	Bytes model.Bytes
}

// tick is the unit of seconds per job: sums of its multiples are exact in binary floating point.
const tick = 1.0 / (1 << 30)

// replicate runs replications 1 to n of a plan with the limit ignored.
func replicate(p sim.Plan, n int, progress func()) (*Case, error) {
	p.IgnoreLimit = true
	runs, err := sim.Replicate(p, 1, n, progress)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		held := model.Bytes(0)
		for _, h := range r.AtPeak {
			held += h.Bytes
		}
		if held != r.Peak {
			return nil, fmt.Errorf("explain: the owners hold %s at the peak of %s: they must add up to it", held, r.Peak)
		}
	}
	return fold(runs), nil
}

// fold returns the means of some runs of one plan, whose owners add up to their peaks.
func fold(runs []*sim.Result) *Case {
	n := int64(len(runs))
	c := &Case{Bound: runs[0].Bound, SecondsPerJob: math.NaN()}
	peaks, perJob := new(big.Int), new(big.Rat)
	for _, r := range runs {
		peaks.Add(peaks, big.NewInt(int64(r.Peak)))
		if r.Verdict.Over() || r.Limit.Bytes != 0 && r.Peak > r.Limit.Bytes {
			c.OOMs++
		}
		if r.Verdict == sim.Stall {
			c.Stalls++
		}
		if math.IsNaN(r.SecondsPerJob) {
			perJob = nil
		}
		if perJob != nil {
			perJob.Add(perJob, big.NewRat(int64(r.Makespan), int64(r.JobsDone)))
		}
	}
	c.peak = new(big.Rat).SetFrac(peaks, big.NewInt(n))
	c.Peak = model.Bytes(round(c.peak))
	if perJob != nil {
		c.perJob = perJob.Mul(perJob, big.NewRat(1<<30, n*int64(model.Second)))
		c.SecondsPerJob = float64(round(c.perJob)) * tick
	}
	c.hold(runs)
	return c
}

// hold adds the means by owner.
func (c *Case) hold(runs []*sim.Result) {
	counts, sums := map[sim.Owner]int{}, map[sim.Owner]*big.Int{}
	for _, r := range runs {
		for _, h := range r.AtPeak {
			if sums[h.Owner] == nil {
				sums[h.Owner] = new(big.Int)
				c.AtPeak = append(c.AtPeak, Holding{Owner: h.Owner})
			}
			counts[h.Owner] += h.Count
			sums[h.Owner].Add(sums[h.Owner], big.NewInt(int64(h.Bytes)))
		}
	}
	slices.SortFunc(c.AtPeak, func(a, b Holding) int {
		return cmp.Or(sums[b.Owner].Cmp(sums[a.Owner]), strings.Compare(string(a.Owner), string(b.Owner)))
	})
	exact := make([]*big.Rat, len(c.AtPeak))
	for i := range c.AtPeak {
		h := &c.AtPeak[i]
		h.Count = float64(counts[h.Owner]) / float64(len(runs))
		exact[i] = new(big.Rat).SetFrac(sums[h.Owner], big.NewInt(int64(len(runs))))
	}
	for i, bytes := range apportion(int64(c.Peak), exact) {
		c.AtPeak[i].Bytes = model.Bytes(bytes)
	}
}
