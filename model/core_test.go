package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/modeltest"
)

// driver drives a core as chance has it, with inputs that do not fit in between.
type driver struct {
	*modeltest.Run
	choose modeltest.Choose
	setup  modeltest.Setup
	core   *model.Core
}

// drive runs a workload to its end and returns what is wrong with the run.
func drive(choose modeltest.Choose) error {
	setup := modeltest.ChooseSetup(choose)
	setup.Failures, setup.Cancels = true, true
	if err := setup.Config.Validate(nil); err != nil {
		return err
	}
	core, err := model.NewCore(setup.Config, setup.Kinds)
	if err != nil {
		return err
	}
	d := &driver{modeltest.NewRun(choose, core, setup), choose, setup, core}
	for !d.Over() {
		next := d.onLowestLanes
		if choose(8) == 7 {
			next = d.disturb
		}
		if err := errors.Join(next(), d.withinBound()); err != nil {
			return err
		}
	}
	if d.Stalled() {
		if setup.Config.Admission.Budget == nil {
			return fmt.Errorf("the pipeline stalls after %d steps", len(d.Records()))
		}
		return nil
	}
	return errors.Join(d.Finish(), d.leftOver())
}

// onLowestLanes lets one thing happen and reports a stage that begins on another lane than the lowest that is free.
func (d *driver) onLowestLanes() error {
	steps, busy := len(d.Records()), slices.Clone(d.Running())
	if err := d.Next(); err != nil || len(d.Records()) == steps {
		return err
	}
	r := &d.Records()[steps]
	busy = slices.DeleteFunc(busy, func(t model.Task) bool { return t == r.Input.Task })
	for _, e := range r.Effects {
		t := e.Task
		onWorker := !slices.Contains([]model.Stage{model.Load, model.Parse, model.Synth, model.Dealloc}, t.Stage) &&
			(t.Stage != model.Finish || !d.setup.Config.GPU.Split)
		if e.Op != model.Start || onWorker {
			continue
		}
		lowest := int32(0)
		for slices.ContainsFunc(busy, func(b model.Task) bool { return b.Stage == t.Stage && b.Lane == lowest }) {
			lowest++
		}
		if t.Lane != lowest {
			return fmt.Errorf("step %d: %s begins on lane %d: the lowest that is free is %d", steps, t.Stage, t.Lane, lowest)
		}
		busy = append(busy, t)
	}
	return nil
}

// disturb gives the core an input that does not fit. It must be refused, and that it changes nothing is shown by
// the replay of the run, in which it is not.
func (d *driver) disturb() error {
	var t model.Task
	switch n := d.choose(3); {
	case n == 0 && len(d.Ended()) > 0:
		t = modeltest.Pick(d.choose, d.Ended()...) // twice, or late
	case n == 1 && len(d.Running()) > 0:
		t = modeltest.Pick(d.choose, d.Running()...)
		d.distort(&t)
	default:
		return d.misfit()
	}
	op := modeltest.Pick(d.choose, model.Done, model.Failed)
	effects, err := d.core.Step(model.Input{Op: op, Task: t}, nil)
	var refused *model.TaskError
	if !errors.As(err, &refused) || refused.Task != t || len(effects) > 0 {
		return fmt.Errorf("%s of %+v, which does not run, gives error %v and %d effects", op, t, err, len(effects))
	}
	return nil
}

// misfit gives the core an input other than a completion that does not fit.
func (d *driver) misfit() error {
	arrived := d.Arrived()
	in := modeltest.Pick(d.choose,
		model.Input{Op: model.Cancel, Job: arrived},
		model.Input{Op: model.Cancel, Job: -1},
		model.Input{Op: model.Cancel, Job: int32(d.choose(int(arrived) + 1))},
		model.Input{Op: model.Arrive, Job: arrived + 1, Count: 1},
		model.Input{Op: model.Arrive, Job: arrived, Count: 0},
		model.Input{Op: model.Arrive, Job: arrived, Count: 1, Kind: uint16(len(d.setup.Kinds))},
		model.Input{Op: model.Arrive, Job: arrived, Count: int32(model.Unbounded)},
		model.Input{Op: 99})
	if arrived == 0 && in.Count == int32(model.Unbounded) || in.Op == model.Cancel && d.Live(in.Job) {
		return nil // that fits
	}
	if effects, err := d.core.Step(in, nil); err == nil || len(effects) > 0 {
		return fmt.Errorf("input %+v was not refused", in)
	}
	return nil
}

// distort changes one field of a task.
func (d *driver) distort(t *model.Task) {
	switch d.choose(7) {
	case 0:
		t.Stage = (t.Stage + 1) % model.NumStages // no stage but one that may run too is next to another
		if slices.Contains(d.Running(), *t) {
			t.Gen++
		}
	case 1:
		t.Lane++
	case 2:
		t.Lane = -1
	case 3:
		t.Slot = -1
	case 4:
		t.Slot = 1 << 20
	case 5:
		t.Gen++
	case 6:
		t.Block = modeltest.Pick(d.choose, model.ParseBuffer, model.NumBlocks)
	}
}

// withinBound reports more partitions with vectors than the structure of the configuration admits.
func (d *driver) withinBound() error {
	most, holding := 0, 0
	for k := range d.setup.Kinds {
		most = max(most, d.setup.Kinds[k].Partitions)
		for _, p := range []model.Place{model.InSend, model.InChannel, model.OnGPU} {
			holding += d.core.Count(k, p)
		}
		if d.setup.Config.FreeVectors == model.AfterFinish {
			holding += d.core.Count(k, model.InFinish)
		}
	}
	if bound := d.setup.Config.StructuralBound(most); bound.Partitions > 0 && holding > bound.Partitions {
		return fmt.Errorf("%d partitions hold vectors after %d steps: the bound is %s", holding, len(d.Records()), bound.Formula)
	}
	return nil
}

// leftOver reports what is not zero at the end.
func (d *driver) leftOver() error {
	var left []error
	if n := d.core.InFlight(); n != 0 {
		left = append(left, fmt.Errorf("%d jobs are in flight", n))
	}
	if free := d.core.FreePermits(); free != d.setup.Config.Admission.Permits {
		left = append(left, fmt.Errorf("%s of %s permits are free", free, d.setup.Config.Admission.Permits))
	}
	if n := d.core.LocksHeld(); n != 0 {
		left = append(left, fmt.Errorf("%d locks are held", n))
	}
	for i, n := range d.core.Census(nil) {
		if n != 0 && i%int(model.NumPlaces) != int(model.HeldPool) {
			left = append(left, fmt.Errorf("%d of kind %d are at place %d", n, i/int(model.NumPlaces), i%int(model.NumPlaces)))
		}
	}
	if d.core.Waiting() || d.core.Admitting() {
		left = append(left, errors.New("jobs or partitions wait"))
	}
	return errors.Join(left...)
}

// Whatever the configuration, the kinds, the order of completions, the failures and cancellations: all checkers
// hold, every job ends once, misfits are refused and change nothing, and nothing is left.
func TestCoreUnderChance(t *testing.T) {
	for seed := range uint64(3000) {
		if err := drive(rand.New(rand.NewPCG(seed, 0)).IntN); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	// Smaller runs, which shrink.
	rapid.Check(t, func(t *rapid.T) {
		if err := drive(modeltest.By(t)); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzCore drives the core with bytes as choices. After the last one everything goes its simplest way.
func FuzzCore(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 1, 3, 1, 2, 1, 0, 2, 1, 1, 0, 1, 1, 2, 9, 9, 20, 21, 9, 30, 10, 12, 31})
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 4096 {
			return
		}
		if err := drive(modeltest.Listed(choices)); err != nil {
			t.Fatal(err)
		}
	})
}
