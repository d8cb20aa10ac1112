package model_test

import (
	"fmt"

	"headroom/model"
)

// Example drives the core by hand: each stage that it starts is over at once.
func Example() {
	config := model.DefaultConfig(1)
	config.Admission.Permits = 2
	kinds := []model.Kind{{Name: "small", Partitions: 2, Stages: model.StageSet(0).With(model.Synth, model.Kernel)}}
	core, err := model.NewCore(config, kinds)
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs := []model.Input{{Op: model.Arrive, Count: 1}}
	for len(inputs) > 0 {
		effects, err := core.Step(inputs[0], nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		inputs = inputs[1:]
		for _, e := range effects {
			switch e.Op {
			case model.Start:
				fmt.Printf("start %s of partition %d\n", e.Task.Stage, e.Partition)
				inputs = append(inputs, model.Input{Op: model.Done, Task: e.Task})
			case model.JobDone:
				fmt.Printf("job %d is done\n", e.Job)
			}
		}
	}
	fmt.Println("idle:", core.Idle())
	// Output:
	// start synth of partition 0
	// start synth of partition 1
	// start kernel of partition 0
	// start kernel of partition 1
	// job 0 is done
	// idle: true
}
