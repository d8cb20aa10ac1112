package scenarios

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"headroom/model"
)

// workload is the workload of a file: jobs of one kind, or a mix.
type workload struct {
	Jobs    *int    `yaml:"jobs"`
	Kind    *string `yaml:"kind"`
	Mix     []share `yaml:"mix"`
	Arrival arrival `yaml:"arrival"`
}

// share is one kind of a mix. Either each share gives its jobs, and may give a weight by which arrivals
// interleave, or each gives only a weight by which workload.jobs is divided.
type share struct {
	Kind   string   `yaml:"kind"`
	Jobs   *int     `yaml:"jobs"`
	Weight *float64 `yaml:"weight"`
}

// resolve returns the workload with the jobs of each share counted, and notes what is wrong.
func (w *workload) resolve(f *model.Faults) model.Workload {
	out := model.Workload{Arrival: model.Arrival(w.Arrival)}
	if w.Mix == nil {
		if !w.isComplete(f) {
			return out
		}
		out.Shares = []model.Share{{Kind: *w.Kind, Jobs: *w.Jobs}}
	} else {
		if !w.isCounted(f) {
			return out
		}
		out.Shares = w.shares()
	}
	f.Join(out.Validate())
	return out
}

// isComplete notes a fault and returns false unless there are a kind and a number of jobs.
func (w *workload) isComplete(f *model.Faults) bool {
	if w.Kind == nil {
		f.Add("workload.kind", "is missing: the kind of the jobs, or a mix of several")
	}
	if w.Jobs == nil {
		f.Add("workload.jobs", "is missing: the number of jobs, at least 1")
	}
	return w.Kind != nil && w.Jobs != nil
}

// isCounted notes a fault and returns false unless the shares of a mix are counted, all in the same way.
func (w *workload) isCounted(f *model.Faults) bool {
	jobs, weights := 0, 0
	for i, s := range w.Mix {
		if s.Jobs != nil {
			jobs++
		}
		if s.Weight != nil {
			weights++
			if !(*s.Weight > 0 && *s.Weight <= math.MaxFloat32) {
				f.Add(fmt.Sprintf("workload.mix[%d].weight", i), "is %v: a number above 0", *s.Weight)
				return false
			}
		}
	}
	switch all := len(w.Mix); {
	case w.Kind != nil:
		f.Add("workload.kind", "is %q: not with workload.mix, which names the kinds", *w.Kind)
	case all == 0:
		f.Add("workload.mix", "is an empty list: at least one {kind: , jobs: }")
	case jobs != 0 && jobs != all, weights != 0 && weights != all, jobs == 0 && weights == 0:
		f.Add("workload.mix", "has %d shares, of which %d give jobs and %d a weight: all or none of them give each, "+
			"and one is needed", all, jobs, weights)
	case jobs == all && w.Jobs != nil:
		f.Add("workload.jobs", "is %d: not with a mix that gives the jobs of each kind", *w.Jobs)
	case jobs == 0 && w.Jobs == nil:
		f.Add("workload.jobs", "is missing: the number of jobs that the weights of the mix divide")
	default:
		return true
	}
	return false
}

// shares returns the mix with its jobs counted.
func (w *workload) shares() []model.Share {
	list := make([]model.Share, len(w.Mix))
	weights := make([]float64, len(w.Mix))
	for i, s := range w.Mix {
		list[i].Kind = s.Kind
		if s.Weight != nil {
			weights[i] = *s.Weight
		}
		if s.Jobs != nil {
			list[i].Jobs, list[i].Weight = *s.Jobs, weights[i]
		}
	}
	if w.Jobs != nil {
		for i, n := range apportion(*w.Jobs, weights) {
			list[i].Jobs = n
		}
	}
	return list
}

// apportion divides jobs in proportion to the weights by the method of largest remainders; of equal remainders
// the first goes first.
func apportion(jobs int, weights []float64) []int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	parts, order, left := make([]int, len(weights)), make([]int, len(weights)), jobs
	exact := func(i int) float64 { return float64(jobs) * (weights[i] / total) }
	for i := range weights {
		order[i] = i
		parts[i] = int(exact(i))
		left -= parts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(exact(b)-float64(parts[b]), exact(a)-float64(parts[a]))
	})
	for i := range max(left, 0) {
		parts[order[i%len(order)]]++
	}
	return parts
}
