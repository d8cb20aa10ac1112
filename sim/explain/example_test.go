package explain_test

import (
	"fmt"

	"headroom/model"
	"headroom/sim"
	"headroom/sim/explain"
)

// Jobs that are synthesized one beside the other: more permits hold more, and more jobs use them.
func ExamplePair_Explain() {
	before, after := line(2, 3), line(5, 8)
	question, err := explain.NewPair(before, after, 20, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := question.Explain(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s more at the peak, %.2f s less a job\n", d.Bytes.Short(), -d.SecondsPerJob)
	for _, s := range d.Shares {
		fmt.Printf("  %s: %s and %.2f s\n", s.Knob.Name, s.Bytes.Short(), s.SecondsPerJob)
	}
	fmt.Printf("synthesis holds %s of it\n", d.Held(sim.OwnSynth).Short())
	// Output:
	// 3.0 GiB more at the peak, 4.17 s less a job
	//   config.admission.permits: 2.0 GiB and -2.92 s
	//   workload.jobs: 1.0 GiB and -1.25 s
	// synthesis holds 3.0 GiB of it
}

// Five jobs at once where there is memory for four.
func ExampleSingle_Explain() {
	plan := line(5, 8)
	plan.Machine.RAM = 4 * model.GiB
	question, err := explain.NewSingle(plan, 20)
	if err != nil {
		fmt.Println(err)
		return
	}
	e, err := question.Explain(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s\n", e.Result.Verdict, e.Result.Reason)
	fix := e.Fixes[0]
	fmt.Printf("%s=%s: %s, %+.2f s a job, removes the oom: %t\n",
		fix.Knob.Name, fix.Knob.Settings[0].To, fix.Case.Peak.Short(), fix.SecondsPerJob, fix.RemovesOOM)
	// Output:
	// oom: peaks at 5.0 GiB, which is 1.0 GiB over machine.ram minus machine.reserve
	// config.jobs_in_flight=4: 4.0 GiB, +0.00 s a job, removes the oom: true
}
