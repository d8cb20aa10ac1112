// Package explain says why a peak is what it is: who holds it, what bounds it by structure, which knob causes the
// difference between two plans, and which single knob lowers it at what cost in speed.
//
// All of it comes from counterfactual runs: the same seed and replications, so the same draws, with other settings.
// Runs are not stopped at the limit of memory, so that a plan that passes it is measured whole.
//
// Open single.go (one plan) first, then pair.go (two plans), knobs.go (in what they differ) and shapley.go (shares).
package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"headroom/model"
	"headroom/sim"
)

// MaxReplications keeps what is added up over replications within reason.
const MaxReplications = 10_000

// Setting is a key of a scenario, such as config.admission.permits, with two values as a scenario writes them. An
// empty word and what is left out are null.
type Setting struct{ Key, From, To string }

// Knob is one setting, or several that move together.
type Knob struct {
	Name     string // the key; of several those joined by +, or the name of the caller's group
	Settings []Setting
}

// Fix is a change of one knob that lowers the mean peak of a plan.
type Fix struct {
	Knob Knob
	Case *Case
	// Bytes and SecondsPerJob are the change that the fix makes: negative is less memory, positive is slower. The
	// seconds are NaN if the plan itself has none.
	Bytes         model.Bytes
	SecondsPerJob float64
	// RemovesOOM: replications of the plan passed the limit, and with the fix none does.
	RemovesOOM bool
	// RemovesDifference: the plan peaks higher than the one that it is compared with, and with the fix it does not.
	RemovesDifference bool
}

// newFix returns what a knob comes to, or nil unless it lowers the peak of a plan and lets the pipeline go on.
func newFix(of *Case, knob Knob, c *Case) *Fix {
	if c.Peak >= of.Peak || c.Stalls > 0 {
		return nil
	}
	return &Fix{
		Knob: knob, Case: c, Bytes: c.Peak - of.Peak, SecondsPerJob: c.SecondsPerJob - of.SecondsPerJob,
		RemovesOOM: of.OOMs > 0 && c.OOMs == 0,
	}
}

// removes returns how much of what there is to remove is removed.
func (f *Fix) removes() int {
	n := 0
	for _, is := range []bool{f.RemovesOOM, f.RemovesDifference} {
		if is {
			n++
		}
	}
	return n
}

// sortFixes puts those first that remove most, and of them the fastest; of the others the lowest peak is first.
func sortFixes(list []*Fix) {
	slices.SortStableFunc(list, func(a, b *Fix) int {
		most := cmp.Compare(b.removes(), a.removes())
		peak, speed := cmp.Compare(a.Case.Peak, b.Case.Peak), cmp.Compare(a.Case.SecondsPerJob, b.Case.SecondsPerJob)
		if a.removes() > 0 {
			return cmp.Or(most, speed, peak)
		}
		return cmp.Or(most, peak, speed)
	})
}

// valid reports what is wrong with a plan.
func valid(p *sim.Plan) error {
	var unknown error
	for _, share := range p.Workload.Shares {
		k := p.Profile.Kind(share.Kind)
		if k == nil {
			unknown = fmt.Errorf("workload.kind is %q, which the profile %s does not know", share.Kind, p.Profile.Name)
			continue
		}
		if _, err := k.Under(&p.Config); err != nil {
			unknown = err
		}
	}
	return errors.Join(p.Machine.Validate(), p.Config.Validate(&p.Machine), p.Workload.Validate(), unknown)
}

// validReplications reports a number of replications that is out of range.
func validReplications(n int) error {
	if n < 1 || n > MaxReplications {
		return fmt.Errorf("explain: %d replications: from 1 to %d", n, MaxReplications)
	}
	return nil
}
