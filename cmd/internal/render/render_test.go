package render

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/calibrate"
	"headroom/cmd/internal/demo"
	"headroom/model"
	"headroom/model/trace"
	"headroom/sim"
)

func TestSettingsKeepNumbers(t *testing.T) {
	got, err := json.Marshal(Settings{"config.admission.permits=10", "machine.ram=755GiB", "config.gpu.split=false", "kinds.a.b==", "seed="})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"config.admission.permits":10,"config.gpu.split":false,"kinds.a.b":"=","machine.ram":"755GiB","seed":""}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSettingsAreJSON gives settings any value there is.
func TestSettingsAreJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+0-9eE.NaIf"{}\[\], ]{0,8}`)).Draw(t, "value")
		text, err := json.Marshal(Settings{"key=" + value})
		var back map[string]any
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || len(back) != 1 {
			t.Fatalf("%q gives %s: %v", value, text, err)
		}
		if s, ok := back["key"].(string); ok && !json.Valid([]byte(value)) && s != strings.ToValidUTF8(value, "\ufffd") {
			t.Fatalf("%q came back as %q", value, s)
		}
	})
}

// TestNoNumberIsNull prints results in which nothing has a value.
func TestNoNumberIsNull(t *testing.T) {
	nan := math.NaN()
	result := &sim.Result{Verdict: sim.OOM, SecondsPerJob: nan, Utilization: sim.Utilization{Synth: nan, GPU: nan, Finish: nan, Starved: nan}}
	report := &sim.RiskReport{Verdict: sim.OOM, Replications: 1, POOM: 1, SecondsPerJobMean: nan, OOMSecondsMean: nan, Median: result, PeakQuantiles: make([]model.Bytes, len(sim.RiskQuantiles))}
	variants, assessments := []Variant{{Result: result}}, []Assessment{{Report: report}}
	var out bytes.Buffer
	text := Text{W: &out}
	for _, err := range []error{
		JSON(&out, NewRuns(variants)), JSON(&out, NewRisks(assessments)), JSON(&out, Refused("why")), CSV(&out, variants),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	text.Run(result, nil)
	text.Runs(variants)
	text.Risk(report, nil)
	text.Risks(assessments)
	if strings.Contains(out.String(), "NaN") {
		t.Errorf("NaN is printed:\n%s", &out)
	}
}

// TestADemoSaysWhenItsMachineWasBusy runs the same configuration twice, and has nothing under a limit.
func TestADemoSaysWhenItsMachineWasBusy(t *testing.T) {
	measured := demo.Measured{Peak: 300 * model.MiB, Baseline: 20 * model.MiB, SecondsPerJob: 2}
	for again, busy := range map[float64]bool{2.2: false, 3: true} {
		r := &demo.Report{Configs: []demo.Comparison{{Name: "a", Unseen: true, Measured: measured}}}
		r.Noise = demo.Noise{Name: "a", First: measured, Second: measured}
		r.Noise.Second.SecondsPerJob = again
		var out bytes.Buffer
		Text{W: &out}.Demo(r)
		if err := JSON(&out, NewDemo(r)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "Something else used this machine"); got != busy || strings.Contains(out.String(), "null") {
			t.Errorf("%v s and %v s a job: %s", measured.SecondsPerJob, again, &out)
		}
	}
}

func TestSecondsHaveFourDigitsOrSo(t *testing.T) {
	for s, want := range map[float64]string{0: "0.000 s", 0.43218: "0.432 s", 9.8765: "9.877 s", 37.125: "37.1 s", 999.4: "999.4 s", 12345.6: "12346 s", -20: "-20.0 s"} {
		if got := seconds(s); got != want {
			t.Errorf("%v is %q, want %q", s, got, want)
		}
	}
	if got := seconds(math.NaN()); got != none {
		t.Errorf("NaN is %q", got)
	}
}

// A profile can be good in the median and be far off one trace, which is then said.
func TestACalibrationSaysHowFarOffItWasAtTheWorst(t *testing.T) {
	var out strings.Builder
	Text{W: &out}.Calibration(&calibrate.Report{Good: true, LeftOut: &calibrate.LeftOut{
		Peak: calibrate.Off{Median: 0.02, Largest: 0.035}, Seconds: calibrate.Off{Median: 0.03, Largest: 0.68},
	}}, "p.yaml")
	for _, want := range []string{
		"p.yaml: written, and good\n",
		"peak of a trace that is left out  predicted to 2.0 % in the median, 3.5 % at the worst\n",
		"seconds per job of one            predicted to 3.0 % in the median, 68.0 % at the worst\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestAVerdictIsColouredIfAskedFor(t *testing.T) {
	if got := (Text{}).verdict(sim.OOM); got != "oom" {
		t.Errorf("without colour: %q", got)
	}
	if got := (Text{Color: true}).verdict(sim.OOM); got == "oom" || !strings.Contains(got, "oom") {
		t.Errorf("with colour: %q", got)
	}
}

// A trace that was cut off has no outcome.
func TestAComparisonSaysHowTheRunEnded(t *testing.T) {
	for outcome, want := range map[trace.Outcome]string{
		"": "the run was cut off\n", trace.Finished: "the run finished\n", trace.OOM: "the run ran out of memory\n",
		trace.Killed: "the run was killed\n", trace.Cancelled: "the run was cancelled\n", trace.Broken: "the run failed\n",
	} {
		var out strings.Builder
		Text{W: &out}.Comparison(&calibrate.Comparison{Outcome: outcome})
		if !strings.Contains(out.String(), want) {
			t.Errorf("outcome %q: no %q in\n%s", outcome, want, out.String())
		}
	}
}
