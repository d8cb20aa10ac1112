package diagnose_test

import (
	"fmt"

	"headroom/calibrate/diagnose"
	"headroom/model"
	"headroom/model/trace"
)

// A process was killed after a night. Is it the configuration or a bug?
func Example() {
	recorded := nightly()
	report, err := diagnose.Of(recorded, 3*model.GiB)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s\n", report.Finding, report.Reason)
	fmt.Printf("%.0f minutes to the limit\n", report.SecondsToLimit.Value/60)
	// Output:
	// leak: resident memory grows by 3.0 MiB (3.0 MiB to 3.0 MiB) for each job that finishes, and nothing in flight explains it
	// 24 minutes to the limit
}

// nightly is a recording of sixty jobs, each of which leaves 3 MiB behind.
func nightly() *trace.Trace {
	r := steady()
	r.leak = 3 / float64(footprint/model.MiB)
	return r.make()
}
