package sim_test

import (
	"fmt"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// examplePlan is three jobs of four partitions on twelve permits that return as soon as synthesis ends, although the
// GPU is slower than that.
func examplePlan() sim.Plan {
	config := model.DefaultConfig(1)
	config.JobsInFlight = 3
	config.Admission = model.Admission{Permits: 12, Release: model.AfterSynthesis}
	config.Channel.Capacity = 1
	spread := func(seconds float64) profile.Work {
		return profile.Work{Law: profile.Lognormal, Mean: profile.Exactly(model.SpanOf(seconds)), CV: profile.Exactly(0.05)}
	}
	kind := profile.Kind{
		Name: "proof", Partitions: 4,
		Work: map[model.Stage]profile.Work{model.Synth: spread(30), model.Kernel: spread(4), model.Finish: spread(2)},
		Footprint: profile.Footprint{
			Vectors:    profile.Quantity[model.Bytes]{Value: 12 * model.GiB, Low: 11 * model.GiB, High: 13 * model.GiB},
			Assignment: profile.Exactly(4 * model.GiB),
		},
	}
	return sim.Plan{
		Machine:  model.Machine{RAM: 192 * model.GiB, Reserve: 16 * model.GiB, GPUs: []model.GPUSpec{{VRAM: 16 * model.GiB}}},
		Config:   config,
		Workload: model.Workload{Shares: []model.Share{{Kind: "proof", Jobs: 3}}, Arrival: model.Arrival{Pattern: model.Closed}},
		Profile:  &profile.Profile{Name: "example", Kinds: []profile.Kind{kind}},
		Seed:     1,
	}
}

func ExampleRun() {
	plan := examplePlan()
	early, err := sim.Run(plan, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The permit now returns when the channel has taken the partition, and there are fewer.
	plan.Config.Admission = model.Admission{Permits: 4, Release: model.AfterSend}
	late, err := sim.Run(plan, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range []*sim.Result{early, late} {
		fmt.Printf("%s: %s\n", r.Verdict, r.Reason)
		fmt.Printf("  most is held by %s: %d partitions, %s\n", r.AtPeak[0].Owner, r.AtPeak[0].Count, r.AtPeak[0].Bytes.Short())
	}
	// Output:
	// oom: passes machine.ram minus machine.reserve of 176.0 GiB after 32 s, with 0 jobs done
	//   most is held by send: 8 partitions, 128.0 GiB
	// fits: peaks at 52.0 GiB, 124.0 GiB below machine.ram minus machine.reserve
	//   most is held by gpu: 2 partitions, 32.0 GiB
}

func ExampleAssessRisk() {
	plan := examplePlan()
	for _, permits := range []model.Count{12, 11, 6} {
		plan.Config.Admission.Permits = permits
		risk, err := sim.AssessRisk(plan, 400, 0.01, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d permits: %s, P(OOM) between %.3f and %.3f\n", permits, risk.Verdict, risk.POOMLow, risk.POOMHigh)
	}
	// Output:
	// 12 permits: oom, P(OOM) between 0.702 and 0.789
	// 11 permits: risk, P(OOM) between 0.110 and 0.181
	// 6 permits: fits, P(OOM) between 0.000 and 0.009
}
