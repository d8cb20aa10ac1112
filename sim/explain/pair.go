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

// Pair is a question about the difference between two plans.
type Pair struct {
	space        *space
	replications int
	neighbours   []neighbour
}

// Difference says how two plans, A and B, differ. Differences are B minus A.
type Difference struct {
	A, B *Case
	// Bytes is the difference of the mean peaks; the shares and the owners add up to it.
	Bytes model.Bytes
	// SecondsPerJob is the difference of the mean speeds, to which the shares add up; NaN if a plan has none.
	SecondsPerJob float64
	Shares        []Share // in the order of a scenario
	Owners        []Change
	// Fixes are the single knobs that lower the peak of B: those of the difference turned back to A's value, and
	// changes of one knob of B. Those that remove an oom or the difference come first, the fastest first.
	Fixes []*Fix
	Notes []string // on how the knobs were told apart, and on changes that cannot be simulated
}

// Share is the part of the differences that a knob causes.
type Share struct {
	Knob  Knob
	Bytes model.Bytes
	// SecondsPerJob is NaN for all knobs if a plan that has some knobs of A and some of B has no speed.
	SecondsPerJob float64
}

// Change is what one owner holds at the peak of A and of B.
type Change struct {
	Owner      sim.Owner
	A, B       Holding
	Difference model.Bytes
}

// NewPair prepares a comparison by that many replications, 1 to MaxReplications. The plans' seeds, disturbances and
// limits are no knobs: the seed and the disturbance are A's, and limits are ignored. It is an error if a plan is not
// valid, if a group names what does not differ, and if more than MaxKnobs knobs are left.
func NewPair(a, b sim.Plan, replications int, groups []Group) (*Pair, error) {
	p, err := newPair(a, b, replications, groups)
	if err == nil {
		b.Seed, b.Disturb = a.Seed, a.Disturb
		p.neighbours = neighbours(&b)
	}
	return p, err
}

// newPair returns a pair that has no neighbours yet.
func newPair(a, b sim.Plan, replications int, groups []Group) (*Pair, error) {
	if err := validReplications(replications); err != nil {
		return nil, err
	}
	for _, p := range []*sim.Plan{&a, &b} {
		if err := valid(p); err != nil {
			return nil, fmt.Errorf("explain: a plan is not valid: %w", err)
		}
	}
	s, err := newSpace(&a, &b, groups)
	if err != nil {
		return nil, err
	}
	if a.Seed != b.Seed {
		const format = "the seeds are %d and %d: both run with %d, since a seed is no knob"
		s.notes = append(s.notes, fmt.Sprintf(format, a.Seed, b.Seed, a.Seed))
	}
	s.noteCapacity()
	return &Pair{space: s, replications: replications}, nil
}

// noteCapacity says whose share a capacity is that follows the permits.
func (s *space) noteCapacity() {
	a, b := &s.a.Config, &s.b.Config
	auto := a.Channel.Capacity == model.Auto && b.Channel.Capacity == model.Auto
	if from, to := a.ChannelCapacity(), b.ChannelCapacity(); auto && from != to {
		s.notes = append(s.notes, fmt.Sprintf("config.channel.capacity is auto, which is %s and %s: "+
			"the change is part of the share of the permits and the lookahead", from, to))
	}
}

// Runs returns the number of runs that the answer takes.
func (p *Pair) Runs() int {
	return (1<<len(p.space.knobs) + len(p.neighbours)) * p.replications
}

// Explain compares the plans. Each finished run is reported to progress, which may be nil.
func (p *Pair) Explain(progress func()) (*Difference, error) {
	cases := make([]*Case, 1<<len(p.space.knobs))
	for set := range cases {
		c, err := replicate(p.space.between(set), p.replications, progress)
		if err != nil {
			return nil, fmt.Errorf("explain: with %s of B, the rest of A: %w", p.space.describe(set), err)
		}
		cases[set] = c
	}
	a, b := cases[0], cases[len(cases)-1]
	out := &Difference{
		A: a, B: b, Bytes: b.Peak - a.Peak, SecondsPerJob: b.SecondsPerJob - a.SecondsPerJob,
		Shares: p.shares(cases), Owners: changes(a, b), Notes: slices.Clone(p.space.notes),
	}
	p.fix(out, cases, progress)
	return out, nil
}

// describe names the knobs of a set.
func (s *space) describe(set int) string {
	var list []string
	for i, k := range s.knobs {
		if set&(1<<i) != 0 {
			list = append(list, k.Name)
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// shares divides the differences among the knobs.
func (p *Pair) shares(cases []*Case) []Share {
	k, first, last := len(p.space.knobs), cases[0], cases[len(cases)-1]
	peak := func(set int) *big.Rat { return cases[set].peak }
	perJob := func(set int) *big.Rat { return cases[set].perJob }
	bytes := apportion(int64(last.Peak-first.Peak), shapley(k, peak))
	var ticks []int64
	if !slices.ContainsFunc(cases, func(c *Case) bool { return c.perJob == nil }) {
		ticks = apportion(round(last.perJob)-round(first.perJob), shapley(k, perJob))
	}
	list := make([]Share, k)
	for i := range list {
		list[i] = Share{Knob: p.space.knobs[i], Bytes: model.Bytes(bytes[i]), SecondsPerJob: math.NaN()}
		if ticks != nil {
			list[i].SecondsPerJob = float64(ticks[i]) * tick
		}
	}
	return list
}

// Held returns what some owners hold more at the peak of B than at that of A.
func (d *Difference) Held(by ...sim.Owner) model.Bytes {
	var sum model.Bytes
	for _, c := range d.Owners {
		if slices.Contains(by, c.Owner) {
			sum += c.Difference
		}
	}
	return sum
}

// changes returns what the owners hold in both cases, the largest change first.
func changes(a, b *Case) []Change {
	var list []Change
	at := func(o sim.Owner) *Change {
		i := slices.IndexFunc(list, func(c Change) bool { return c.Owner == o })
		if i < 0 {
			i = len(list)
			list = append(list, Change{Owner: o})
		}
		return &list[i]
	}
	for _, h := range b.AtPeak {
		at(h.Owner).B = h
	}
	for _, h := range a.AtPeak {
		at(h.Owner).A = h
	}
	for i := range list {
		list[i].Difference = list[i].B.Bytes - list[i].A.Bytes
	}
	slices.SortStableFunc(list, func(a, b Change) int { return cmp.Compare(abs(b.Difference), abs(a.Difference)) })
	return list
}

func abs(b model.Bytes) model.Bytes { return max(b, -b) }

// fix adds the single knobs that lower the peak of B.
func (p *Pair) fix(out *Difference, cases []*Case, progress func()) {
	add := func(knob Knob, c *Case) {
		f := newFix(out.B, knob, c)
		known := func(other *Fix) bool { return slices.Equal(other.Knob.Settings, knob.Settings) }
		if f != nil && !slices.ContainsFunc(out.Fixes, known) {
			f.RemovesDifference = out.Bytes > 0 && c.Peak <= out.A.Peak
			out.Fixes = append(out.Fixes, f)
		}
	}
	for i, k := range p.space.knobs {
		add(k.turnedBack(), cases[(len(cases)-1)&^(1<<i)])
	}
	beside, notes := try(p.neighbours, p.replications, progress)
	for _, c := range beside {
		add(c.knob, c.is)
	}
	out.Notes = append(out.Notes, notes...)
	sortFixes(out.Fixes)
}

// turnedBack returns the knob as it leads from b to a.
func (k Knob) turnedBack() Knob {
	back := Knob{Name: k.Name}
	for _, s := range k.Settings {
		back.Settings = append(back.Settings, Setting{s.Key, s.To, s.From})
	}
	return back
}
