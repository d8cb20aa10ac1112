package backend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"headroom/model"
	"headroom/model/work"
)

// Pipeline is a run of the core on a device in real time.
type Pipeline struct {
	Config   model.Config
	Kinds    []model.Kind // those of the workload's shares, each once
	Workload model.Workload
	Seed     uint64 // of the arrivals
	Cancels  []model.Cancellation
	Device   Device
	Clock    Clock // the run's time, which began before
	// Record is handed every step, in order, on the owner's goroutine; nil records nothing. It may keep the record.
	Record func(*model.Record)
	// Settle is for tests: it returns when every goroutine of the run waits. Then completions of one instant are
	// one round, in whatever order their goroutines ran.
	Settle func()
}

// Summary is what a live run came to.
type Summary struct {
	JobsDone, JobsFailed int
	// Makespan is from the first arrival to the last finish of a job.
	Makespan model.Span
	// Failures are the errors of failed stages, in order of time.
	Failures []error
	Stalled  bool
}

// Run runs the workload to its end. Jobs arrive at instants of the clock; those of a closed workload at 0, that is at
// once. When the context ends, every job is given up, what runs is waited for, and the context's error is returned
// with the summary so far. The device is opened here and left open.
func (p *Pipeline) Run(ctx context.Context) (*Summary, error) {
	core, err := model.NewCore(p.Config, p.Kinds)
	if err != nil {
		return nil, err
	}
	indices, err := p.indices()
	if err != nil {
		return nil, err
	}
	o := &owner{
		Pipeline: p, core: core,
		arrivals: work.NewArrivals(&p.Workload, indices, p.Seed, 0),
		cancels:  p.Cancels,
		mailbox:  make(chan []Completion),
	}
	o.first = o.arrivals.At
	p.Device.Open(o.Clock, o.mailbox)
	for !o.over() {
		if err := o.wait(ctx); err != nil {
			return nil, err
		}
		if err := o.round(ctx); err != nil {
			return nil, err
		}
	}
	return &o.summary, context.Cause(ctx)
}

func (p *Pipeline) indices() ([]uint16, error) {
	indices := make([]uint16, len(p.Workload.Shares))
	for i, share := range p.Workload.Shares {
		k := slices.IndexFunc(p.Kinds, func(k model.Kind) bool { return k.Name == share.Kind })
		if k < 0 {
			return nil, fmt.Errorf("backend: the workload has jobs of kind %q, which is not defined", share.Kind)
		}
		indices[i] = uint16(k)
	}
	return indices, nil
}

// owner is the goroutine that holds the core.
type owner struct {
	*Pipeline
	core     *model.Core
	arrivals *work.Arrivals
	cancels  []model.Cancellation
	mailbox  chan []Completion
	timers   work.Timers
	pending  []Completion // of the round to come
	effects  []model.Effect
	first    model.Instant
	givenUp  bool
	summary  Summary
}

// over reports whether nothing is left to happen.
func (o *owner) over() bool {
	return (o.core.Idle() && o.arrivals.At == work.Forever) || o.summary.Stalled
}

// wait returns when something has happened: a completion, an arrival, a cancellation or the context's end.
func (o *owner) wait(ctx context.Context) error {
	next := min(o.arrivals.At, o.timers.Next())
	if len(o.cancels) > 0 {
		next = min(next, o.cancels[0].At)
	}
	var due <-chan time.Time
	if next != work.Forever {
		timer := time.NewTimer(o.Clock.Until(next))
		defer timer.Stop()
		due = timer.C
	}
	ended := ctx.Done()
	if o.givenUp {
		ended = nil
	}
	select {
	case batch := <-o.mailbox:
		o.pending = append(o.pending, batch...)
	case <-due:
	case <-ended:
	}
	if o.Settle != nil {
		o.Settle()
	}
	for {
		select {
		case batch := <-o.mailbox:
			o.pending = append(o.pending, batch...)
			continue
		default:
			return nil
		}
	}
}

// round steps through all that has happened: completions downstream first and by lane, then timers, arrivals and
// cancellations. The device gets the effects of the whole round at once.
func (o *owner) round(ctx context.Context) error {
	now := o.Clock.Now()
	o.effects = nil
	slices.SortFunc(o.pending, func(a, b Completion) int {
		s, t := a.Input.Task, b.Input.Task
		if s.Stage != t.Stage {
			return int(t.Stage) - int(s.Stage)
		}
		return int(s.Lane - t.Lane)
	})
	for _, c := range o.pending {
		if c.Err != nil {
			o.summary.Failures = append(o.summary.Failures, c.Err)
		}
		if err := o.step(now, c.Input, c.Begin, c.End); err != nil {
			return errors.Join(err, c.Err)
		}
	}
	o.pending = o.pending[:0]
	for in, due := o.timers.Due(now); due; in, due = o.timers.Due(now) {
		if err := o.step(now, in, now, now); err != nil {
			return err
		}
	}
	for o.arrivals.At <= now && !o.givenUp {
		if err := o.step(now, o.arrivals.Pop(), now, now); err != nil {
			return err
		}
	}
	if err := o.cancel(now); err != nil {
		return err
	}
	if ctx.Err() != nil && !o.givenUp {
		if err := o.giveUp(now); err != nil {
			return err
		}
	}
	o.Device.Submit(now, o.effects)
	return nil
}

func (o *owner) cancel(now model.Instant) error {
	for len(o.cancels) > 0 && o.cancels[0].At <= now {
		job := o.cancels[0].Job
		o.cancels = o.cancels[1:]
		if !o.core.Live(job) {
			continue
		}
		if err := o.step(now, model.Input{Op: model.Cancel, Job: job}, now, now); err != nil {
			return err
		}
	}
	return nil
}

// giveUp drains the pipeline and cancels the jobs in flight.
func (o *owner) giveUp(now model.Instant) error {
	o.givenUp = true
	o.arrivals.At = work.Forever
	o.cancels = nil
	if err := o.step(now, model.Input{Op: model.Drain}, now, now); err != nil {
		return err
	}
	for _, job := range o.core.LiveJobs() {
		if err := o.step(now, model.Input{Op: model.Cancel, Job: job}, now, now); err != nil {
			return err
		}
	}
	return nil
}

func (o *owner) step(now model.Instant, in model.Input, begin, end model.Instant) error {
	from := len(o.effects)
	var err error
	if o.effects, err = o.core.Step(in, o.effects); err != nil {
		return fmt.Errorf("backend: at %s: %w", now, err)
	}
	effects := o.effects[from:len(o.effects):len(o.effects)]
	o.timers.Note(now, effects)
	for _, e := range effects {
		switch e.Op {
		case model.JobDone:
			o.summary.JobsDone++
			o.summary.Makespan = now.Sub(o.first)
		case model.JobFailed:
			o.summary.JobsFailed++
		case model.Stall:
			o.summary.Stalled = true
		}
	}
	if o.Record != nil {
		o.Record(&model.Record{At: now, Input: in, Effects: effects, Begin: begin, End: end, State: o.core.State()})
	}
	return nil
}
