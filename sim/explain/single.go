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
	out := &Explanation{Result: zero[0], Why: why(&p.Config, p.MostPartitions(), zero[0].Bound)}
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

// why says in sentences how many partitions can hold vectors at once, and why.
func why(c *model.Config, partitions int, bound model.Bound) []string {
	list := whyPermits(c)
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if c.Synthesis.MaxParallel != model.Unbounded {
		say("At most %s can be in synthesis and in send: a worker stays until the channel takes its partition.",
			model.Counted(c.Synthesis.MaxParallel, "partition"))
	}
	if c.Admission.Budget != nil {
		say("The ledger admits what fits into %s by what each kind reserves.", c.Admission.Budget.Available())
	}
	if c.FreeVectors == model.AfterFinish && c.GPU.Split {
		say("Vectors are freed after the finish, so that partitions that wait for a finalizer hold theirs.")
	}
	if c.JobsInFlight == model.Unbounded {
		say("Jobs in flight are unbounded.")
	} else {
		say("At most %s can be in flight, of up to %s each.", model.Counted(c.JobsInFlight, "job"), model.Counted(partitions, "partition"))
	}
	if bound.Partitions == 0 {
		say("So nothing bounds the partitions that hold vectors at once.")
	} else {
		say("So at most %s can hold vectors at once: %s.", model.Counted(bound.Partitions, "partition"), bound.Formula)
	}
	return list
}

// whyPermits says which partitions the permits limit.
func whyPermits(c *model.Config) []string {
	if c.Admission.Permits == model.Unbounded {
		return []string{"Permits are unbounded: they limit nothing."}
	}
	permits := model.Counted(c.Admission.Permits, "permit")
	const from = "A permit returns when %s, which with %s limits the partitions %s."
	switch c.Admission.Release {
	case model.AfterSynthesis:
		return []string{
			fmt.Sprintf(from, "synthesis ends", permits, "in synthesis, and no others"),
			"Those that wait in send for the channel hold their vectors without a permit.",
		}
	case model.AfterSend:
		return []string{
			fmt.Sprintf(from, "the channel takes the partition", permits, "in synthesis and in send"),
			fmt.Sprintf("Up to %s in the channel and %d with GPU workers hold vectors without one.",
				c.ChannelCapacity(), c.Workers()),
		}
	case model.AfterKernel:
		return []string{fmt.Sprintf(from, "the kernel is over", permits, "from admission to there, also those that wait")}
	default:
		return []string{fmt.Sprintf(from, "the finish is over", permits, "from admission to there, also those that wait")}
	}
}
