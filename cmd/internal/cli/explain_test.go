package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"headroom/cmd/internal/render"
)

// TestExplainedDifferencesAddUp holds the parts of a difference, as the JSON has them, against the whole.
func TestExplainedDifferencesAddUp(t *testing.T) {
	inFolder(t)
	var d struct {
		A, B                    render.Case
		DifferenceBytes         int64   `json:"difference_bytes"`
		DifferenceSecondsPerJob float64 `json:"difference_seconds_per_job"`
		Shares                  []struct {
			Knob          string
			Bytes         int64
			SecondsPerJob float64 `json:"seconds_per_job"`
		}
		Owners []render.Change
	}
	call(t, &d, "explain", "drawn.yaml", "phase12-light-2", "--group", "machine=machine", "--replications", "3",
		"--set", "profile=spread.yaml", "--set", "workload.kind=block")
	var bytes, owners int64
	var seconds float64
	var knobs []string
	for _, s := range d.Shares {
		bytes, seconds, knobs = bytes+s.Bytes, seconds+s.SecondsPerJob, append(knobs, s.Knob)
	}
	for _, o := range d.Owners {
		owners += o.Difference
		if o.Difference != o.B-o.A {
			t.Errorf("%s holds %d and %d, which differ by %d", o.Owner, o.A, o.B, o.Difference)
		}
	}
	if want := d.B.HostPeakBytes - d.A.HostPeakBytes; bytes != want || owners != want || d.DifferenceBytes != want {
		t.Errorf("shares add up to %d and owners to %d of %d", bytes, owners, d.DifferenceBytes)
	}
	if seconds != d.DifferenceSecondsPerJob || seconds != *d.B.SecondsPerJob-*d.A.SecondsPerJob {
		t.Errorf("shares add up to %v s of %v s", seconds, d.DifferenceSecondsPerJob)
	}
	want := []string{
		"machine", "config.jobs_in_flight", "config.admission.permits", "config.channel.capacity",
		"config.gpu.workers_per_device", "workload.jobs",
	}
	if slices.Sort(knobs); !slices.Equal(slices.Sorted(slices.Values(want)), knobs) {
		t.Errorf("the knobs are %v, want %v", knobs, want)
	}
}

// TestExplainIsTheMeanOfRisk holds the means of one scenario against those of as many replications of risk.
func TestExplainIsTheMeanOfRisk(t *testing.T) {
	inFolder(t)
	var e struct{ Mean render.Case }
	var r render.Risk
	call(t, &e, "explain", "drawn.yaml", "--replications", "7", "--set", "machine.ram=1GiB")
	call(t, &r, "risk", "drawn.yaml", "--replications", "7", "--set", "machine.ram=1GiB")
	if e.Mean.HostPeakBytes != *r.HostPeakBytes {
		t.Errorf("the mean peak is %d, and %d of risk", e.Mean.HostPeakBytes, *r.HostPeakBytes)
	}
	if off := *e.Mean.SecondsPerJob - *r.SecondsPerJob; off > 1e-8 || off < -1e-8 {
		t.Errorf("the mean seconds per job are %v, and %v of risk", *e.Mean.SecondsPerJob, *r.SecondsPerJob)
	}
}

func TestAQuestionThatCannotBeExplainedIsRefused(t *testing.T) {
	inFolder(t)
	for _, c := range []struct{ args, want string }{
		{"drawn.yaml --replications 0", `invalid argument "0" for "--replications" flag: it must be a whole number from 1 to 10000`},
		{"drawn.yaml --group x=config", "--group: of two scenarios, and there is one"},
		{"drawn.yaml --group x --set config.admission.permits=1,2", "--group x: a group is name=key,key"},
		{"drawn.yaml --set config.admission.permits=1..3", "give 3 variants: one to explain, or two to compare"},
		{"example phase12-pre-12", "at most 8 can be told apart: let some move together as a group: machine.ram"},
		{"drawn.yaml phase12-pre-10 --group x=config.order", `group x: the plans do not differ in "config.order"`},
		{"drawn.yaml --set config.admission.permits=0", "config.admission.permits is 0"},
		{"", "takes one SCENARIO or two, and was given []"},
	} {
		var out, problems bytes.Buffer
		code := Run(t.Context(), &out, &problems, append([]string{"explain"}, strings.Fields(c.args)...))
		if code != Usage || !strings.Contains(problems.String(), c.want) || out.Len() > 0 {
			t.Errorf("%s: exit code %d, %q and %q; want %q", c.args, code, out.String(), problems.String(), c.want)
		}
	}
}
