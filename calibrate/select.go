package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"headroom/model"
)

// Candidate is a form of interference that was tried.
type Candidate struct {
	Law string `json:"law"`
	// Gain is by how much it predicts jobs left out of its fit better than no interference does, in nats of
	// logarithmic likelihood for each stage run; Error is the standard error of that.
	Gain   float64 `json:"gain"`
	Error  float64 `json:"gain_error"`
	Chosen bool    `json:"chosen"`
}

// String describes the family.
func (f *family) String() string {
	var parts []string
	if f.shared {
		parts = append(parts, fmt.Sprintf("%g cores shared fairly", f.cores))
	}
	for _, t := range f.terms {
		switch {
		case t.doubling:
			parts = append(parts, fmt.Sprintf("%s slowed by each doubling of %s", t.stage, t.by))
		case t.by != model.NoStage:
			parts = append(parts, fmt.Sprintf("%s slowed by %s", t.stage, t.by))
		case t.stage != model.NoStage:
			parts = append(parts, fmt.Sprintf("demand of %s fitted", t.stage))
		default:
			parts[0] = "cores of fitted capacity shared fairly"
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// folds is into how many parts the jobs are split for cross-validation.
const folds = 4

func everyone(int) bool { return true }

// tried is a family with its fit to everything and what it says of jobs that were left out.
type tried struct {
	family *family
	x      []float64
	scores []float64 // of each cluster: logarithm of the likelihood when it was left out
}

// try fits a family and cross-validates it: every fold-th job is left out in turn.
func (e *evidence) try(f *family, from []float64) (*tried, error) {
	t := &tried{family: f, scores: make([]float64, e.clusters)}
	var err error
	if t.x, err = e.fit(f, from, everyone); err != nil {
		return nil, err
	}
	for fold := range folds {
		use := func(cluster int) bool { return cluster%folds != fold }
		x, err := e.fit(f, t.x, use)
		if err != nil {
			return nil, err
		}
		o := e.observe(f.interference(x, nil))
		m := e.moments(o, use)
		for i := range o {
			if !use(o[i].cluster) {
				t.scores[o[i].cluster] += m.logLikelihood(&o[i])
			}
		}
	}
	return t, nil
}

// gain returns by how much t predicts better than u, and the standard error of it, both sums over the clusters.
func (t *tried) gain(u *tried) (gain, deviation float64) {
	n := float64(len(t.scores))
	for i := range t.scores {
		gain += t.scores[i] - u.scores[i]
	}
	for i := range t.scores {
		d := t.scores[i] - u.scores[i] - gain/n
		deviation += d * d
	}
	return gain, math.Sqrt(deviation * n / max(1, n-1))
}

// better reports whether t explains enough more than the simpler u to be worth its number: more than the standard
// error of that, and more than the two nats that chance gives easily.
func (t *tried) better(u *tried) bool {
	gain, deviation := t.gain(u)
	return gain > 2 && gain > deviation
}

// mostTerms bounds the numbers that are added to the sharing of cores.
const mostTerms = 6

// choose returns the simplest interference that no richer one explains the traces better than, and all that it tried.
func (e *evidence) choose(cores int) (*tried, []Candidate, error) {
	alone := &family{cores: float64(cores)}
	none, err := e.try(alone, nil)
	if err != nil {
		return nil, nil, err
	}
	best, all := none, []*tried{none}
	consider := func(f *family, from []float64) (taken bool, err error) {
		t, err := e.try(f, from)
		if err != nil {
			return false, err
		}
		all = append(all, t)
		if taken = t.better(best); taken {
			best = t
		}
		return taken, nil
	}
	shared := &family{cores: float64(cores), shared: true}
	if cores > 0 {
		if _, err := consider(shared, nil); err != nil {
			return nil, nil, err
		}
	}
	fitted := shared.with(term{})
	if _, err := consider(fitted, fitted.start()); err != nil {
		return nil, nil, err
	}
	for range mostTerms {
		next, from, err := e.promising(best)
		if next == nil || err != nil {
			return best, e.candidates(all, best), err
		}
		if taken, err := consider(next, from); err != nil || !taken {
			return best, e.candidates(all, best), err
		}
	}
	return best, e.candidates(all, best), nil
}

// candidates reports what was tried, the first being that nobody slows anybody.
func (e *evidence) candidates(all []*tried, best *tried) []Candidate {
	var list []Candidate
	n := float64(len(e.members))
	for _, t := range all {
		gain, deviation := t.gain(all[0])
		list = append(list, Candidate{Law: t.family.String(), Gain: gain / n, Error: deviation / n, Chosen: t == best})
	}
	return list
}

// shortlist is how many of the terms that promise most are fitted before one of them is cross-validated.
const shortlist = 3

// promising returns the family with one more term, or with shared cores, under which the traces are likeliest, and its
// numbers; nil if none makes them likelier. Only those that promise most while the other numbers stay are fitted.
func (e *evidence) promising(t *tried) (found *family, x []float64, err error) {
	least := e.loss(t.family, t.x, everyone)
	promises := e.promises(t, least)
	for _, p := range promises[:min(shortlist, len(promises))] {
		y, err := e.fit(p.family, p.x, everyone)
		if err != nil {
			return nil, nil, err
		}
		if loss := e.loss(p.family, y, everyone); loss < least {
			least, found, x = loss, p.family, y
		}
	}
	return found, x, nil
}

// promise is a family with numbers to search from and the loss there.
type promise struct {
	family *family
	x      []float64
	loss   float64
}

// promises returns the families with one more term, or with shared cores, that have a lower loss than that when the
// other numbers stay, the lowest first. On many cores stages slow each other long before there is one for each core.
func (e *evidence) promises(t *tried, least float64) []promise {
	var list []promise
	if !t.family.shared && t.family.cores > 0 {
		shared := *t.family
		shared.shared = true
		if loss := e.loss(&shared, t.x, everyone); loss < least {
			list = append(list, promise{&shared, t.x, loss})
		}
	}
	for _, more := range e.terms() {
		demand := more.by == model.NoStage
		if slices.Contains(t.family.terms, more) || demand && !t.family.shared {
			continue
		}
		best := promise{family: t.family.with(more), loss: least}
		for _, number := range []float64{0.7, 0.9, 1.1, 1.3} {
			x := append(slices.Clone(t.x), number)
			if _, outside := best.family.clamp(x); outside > 0 {
				continue
			}
			if loss := e.loss(best.family, x, everyone); loss < best.loss {
				best.x, best.loss = x, loss
			}
		}
		if best.x != nil {
			list = append(list, best)
		}
	}
	slices.SortStableFunc(list, func(a, b promise) int { return cmp.Compare(a.loss, b.loss) })
	return list
}

// terms lists the terms that may be added: how much of the cores each stage asks for, and by how much each is slowed
// by each.
func (e *evidence) terms() []term {
	var list []term
	stages := e.stages()
	for _, s := range stages {
		list = append(list, term{stage: s})
		for _, by := range stages {
			list = append(list, term{stage: s, by: by}, term{stage: s, by: by, doubling: true})
		}
	}
	return list
}

// stages returns the stages that take at least a hundredth of all busy time: others cannot slow anybody much.
func (e *evidence) stages() []model.Stage {
	var busy [model.NumStages]float64
	total := 0.0
	for _, m := range e.members {
		d := float64(m.interval.end - m.interval.begin)
		busy[m.interval.stage] += d
		total += d
	}
	var list []model.Stage
	for s, d := range busy {
		if d >= total/100 && d > 0 {
			list = append(list, model.Stage(s))
		}
	}
	return list
}
