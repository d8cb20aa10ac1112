package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// holds checks what must be true of a JSON result whatever its figures, so that updating the scripts cannot hide a
// wrong one: holds simulate stdout, and the same for risk and runs of either.
func holds(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 2 {
		ts.Fatalf("usage: holds simulate|risk|simulate-runs|risk-runs file")
	}
	var result map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &result))
	if result["schema"] != 1.0 {
		ts.Fatalf("schema is %v, want 1", result["schema"])
	}
	delete(result, "schema")
	runs := []any{result}
	command, list := strings.CutSuffix(args[0], "-runs")
	if list {
		runs = result["runs"].([]any)
	}
	for i, run := range runs {
		run := run.(map[string]any)
		if settings, ok := run["settings"].(map[string]any); ok != list || ok && len(settings) == 0 {
			ts.Fatalf("run %d: settings are %v", i, run["settings"])
		}
		delete(run, "settings")
		err := runHolds(run)
		if command == "risk" {
			err = riskHolds(run)
		}
		if err != nil {
			ts.Fatalf("run %d: %v", i, err)
		}
	}
}

var runKeys = []string{
	"verdict", "reason", "host_peak_bytes", "peak_at_s", "limit_bytes", "limit_name", "limit_file", "seconds_per_job", "makespan_s",
	"jobs_done", "bottleneck", "at_peak", "bounds", "ledger_peak_bytes", "pinned_peak_bytes", "shm_peak_bytes", "devices", "warnings",
}

var riskKeys = slices.Concat(runKeys, []string{
	"host_peak_bytes_quantiles", "p_oom", "p_oom_low", "p_oom_high", "replications", "jobs_done_mean", "seconds_per_job_mean",
})

// keysAre reports keys that are missing or too many.
func keysAre(object map[string]any, want []string) error {
	got := slices.Sorted(maps.Keys(object))
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		return fmt.Errorf("keys are %v, want %v", got, want)
	}
	return nil
}

// runHolds checks a run that was not stopped by --ignore-limit.
func runHolds(r map[string]any) error {
	if err := keysAre(r, runKeys); err != nil {
		return err
	}
	peak, limit := r["host_peak_bytes"].(float64), math.Inf(1)
	if r["limit_bytes"] != nil {
		limit = r["limit_bytes"].(float64)
	}
	sum := 0.0
	for _, h := range r["at_peak"].([]any) {
		sum += h.(map[string]any)["bytes"].(float64)
	}
	var faults []error
	check := func(holds bool, format string, args ...any) {
		if !holds {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	check(sum == peak, "at_peak holds %v bytes, host_peak_bytes is %v", sum, peak)
	check((limit == math.Inf(1)) == (r["limit_name"] == nil), "limit_bytes is %v and limit_name %v", r["limit_bytes"], r["limit_name"])
	bounds := r["bounds"].(map[string]any)
	check((bounds["partitions"] == nil) == (bounds["bytes"] == nil), "bounds are %v", bounds)
	switch r["verdict"] {
	case "fits":
		perJob := r["makespan_s"].(float64) / r["jobs_done"].(float64)
		check(math.Abs(perJob-r["seconds_per_job"].(float64)) < 1e-9*perJob, "seconds_per_job is %v, want %v", r["seconds_per_job"], perJob)
		check(peak <= limit, "fits with a peak of %v and a limit of %v", peak, limit)
	case "oom":
		check(r["seconds_per_job"] == nil, "seconds_per_job is %v after an oom", r["seconds_per_job"])
		check(peak > limit, "oom with a peak of %v and a limit of %v", peak, limit)
	case "refuse":
		check(r["seconds_per_job"] == nil && r["jobs_done"] == 0.0 && r["peak_at_s"] == 0.0, "a run that was refused did something: %v", r)
	default:
		check(false, "verdict is %v", r["verdict"])
	}
	return errors.Join(faults...)
}

// riskHolds checks an assessment with the default bound.
func riskHolds(r map[string]any) error {
	if err := keysAre(r, riskKeys); err != nil {
		return err
	}
	number := func(key string) float64 { return r[key].(float64) }
	quantiles := r["host_peak_bytes_quantiles"].(map[string]any)
	var peaks []float64
	for _, q := range []string{"0.01", "0.05", "0.5", "0.95", "0.99"} {
		peaks = append(peaks, quantiles[q].(float64))
	}
	low, p, high := number("p_oom_low"), number("p_oom"), number("p_oom_high")
	want := "risk"
	switch {
	case r["verdict"] == "refuse" && p == 1:
		want = "refuse"
	case high <= 0.01:
		want = "fits"
	case low >= 0.5:
		want = "oom"
	}
	switch mean := number("host_peak_bytes"); {
	case !slices.IsSorted(peaks) || len(quantiles) != len(peaks):
		return fmt.Errorf("quantiles are %v", quantiles)
	case low > p || p > high || low < 0 || high > 1:
		return fmt.Errorf("p_oom is %v, from %v to %v", p, low, high)
	case mean < peaks[0] && p < 1 || mean <= 0:
		return fmt.Errorf("the mean peak is %v, the quantiles are %v", mean, quantiles)
	case r["verdict"] != want:
		return fmt.Errorf("verdict is %v, want %v", r["verdict"], want)
	case r["seconds_per_job"] != r["seconds_per_job_mean"] || r["jobs_done"] != r["jobs_done_mean"]:
		return fmt.Errorf("means differ: %v", r)
	case (p == 1) != (r["seconds_per_job"] == nil):
		return fmt.Errorf("p_oom is %v and seconds_per_job %v", p, r["seconds_per_job"])
	}
	return nil
}
