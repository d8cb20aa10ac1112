package calibrate_test

import (
	"fmt"

	"headroom/calibrate"
	"headroom/model"
	"headroom/sim"
)

// Three configurations were recorded. What would a fourth one do, with more workers and permits that return early?
func Example() {
	p, report, err := calibrate.Fit(recordings(), calibrate.Options{Name: "small"})
	if err != nil {
		fmt.Println(err)
		return
	}
	plan := sim.Plan{
		Machine: model.Machine{RAM: 2 * model.GiB, Cores: 2},
		Config:  config(4, model.AfterSynthesis, 6),
		Workload: model.Workload{
			Shares: []model.Share{{Kind: "small", Jobs: 12}}, Arrival: model.Arrival{Pattern: model.Closed},
		},
		Profile: p,
		Seed:    1,
	}
	predicted, err := calibrate.Predict(plan, calibrate.DefaultReplications)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("good:", report.Good)
	fmt.Printf("verdict: %s, peak %.1f GiB, %.1f s a job\n",
		predicted.Verdict, predicted.Peak.Median/float64(model.GiB), predicted.SecondsPerJob.Median)
	// Output:
	// good: true
	// verdict: oom, peak 2.1 GiB, 1.8 s a job
}
