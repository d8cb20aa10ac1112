package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/calibrate/published"
	"headroom/model"
	"headroom/model/profile"
	"headroom/scenarios"
	"headroom/sim"
)

// scenarioOf names the embedded scenario of each row that one was made of.
var scenarioOf = map[string]published.Row{
	"phase11-10":       {Engine: "phase11", Workers: 10, GPUWorkers: 2, JobsInFlight: 15, Jobs: 20},
	"phase11-10-gw3":   {Engine: "phase11", Workers: 10, GPUWorkers: 3, JobsInFlight: 15, Jobs: 20},
	"phase11-10-gw4":   {Engine: "phase11", Workers: 10, GPUWorkers: 4, JobsInFlight: 15, Jobs: 20},
	"phase12-pre-10":   {Engine: "phase12-pre", Workers: 10, GPUWorkers: 2, JobsInFlight: 15, Jobs: 20},
	"phase12-pre-12":   {Engine: "phase12-pre", Workers: 12, GPUWorkers: 2, JobsInFlight: 15, Jobs: 20},
	"phase12-pre-15":   {Engine: "phase12-pre", Workers: 15, GPUWorkers: 2, JobsInFlight: 15, Jobs: 20},
	"phase12-pre-20":   {Engine: "phase12-pre", Workers: 20, GPUWorkers: 2, JobsInFlight: 15, Jobs: 20},
	"phase12-post-10":  {Engine: "phase12-post", Workers: 10, GPUWorkers: 2, JobsInFlight: 20, Jobs: 20},
	"phase12-post-12":  {Engine: "phase12-post", Workers: 12, GPUWorkers: 2, JobsInFlight: 20, Jobs: 20},
	"phase12-light-1":  {Engine: "phase12-post", Workers: 1, GPUWorkers: 1, JobsInFlight: 5, Jobs: 5},
	"phase12-light-2":  {Engine: "phase12-post", Workers: 2, GPUWorkers: 1, JobsInFlight: 5, Jobs: 5},
	"phase12-light-5":  {Engine: "phase12-post", Workers: 5, GPUWorkers: 1, JobsInFlight: 5, Jobs: 5},
	"phase12-light-10": {Engine: "phase12-post", Workers: 10, GPUWorkers: 2, JobsInFlight: 5, Jobs: 5},
}

// load returns the plan of an embedded scenario.
func load(t *testing.T, scenario string) sim.Plan {
	t.Helper()
	s, err := scenarios.Load(scenario, nil)
	if err != nil {
		t.Fatal(err)
	}
	return sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: s.Profile, Seed: s.Seed}
}

func embedded(t *testing.T) (*profile.Profile, []published.Row) {
	t.Helper()
	p, err := scenarios.LoadProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	table, err := scenarios.Published()
	if err != nil {
		t.Fatal(err)
	}
	return p, rows(table)
}

func TestTheEmbeddedScenariosAreTheRows(t *testing.T) {
	for scenario, row := range scenarioOf {
		plan := load(t, scenario)
		want := row.Config()
		want.Resident = plan.Profile.Resident
		if diff := cmp.Diff(want, plan.Config); diff != "" {
			t.Errorf("%s (-row +scenario):\n%s", scenario, diff)
		}
		if n := plan.Workload.Jobs(); n != row.Jobs {
			t.Errorf("%s has %d jobs, want %d", scenario, n, row.Jobs)
		}
		if limit := plan.Machine.HostLimit(); limit.Bytes != 668*model.GiB {
			t.Errorf("%s has %s to be had, want 668GiB", scenario, limit.Bytes)
		}
	}
	_, rows := embedded(t)
	for _, row := range rows {
		row.SecondsPerJob, row.Span, row.Peak, row.KilledAfter = 0, 0, 0, 0
		is := func(r published.Row) bool { return r == row }
		if found := slices.ContainsFunc(slices.Collect(maps.Values(scenarioOf)), is); row.Engine != "phase8" && !found {
			t.Errorf("no embedded scenario is %s", row.Name())
		}
	}
}

// The bounds are those that the profile was accepted with: seconds per job of the rows of phases 11 and 12 to 3 %,
// peaks to 4 %.
func TestTheEmbeddedProfileReproducesTheRows(t *testing.T) {
	p, rows := embedded(t)
	sum, n := 0.0, 0
	for i := range rows {
		r := &rows[i]
		if !r.Counts() {
			continue
		}
		predicted, err := published.Predict(p, r, 1, 60)
		if err != nil {
			t.Fatal(err)
		}
		errors := r.Errors(predicted)
		for k, bound := range [2]float64{0.03, 0.04} {
			if math.IsNaN(errors[k]) {
				continue
			}
			sum += math.Abs(errors[k])
			n++
			if math.Abs(errors[k]) > bound {
				t.Errorf("%s: predicted %.1f s a job and %s, which is off by %.1f %%",
					r.Name(), predicted.SecondsPerJob, predicted.Peak.Short(), 100*errors[k])
			}
		}
	}
	if mean := sum / float64(n); n != 17 || mean > 0.015 {
		t.Errorf("the mean error of %d readings is %.2f %%, want at most 1.5 %% of 17", n, 100*mean)
	}
}

// A change of the core or the simulator that moves the predictions leaves the profile's own account of its errors
// behind: it is then to be fitted anew.
func TestTheProfileStatesItsErrors(t *testing.T) {
	p, rows := embedded(t)
	stated := map[string]profile.FitQuality{}
	for _, q := range p.Provenance.Fit {
		if !q.HeldOut {
			stated[q.Trace] = q
		}
	}
	for i := range rows {
		r := &rows[i]
		if r.SecondsPerJob == 0 {
			continue
		}
		predicted, err := published.Predict(p, r, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		errors := r.Errors(predicted)
		q := stated[r.Name()]
		if math.Abs(q.SecondsError-errors[0]) > 0.002 || r.Peak > 0 && math.Abs(q.PeakError-errors[1]) > 0.005 {
			t.Errorf("%s: errors are %.4f and %.4f, stated as %.4f and %.4f: run go run ./cmd/internal/fitpublished",
				r.Name(), errors[0], errors[1], q.SecondsError, q.PeakError)
		}
	}
}

func TestWhoRunsOutOfMemory(t *testing.T) {
	assess := func(scenario string) *sim.RiskReport {
		r, err := sim.AssessRisk(load(t, scenario), 400, 0.01, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: P(OOM) %.4f, from %.4f to %.4f, after %.0f s", scenario, r.POOM, r.POOMLow, r.POOMHigh, r.OOMSecondsMean)
		return r
	}
	twelve, fifteen := assess("phase12-pre-12"), assess("phase12-pre-15")
	if twelve.POOMLow < 0.8 || fifteen.POOM < 0.99 || fifteen.OOMSecondsMean >= twelve.OOMSecondsMean {
		t.Errorf("twelve workers: %s after %.0f s; fifteen: %s after %.0f s",
			twelve.Reason, twelve.OOMSecondsMean, fifteen.Reason, fifteen.OOMSecondsMean)
	}
	for _, scenario := range []string{"phase12-pre-10", "phase12-post-10", "phase12-post-12", "phase11-10"} {
		if r := assess(scenario); r.POOMHigh > 0.02 {
			t.Errorf("%s: %s", scenario, r.Reason)
		}
	}
}

func TestFinishedPartitionsBlockedInSendHoldThePeak(t *testing.T) {
	results, err := sim.Replicate(load(t, "phase12-pre-12"), 0, 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	sending := 0
	for i, r := range results {
		if r.AtPeak[0].Owner == sim.OwnSend {
			sending++
		} else {
			t.Logf("replication %d: %v", i, r.AtPeak)
		}
	}
	if results[0].AtPeak[0].Owner != sim.OwnSend || sending < 95 {
		t.Errorf("send is the largest owner in %d of 100 replications, in the first %v", sending, results[0].AtPeak[0])
	}
}

// Example prints the means of 60 replications of each row that counts.
func Example() {
	p, err := scenarios.LoadProfile(name)
	if err != nil {
		panic(err)
	}
	table, err := scenarios.Published()
	if err != nil {
		panic(err)
	}
	for _, r := range rows(table) {
		if !r.Counts() {
			continue
		}
		predicted, err := published.Predict(p, &r, 1, 60)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %.1f s, %.0f GiB\n", r.Name(), predicted.SecondsPerJob, predicted.Peak.GiB())
	}
	// Output:
	// phase12-post workers=1 gpu_workers=1 jobs_in_flight=5 jobs=5: 292.1 s, 104 GiB
	// phase12-post workers=2 gpu_workers=1 jobs_in_flight=5 jobs=5: 151.0 s, 111 GiB
	// phase12-post workers=5 gpu_workers=1 jobs_in_flight=5 jobs=5: 67.9 s, 164 GiB
	// phase12-post workers=10 gpu_workers=2 jobs_in_flight=5 jobs=5: 42.1 s, 273 GiB
	// phase12-post workers=10 gpu_workers=2 jobs_in_flight=20 jobs=20: 37.7 s, 329 GiB
	// phase12-post workers=12 gpu_workers=2 jobs_in_flight=20 jobs=20: 37.8 s, 397 GiB
	// phase12-pre workers=10 gpu_workers=2 jobs_in_flight=15 jobs=20: 37.7 s, 366 GiB
	// phase11 workers=10 gpu_workers=2 jobs_in_flight=15 jobs=20: 37.7 s, 366 GiB
	// phase11 workers=10 gpu_workers=3 jobs_in_flight=15 jobs=20: 37.7 s, 369 GiB
	// phase11 workers=10 gpu_workers=4 jobs_in_flight=15 jobs=20: 37.7 s, 373 GiB
}
