package sim

import (
	"fmt"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/work"
)

// Run simulates a plan. The configuration, the workload and the profile must be valid. Each step is handed to
// record, which may be nil and must not keep the record's effects.
func Run(p Plan, record func(*model.Record)) (*Result, error) {
	l, err := newLoop(&p, record)
	if err != nil {
		return nil, err
	}
	if err := l.run(); err != nil {
		return nil, err
	}
	return l.result(), nil
}

// loop is one run in virtual time.
type loop struct {
	plan     *Plan
	profile  *profile.Profile // as drawn for the replication
	kinds    []profile.Kind
	core     *model.Core
	clocks   *work.Clocks
	memory   *work.Memory
	sampler  *profile.Sampler
	arrivals *arrivals
	cancels  []Cancellation
	record   func(*model.Record)

	now      model.Instant
	tasks    [model.NumStages][]started // by lane
	over     []work.Completion
	effects  []model.Effect
	base     model.Bytes
	limit    model.Limit
	tally    tally
	snapshot snapshot
}

// started is a running stage, as its lane remembers it.
type started struct {
	task           model.Task
	job, partition int32
	kind           uint16
	begin          model.Instant
}

func newLoop(p *Plan, record func(*model.Record)) (*loop, error) {
	kinds, indices, err := p.kinds()
	if err != nil {
		return nil, err
	}
	drawn := p.Profile
	if p.Replication != 0 {
		drawn = p.Profile.Draw(p.Seed, p.Replication)
		for i := range kinds {
			kinds[i] = *drawn.Kind(kinds[i].Name)
		}
	}
	shapes := make([]model.Kind, len(kinds))
	for i := range kinds {
		shapes[i] = kinds[i].Model()
	}
	core, err := model.NewCore(p.Config, shapes)
	if err != nil {
		return nil, err
	}
	l := &loop{
		plan: p, profile: drawn, kinds: kinds, core: core, record: record,
		clocks:   work.NewClocks(drawn.Interference),
		sampler:  profile.NewSampler(kinds, p.Seed, p.Replication),
		arrivals: newArrivals(p, indices),
		base:     p.base(drawn),
		limit:    p.Machine.HostLimit(),
	}
	if p.Disturb != nil {
		l.cancels = p.Disturb.Cancels
	}
	limit := l.limit.Bytes
	if p.IgnoreLimit {
		limit = 0
	}
	l.memory = work.NewMemory(l.clocks, kinds, l.base, limit)
	l.tally.first = l.arrivals.at
	return l, nil
}

// run goes from instant to instant until nothing is left to happen, the limit is passed or the pipeline stalls.
func (l *loop) run() error {
	for {
		next := min(l.clocks.Next(), l.arrivals.at)
		if len(l.cancels) > 0 {
			next = min(next, l.cancels[0].At)
		}
		if next == work.Forever {
			return nil
		}
		l.tally.pass(l, next)
		l.now = next
		l.memory.Advance(next)
		l.watchPeak()
		if _, crossed := l.memory.Crossed(); crossed {
			return nil
		}
		if err := l.round(); err != nil {
			return err
		}
		l.clocks.Settle(next)
		l.memory.Observe(next)
		l.watchPeak()
		if _, crossed := l.memory.Crossed(); crossed || l.tally.stalled {
			return nil
		}
	}
}

// round steps through all inputs of the instant: completions downstream first and by lane, then arrivals, then
// cancellations. What becomes due at this instant because of them is the next round.
func (l *loop) round() error {
	l.over = l.clocks.Pop(l.now, l.over[:0])
	for _, o := range l.over {
		if err := l.complete(o); err != nil {
			return err
		}
	}
	for l.arrivals.at == l.now {
		if err := l.step(l.arrivals.pop(), l.now); err != nil {
			return err
		}
	}
	for len(l.cancels) > 0 && l.cancels[0].At == l.now {
		job := l.cancels[0].Job
		l.cancels = l.cancels[1:]
		if l.core.Live(job) {
			if err := l.step(model.Input{Op: model.Cancel, Job: job}, l.now); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loop) complete(o work.Completion) error {
	t := &l.tasks[o.Stage][o.Lane]
	in := model.Input{Op: model.Done, Task: t.task}
	if l.plan.Disturb.fails(t.job, t.partition, o.Stage) {
		in.Op = model.Failed
	}
	l.memory.End(o.Stage, o.Lane)
	if o.Stage == model.Synth && in.Op == model.Done {
		f := &l.kinds[t.kind].Footprint
		l.memory.Add(f.Vectors.Value + f.Assignment.Value)
	}
	return l.step(in, t.begin)
}

func (l *loop) step(in model.Input, begin model.Instant) error {
	var err error
	if l.effects, err = l.core.Step(in, l.effects[:0]); err != nil {
		return fmt.Errorf("sim: at %s: %w", l.now, err)
	}
	for i := range l.effects {
		l.apply(&l.effects[i])
	}
	if l.record != nil {
		l.record(&model.Record{At: l.now, Input: in, Effects: l.effects, Begin: begin, End: l.now})
	}
	return nil
}

// apply carries out one effect of the core.
func (l *loop) apply(e *model.Effect) {
	f := &l.kinds[e.Kind].Footprint
	switch e.Op {
	case model.Start:
		l.start(e)
	case model.Take:
		l.memory.Add(f.Call.Value)
	case model.Freed:
		l.memory.Add(-freed(f, e))
	case model.JobStart:
		l.memory.Add(f.Parse.Value)
	case model.JobDone:
		l.tally.jobDone(l.now)
	case model.JobFailed:
		l.tally.failed++
	case model.Stall:
		l.tally.stalled = true
	}
}

func freed(f *profile.Footprint, e *model.Effect) model.Bytes {
	switch {
	case e.Task.Block == model.Vectors:
		return f.Vectors.Value
	case e.Task.Block == model.ParseBuffer:
		return f.Parse.Value
	case e.Call:
		return f.Assignment.Value + f.Call.Value
	}
	return f.Assignment.Value
}

func (l *loop) start(e *model.Effect) {
	t := e.Task
	amount := l.sampler.Work(e.Kind, e.Job, e.Partition, t)
	l.clocks.Start(l.now, t.Stage, t.Lane, amount)
	l.memory.Begin(t.Stage, t.Lane, e.Kind, amount)
	for int(t.Lane) >= len(l.tasks[t.Stage]) {
		l.tasks[t.Stage] = append(l.tasks[t.Stage], started{})
	}
	l.tasks[t.Stage][t.Lane] = started{task: t, job: e.Job, partition: e.Partition, kind: e.Kind, begin: l.now}
}
