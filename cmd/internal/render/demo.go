package render

import (
	"fmt"
	"math"
	"slices"

	"github.com/montanaflynn/stats"

	"headroom/cmd/internal/demo"
	"headroom/model"
)

// Demo is the report of the demo as JSON.
type Demo struct {
	Schema         int            `json:"schema"`
	ProofsVerified int            `json:"proofs_verified"`
	Configs        []DemoConfig   `json:"configs"`
	Confined       []DemoConfined `json:"confined"`
	Noise          DemoNoise      `json:"noise"`
	// The medians over the unseen configurations; peaks are compared above the baseline.
	MedianPeakError    float64 `json:"median_peak_error"`
	MedianSecondsError float64 `json:"median_seconds_per_job_error"`
}

// DemoConfig is one configuration, predicted and measured.
type DemoConfig struct {
	Name               string  `json:"name"`
	Unseen             bool    `json:"unseen"`
	PredictedPeakBytes int64   `json:"predicted_peak_bytes"`
	PredictedPeakLow   int64   `json:"predicted_peak_low"`
	PredictedPeakHigh  int64   `json:"predicted_peak_high"`
	MeasuredPeakBytes  int64   `json:"measured_peak_bytes"`
	BaselineBytes      int64   `json:"baseline_bytes"`
	PredictedSeconds   float64 `json:"predicted_seconds_per_job"`
	PredictedLow       float64 `json:"predicted_seconds_per_job_low"`
	PredictedHigh      float64 `json:"predicted_seconds_per_job_high"`
	MeasuredSeconds    float64 `json:"measured_seconds_per_job"`
}

// DemoConfined is one run under a memory limit.
type DemoConfined struct {
	Name       string `json:"name"`
	Verdict    string `json:"verdict"`
	Outcome    string `json:"outcome"`
	Signal     string `json:"signal"`
	Mechanism  string `json:"mechanism"`
	LimitBytes int64  `json:"limit_bytes"`
}

// DemoNoise is how far apart two runs of one configuration were, as parts of the first.
type DemoNoise struct {
	Name                 string  `json:"name"`
	PeakDifference       float64 `json:"peak_difference"`
	SecondsJobDifference float64 `json:"seconds_per_job_difference"`
}

// NewDemo returns the report as JSON.
func NewDemo(r *demo.Report) Demo {
	d := Demo{Schema: Schema, ProofsVerified: r.ProofsVerified, Configs: []DemoConfig{}, Confined: []DemoConfined{}}
	var peaks, seconds []float64
	for i := range r.Configs {
		c := &r.Configs[i]
		d.Configs = append(d.Configs, DemoConfig{
			Name: c.Name, Unseen: c.Unseen,
			PredictedPeakBytes: whole(c.Peak.Median), PredictedPeakLow: whole(c.Peak.Low), PredictedPeakHigh: whole(c.Peak.High),
			MeasuredPeakBytes: int64(c.Measured.Peak), BaselineBytes: int64(c.Measured.Baseline),
			PredictedSeconds: c.Seconds.Median, PredictedLow: c.Seconds.Low, PredictedHigh: c.Seconds.High,
			MeasuredSeconds: c.Measured.SecondsPerJob,
		})
		if c.Unseen {
			peaks = append(peaks, c.PeakError())
			seconds = append(seconds, c.SecondsError())
		}
	}
	d.MedianPeakError, d.MedianSecondsError = median(peaks), median(seconds)
	for _, c := range r.Confined {
		d.Confined = append(d.Confined, DemoConfined{
			Name: c.Name, Verdict: string(c.Verdict), Outcome: string(c.Outcome), Signal: c.Signal,
			Mechanism: string(c.Mechanism), LimitBytes: int64(c.Limit),
		})
	}
	n := &r.Noise
	d.Noise = DemoNoise{
		Name:                 n.Name,
		PeakDifference:       math.Abs(float64(n.Second.Peak-n.First.Peak)) / float64(n.First.Peak-n.First.Baseline),
		SecondsJobDifference: math.Abs(n.Second.SecondsPerJob-n.First.SecondsPerJob) / n.First.SecondsPerJob,
	}
	return d
}

func whole(f float64) int64 { return int64(math.Round(f)) }

// median returns the middle value, or the mean of the two middle ones.
func median(values []float64) float64 {
	m, err := stats.Median(slices.Clone(values))
	if err != nil { // of nothing
		return math.NaN()
	}
	return m
}

// Demo prints the report.
func (t Text) Demo(r *demo.Report) {
	d := NewDemo(r)
	table := newTable([]string{"configuration", ""}, "configuration", "", "predicted peak", "measured", "error",
		"predicted s/job", "measured", "error")
	for i := range r.Configs {
		c := &r.Configs[i]
		seen := "recorded"
		if c.Unseen {
			seen = "never run"
		}
		table.AppendRow([]any{
			c.Name, seen,
			fmt.Sprintf("%.0f (%.0f to %.0f) MiB", mib(c.Peak.Median), mib(c.Peak.Low), mib(c.Peak.High)),
			fmt.Sprintf("%.0f MiB", mib(float64(c.Measured.Peak))), percent(c.PeakError()),
			fmt.Sprintf("%.2f (%.2f to %.2f)", c.Seconds.Median, c.Seconds.Low, c.Seconds.High),
			fmt.Sprintf("%.2f", c.Measured.SecondsPerJob), percent(c.SecondsError()),
		})
	}
	fmt.Fprintf(t.W, "%s\n\n", table.Render())
	fmt.Fprintf(t.W, "%d proofs made and verified; what was measured is the mean of two runs.\n"+
		"Errors of peaks are parts of the memory above the baseline of %s.\n",
		r.ProofsVerified, r.Configs[0].Measured.Baseline.Short())
	fmt.Fprintf(t.W, "Never run before: median error %s of the peak, %s of the seconds per job.\n",
		percent(d.MedianPeakError), percent(d.MedianSecondsError))
	fmt.Fprintf(t.W, "Noise: %q run twice differs by %s in peak and %s in seconds per job.\n\n",
		d.Noise.Name, percent(d.Noise.PeakDifference), percent(d.Noise.SecondsJobDifference))
	if d.Noise.SecondsJobDifference > busy {
		fmt.Fprint(t.W, "Something else used this machine, so that the seconds per job say little: "+
			"run demo again when it is idle.\n\n")
	}
	for _, c := range r.Confined {
		fmt.Fprintf(t.W, "Limited to %s (%s), %q was predicted: %s. It %s.\n",
			c.Limit.Short(), c.Mechanism, c.Name, t.verdict(c.Verdict), fate(c))
	}
}

// busy is the difference between two runs of one configuration, as a part of the first, above which their machine was
// not theirs alone. In ten demos on an idle one it was 6 % in the median.
const busy = 0.25

func fate(c demo.Confined) string {
	if c.Signal != "" {
		return fmt.Sprintf("%s (signal: %s)", ended(c.Outcome), c.Signal)
	}
	return ended(c.Outcome)
}

func mib(bytes float64) float64 { return bytes / float64(model.MiB) }
