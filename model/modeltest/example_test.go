package modeltest_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/modeltest"
)

// forgetful is a changed policy with a fault: the vectors of a partition that is given up are never freed.
type forgetful struct{ *model.Core }

func (f forgetful) Step(in model.Input, effects []model.Effect) ([]model.Effect, error) {
	effects, err := f.Core.Step(in, effects)
	if in.Op == model.Cancel {
		effects = slices.DeleteFunc(effects, func(e model.Effect) bool { return e.Op == model.Freed && e.Task.Block == model.Vectors })
	}
	return effects, err
}

// Whoever changes a policy drives it with what chance makes up. The first step that breaks a checker is the answer.
func ExampleDrive() {
	config := model.DefaultConfig(1)
	config.JobsInFlight, config.Admission.Permits = 2, 3
	setup := modeltest.Setup{
		Config:  config,
		Kinds:   []model.Kind{{Name: "small", Partitions: 3, Stages: model.StageSet(0).With(model.Synth, model.Kernel)}},
		Jobs:    2,
		Cancels: true,
		Without: []string{"replay"}, // it would say that the policy is another one
	}
	core, err := model.NewCore(setup.Config, setup.Kinds)
	if err != nil {
		fmt.Println(err)
		return
	}
	// Both jobs arrive, the stages that began first end, and job 0 is cancelled. In a test, rapid chooses.
	choices := modeltest.Listed([]byte{0, 1, 0, 20, 0, 20, 0, 20, 0, 9, 0})
	fmt.Println(modeltest.Drive(choices, forgetful{core}, setup))
	// Output:
	// check: record 4 at 4ns: checker 4 (blocks): vectors of job 0 partition 1 is not freed although its point has come
	// record 4 at 4ns: checker 4 (blocks): vectors of job 0 partition 2 is not freed although its point has come
	// record 4 at 4ns: checker 8 (conserving): job 0 partition 1 waits for its memory to be freed and a dealloc worker is free
	// record 4 at 4ns: checker 8 (conserving): job 0 partition 2 waits for its memory to be freed and a dealloc worker is free
}

// The core as it is breaks nothing, whatever is drawn.
func TestTheCoreBreaksNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setup := modeltest.Setups().Draw(t, "setup")
		core, err := model.NewCore(setup.Config, setup.Kinds)
		if err != nil {
			t.Fatal(err)
		}
		if err := modeltest.Drive(modeltest.By(t), core, setup); err != nil {
			t.Fatal(err)
		}
	})
}
