package check

import (
	"maps"
	"slices"

	"headroom/model"
)

// Judge judges a run step by step while it goes on.
type Judge struct {
	world *world
	seats []seat
}

// seat is a checker and its judge.
type seat struct {
	checker *Checker
	judge   judge
}

// NewJudge returns a judge of a run that has not begun, for all checkers but those named. The stream's records are
// not looked at.
func NewJudge(s Stream, without ...string) *Judge {
	j := &Judge{world: newWorld(&s)}
	for i := range checkers {
		if c := &checkers[i]; !slices.Contains(without, c.Name) {
			j.seats = append(j.seats, seat{c, c.judge(&s)})
		}
	}
	return j
}

// Step judges the next step and returns what it breaks, or nothing.
func (j *Judge) Step(r *model.Record) []Finding {
	w := j.world
	if len(j.seats) == 0 {
		return nil // books that nobody reads need not be kept
	}
	before := len(w.findings)
	w.record = r
	j.each(func(one judge) { one.input(w, r) })
	w.take(r)
	for k := range r.Effects {
		e := &r.Effects[k]
		j.each(func(one judge) { one.effect(w, e) })
		w.apply(e)
	}
	j.each(func(one judge) { one.settled(w) })
	w.forget()
	w.index++
	return w.findings[before:]
}

// Finish judges what is left when the run has gone to its end, and returns what that breaks, or nothing.
func (j *Judge) Finish() []Finding {
	before := len(j.world.findings)
	j.each(func(one judge) { one.finished(j.world) })
	return j.world.findings[before:]
}

func (j *Judge) each(visit func(judge)) {
	for _, s := range j.seats {
		j.world.checker = s.checker
		visit(s.judge)
	}
}

// Clone returns a judge of another run that has gone the same way so far.
func (j *Judge) Clone() *Judge {
	c := &copying{jobs: map[*job]*job{}, lives: map[*life]*life{}}
	clone := &Judge{world: c.world(j.world), seats: slices.Clone(j.seats)}
	for i, s := range clone.seats {
		if own, ok := s.judge.(remembering); ok {
			clone.seats[i].judge = own.clone(c)
		}
	}
	return clone
}

// remembering is a judge with a memory of its own.
type remembering interface{ clone(*copying) judge }

// copying is the copies that have been made so far of what books point to.
type copying struct {
	jobs  map[*job]*job
	lives map[*life]*life
}

func (c *copying) world(w *world) *world {
	copied := *w
	copied.arrivals = slices.Clone(w.arrivals)
	copied.skipped = maps.Clone(w.skipped)
	copied.findings = slices.Clone(w.findings)
	copied.data, copied.pool, copied.timers = slices.Clone(w.data), slices.Clone(w.pool), maps.Clone(w.timers)
	copied.batch = c.job(w.batch)
	copied.jobs = make([]*job, len(w.jobs))
	for i, one := range w.jobs {
		copied.jobs[i] = c.job(one)
	}
	copied.lives = make([]*life, len(w.lives))
	for i, one := range w.lives {
		copied.lives[i] = c.life(one)
	}
	copied.running = make(map[ref]run, len(w.running))
	for at, r := range w.running {
		r.job, r.life = c.job(r.job), c.life(r.life)
		copied.running[at] = r
	}
	return &copied
}

func (c *copying) job(j *job) *job {
	if j == nil {
		return nil
	}
	if c.jobs[j] == nil {
		copied := *j
		c.jobs[j] = &copied
		copied.lead = c.job(j.lead)
	}
	return c.jobs[j]
}

func (c *copying) life(l *life) *life {
	if l == nil {
		return nil
	}
	if c.lives[l] == nil {
		copied := *l
		copied.job = c.job(l.job)
		c.lives[l] = &copied
	}
	return c.lives[l]
}

func (b *byteCount) clone(*copying) judge {
	return &byteCount{sizes: b.sizes, accounts: maps.Clone(b.accounts)}
}

func (h *holders) clone(c *copying) judge {
	workers := slices.Clone(h.workers)
	for i := range workers {
		workers[i].serves = c.life(workers[i].serves)
	}
	return &holders{workers: workers}
}

func (c *clock) clone(*copying) judge { return new(*c) }

func (o *rounds) clone(*copying) judge {
	copied := *o
	copied.started = maps.Clone(o.started)
	return &copied
}

func (r *replay) clone(*copying) judge {
	copied := *r
	copied.effects = nil
	if r.core != nil {
		copied.core = r.core.Clone()
	}
	return &copied
}
