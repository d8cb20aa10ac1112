package modeltest

import (
	"errors"
	"fmt"
	"slices"

	"headroom/model"
	"headroom/model/check"
)

// Stepper is what is under test: a model.Core, or something that takes its place.
type Stepper interface {
	Step(in model.Input, effects []model.Effect) ([]model.Effect, error)
	State() model.State
}

// Setup is a pipeline, what arrives at it, and what may go wrong.
type Setup struct {
	Config   model.Config // valid
	Kinds    []model.Kind // as NewCore has them
	Jobs     int          // jobs in all, each of one of the kinds
	Failures bool         // stages fail now and then
	Cancels  bool         // jobs are given up now and then, and the pipeline may be drained
	// Without are names of checkers that do not apply. The checker replay holds what is under test against a Core: leave
	// it out for one that decides otherwise.
	Without []string
}

// Run is a run of a pipeline under way, in which everything happens as chance has it.
type Run struct {
	setup   Setup
	stepper Stepper
	choose  Choose
	judge   *check.Judge

	records []model.Record
	running []model.Task
	over    []model.Task
	timers  []model.Task // set and not yet rung
	ends    map[int32]int
	arrived int32
	ended   int32
	drained bool
	stalled bool
}

// NewRun returns a run that has not begun. The stepper must be as new.
func NewRun(choose Choose, stepper Stepper, s Setup) *Run {
	stream := check.Stream{Config: s.Config, Kinds: s.Kinds}
	return &Run{setup: s, stepper: stepper, choose: choose, judge: check.NewJudge(stream, s.Without...), ends: map[int32]int{}}
}

// Drive runs a setup to its end, or until it stalls, and returns the first thing that is wrong with it: a step that
// breaks a checker or that the stepper refuses, a job that does not end once, or something that is left at the end.
func Drive(choose Choose, stepper Stepper, s Setup) error {
	r := NewRun(choose, stepper, s)
	for !r.Over() {
		if err := r.Next(); err != nil {
			return err
		}
	}
	return r.Finish()
}

// Over reports whether the run is at its end: it stalled, or every job has come and gone and nothing runs.
func (r *Run) Over() bool {
	return r.stalled || ((r.drained || r.left() == 0) && r.ended == r.arrived && len(r.running) == 0)
}

// left is the number of jobs that are still to arrive.
func (r *Run) left() int { return r.setup.Jobs - int(r.arrived) }

// Next lets one thing happen, or nothing, and returns what is wrong with it.
func (r *Run) Next() error {
	idle := len(r.running) == 0
	switch n := r.choose(40); {
	case r.left() > 0 && !r.drained && (n < 8 || (idle && len(r.timers) == 0)):
		count := int32(1 + r.choose(r.left()))
		return r.Step(model.Input{Op: model.Arrive, Kind: uint16(r.choose(len(r.setup.Kinds))), Job: r.arrived, Count: count})
	case n == 9 && r.setup.Cancels && r.ended < r.arrived:
		return r.cancel()
	case n == 10 && r.setup.Cancels && r.left() == 0 && !r.drained:
		return r.Step(model.Input{Op: model.Drain})
	case len(r.timers) > 0 && ((n > 10 && n < 14) || idle):
		return r.Step(model.Input{Op: model.Wake, Task: r.timers[r.choose(len(r.timers))]})
	case !idle:
		return r.end()
	}
	return fmt.Errorf("modeltest: after %d steps %d of %d jobs have ended, nothing runs and no stall is reported", len(r.records), r.ended, r.arrived)
}

// end ends a running stage, now and then without a result.
func (r *Run) end() error {
	t := r.running[r.choose(len(r.running))]
	if r.setup.Failures && t.Stage != model.Dealloc && r.choose(40) == 39 {
		return r.Step(model.Input{Op: model.Failed, Task: t})
	}
	return r.Step(model.Input{Op: model.Done, Task: t})
}

func (r *Run) cancel() error {
	var live []int32
	for job := range r.arrived {
		if r.ends[job] == 0 {
			live = append(live, job)
		}
	}
	return r.Step(model.Input{Op: model.Cancel, Job: Pick(r.choose, live...)})
}

// Step lets something particular happen, which must fit the state, and returns what is wrong with it.
func (r *Run) Step(in model.Input) error {
	effects, err := r.stepper.Step(in, nil)
	if err != nil {
		return fmt.Errorf("modeltest: step %d, %s: %w", len(r.records), in.Op, err)
	}
	at := model.Instant(len(r.records))
	r.records = append(r.records, model.Record{At: at, Input: in, Effects: effects, Begin: at, End: at, State: r.stepper.State()})
	r.take(&in)
	for i := range effects {
		switch e := &effects[i]; e.Op {
		case model.Start:
			r.running = append(r.running, e.Task)
		case model.WakeAt:
			r.timers = append(r.timers, e.Task)
		case model.JobDone, model.JobFailed:
			r.ends[e.Job]++
			r.ended++
		case model.Stall:
			r.stalled = true
		}
	}
	return check.Err(r.judge.Step(&r.records[len(r.records)-1]))
}

func (r *Run) take(in *model.Input) {
	is := func(t model.Task) bool { return t == in.Task }
	switch in.Op {
	case model.Done, model.Failed:
		r.running = slices.DeleteFunc(r.running, is)
		r.over = append(r.over, in.Task)
	case model.Wake:
		r.timers = slices.DeleteFunc(r.timers, is)
	case model.Arrive:
		r.arrived += in.Count
	case model.Drain:
		r.drained = true
	}
}

// Finish returns what is wrong at the end of a run that is over. Of one that stalled nothing is: work is left.
func (r *Run) Finish() error {
	if r.stalled {
		return nil
	}
	var wrong []error
	for job := range r.arrived {
		if n := r.ends[job]; n != 1 {
			wrong = append(wrong, fmt.Errorf("modeltest: job %d ended %d times", job, n))
		}
	}
	return errors.Join(append(wrong, check.Err(r.judge.Finish()))...)
}

// Stalled reports whether the run stalled.
func (r *Run) Stalled() bool { return r.stalled }

// Records returns the steps so far.
func (r *Run) Records() []model.Record { return r.records }

// Running returns the stages that have begun and not ended, in order of their starts.
func (r *Run) Running() []model.Task { return r.running }

// Ended returns the stages that have ended, in order of their ends.
func (r *Run) Ended() []model.Task { return r.over }

// Arrived returns the number of jobs that have arrived.
func (r *Run) Arrived() int32 { return r.arrived }

// Live reports whether a job has arrived and not ended.
func (r *Run) Live(job int32) bool { return job >= 0 && job < r.arrived && r.ends[job] == 0 }
