package backend_test

import (
	"context"
	"fmt"

	"headroom/backend"
	"headroom/backend/device/virtual"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/work"
)

// Example runs three jobs in real time on a device that only waits.
func Example() {
	constant := func(mean model.Span) profile.Work {
		return profile.Work{Law: profile.Constant, Mean: profile.Exactly(mean)}
	}
	kind := profile.Kind{Name: "small", Partitions: 2, Work: map[model.Stage]profile.Work{
		model.Synth: constant(2 * model.Millisecond), model.Kernel: constant(model.Millisecond),
	}}
	kind.Footprint.Vectors = profile.Exactly(3 * model.MiB)
	config := model.DefaultConfig(1)
	config.Admission.Permits = 1
	device := virtual.New(work.Setup{Kinds: []profile.Kind{kind}, Config: config, Seed: 1})
	pipeline := backend.Pipeline{
		Config:   config,
		Kinds:    []model.Kind{kind.Model()},
		Workload: model.Workload{Shares: []model.Share{{Kind: "small", Jobs: 3}}, Arrival: model.Arrival{Pattern: model.Closed}},
		Device:   device,
		Clock:    backend.StartClock(),
	}
	summary, err := pipeline.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := device.Close(); err != nil {
		fmt.Println(err)
		return
	}
	peak, _ := device.Peak()
	fmt.Printf("%d jobs done, %d failed, something was held: %t\n", summary.JobsDone, summary.JobsFailed, peak > 0)
	// Output: 3 jobs done, 0 failed, something was held: true
}
