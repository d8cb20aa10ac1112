package explain

import (
	"fmt"

	"headroom/model"
	"headroom/sim"
)

// Single is a question about one plan.
type Single struct {
	plan         sim.Plan
	replications int
	neighbours   []neighbour
}

// Explanation says why the peak of a plan is what it is.
type Explanation struct {
	// Result is replication 0, which uses the profile's values as they are, with the limit ignored.
	Result *sim.Result
	Why    []string // the structural bound in sentences
	Mean   *Case    // of replications 1 to n
	// Fixes are the changes of one knob that lower the mean peak. Those that remove an oom come first, the fastest
	// first; the others by their peak.
	Fixes []*Fix
	Notes []string // on changes that cannot be simulated
}

// NewSingle prepares an explanation by replication 0 and by that many others, 1 to MaxReplications. It is an error
// if the plan is not valid.
func NewSingle(p sim.Plan, replications int) (*Single, error) {
	if err := validReplications(replications); err != nil {
		return nil, err
	}
	if err := valid(&p); err != nil {
		return nil, fmt.Errorf("explain: the plan is not valid: %w", err)
	}
	return &Single{plan: p, replications: replications, neighbours: neighbours(&p)}, nil
}

// Runs returns the number of runs that the answer takes.
func (s *Single) Runs() int { return 1 + (1+len(s.neighbours))*s.replications }

// Explain explains the plan. Each finished run is reported to progress, which may be nil.
func (s *Single) Explain(progress func()) (*Explanation, error) {
	p := s.plan
	p.IgnoreLimit = true
	zero, err := sim.Replicate(p, 0, 1, progress)
	if err != nil {
		return nil, err
	}
	out := &Explanation{Result: zero[0], Why: why(&p.Config, mostPartitions(&p), zero[0].Bound)}
	if out.Mean, err = replicate(p, s.replications, progress); err != nil {
		return nil, err
	}
	cases, notes := try(s.neighbours, s.replications, progress)
	out.Notes = notes
	for _, c := range cases {
		if f := newFix(out.Mean, c.knob, c.is); f != nil {
			out.Fixes = append(out.Fixes, f)
		}
	}
	sortFixes(out.Fixes)
	return out, nil
}

// mostPartitions returns the partitions of the workload's largest job.
func mostPartitions(p *sim.Plan) int {
	most := 0
	for _, share := range p.Workload.Shares {
		most = max(most, p.Profile.Kind(share.Kind).Partitions)
	}
	return most
}

// why says in sentences how many partitions can hold vectors at once, and why.
func why(c *model.Config, partitions int, bound model.Bound) []string {
	list := []string{whyPermits(c)}
	if c.JobsInFlight == model.Unbounded {
		list = append(list, "Jobs in flight are unbounded.")
	} else {
		list = append(list, fmt.Sprintf("At most %s jobs are in flight, of up to %d partitions each.", c.JobsInFlight, partitions))
	}
	if bound.Partitions == 0 {
		return append(list, "So nothing bounds the partitions that hold vectors at once.")
	}
	return append(list, fmt.Sprintf("So at most %d partitions hold vectors at once: %s.", bound.Partitions, bound.Formula))
}

// whyPermits says which partitions the permits limit.
func whyPermits(c *model.Config) string {
	if c.Admission.Permits == model.Unbounded {
		return "Permits are unbounded: a partition is admitted as soon as its job is in flight."
	}
	switch permits := c.Admission.Permits; c.Admission.Release {
	case model.AfterSynthesis:
		return fmt.Sprintf("A permit returns when synthesis ends: the %s permits limit the partitions in synthesis, and those that wait in send for the channel hold their vectors without one.", permits)
	case model.AfterSend:
		return fmt.Sprintf("A permit returns when the channel has taken the partition: the %s permits limit the partitions in synthesis and in send; up to %s wait in the channel and %d are with GPU workers without one.",
			permits, c.ChannelCapacity(), c.Workers())
	case model.AfterKernel:
		return fmt.Sprintf("A permit returns when the kernel is over: the %s permits limit the partitions from admission to there, those in send and in the channel too.", permits)
	default:
		return fmt.Sprintf("A permit returns when the finish is over: the %s permits limit the partitions from admission to there, those in send and in the channel too.", permits)
	}
}
