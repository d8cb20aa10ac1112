package render

import (
	"fmt"
	"strings"

	"headroom/calibrate"
	"headroom/model"
)

// Calibration is what a calibration comes to, as JSON.
type Calibration struct {
	Schema int `json:"schema"`
	*calibrate.Report
	Profile string `json:"profile"`
}

// NewCalibration returns the report of a calibration whose profile was written to a file.
func NewCalibration(r *calibrate.Report, profile string) Calibration {
	return Calibration{Schema: Schema, Report: r, Profile: profile}
}

// Calibration prints a calibration.
func (t Text) Calibration(r *calibrate.Report, profile string) {
	judgement := "written, and good"
	if !r.Good {
		judgement = "written, and not good enough yet"
	}
	fmt.Fprintf(t.W, "%s: %s\n\n", profile, judgement)
	table := newTable([]string{"interference", ""}, "interference", "gain (nats a stage)", "standard error", "")
	for _, c := range r.Interference {
		chosen := ""
		if c.Chosen {
			chosen = "chosen"
		}
		table.AppendRow([]any{c.Law, fmt.Sprintf("%.3f", c.Gain), fmt.Sprintf("%.3f", c.Error), chosen})
	}
	fmt.Fprintf(t.W, "%s\n\n", table.Render())
	var facts [][2]string
	if left := r.LeftOut; left != nil {
		facts = [][2]string{
			{"peak of a trace that is left out", offBy(left.Peak)},
			{"seconds per job of one", offBy(left.Seconds)},
		}
	}
	t.facts(append(facts, [][2]string{
		{"samples of memory", fmt.Sprint(r.Samples)},
		{"their noise", r.Noise.Short()},
		{"retained at the end", retention(r)},
	}...))
	for _, advice := range r.Record {
		fmt.Fprintf(t.W, "record: %s\n", advice)
	}
	t.Warnings(r.Warnings)
}

// offBy prints how far predictions were off.
func offBy(e calibrate.Off) string {
	return fmt.Sprintf("predicted to %s in the median, %s at the worst", percent(e.Median), percent(e.Largest))
}

// retention prints what stayed resident, if a trace was watched for long enough to tell.
func retention(r *calibrate.Report) string {
	if r.Retention < 0 {
		return none
	}
	return r.Retention.Short()
}

// Comparison is a prediction against a run, as JSON.
type Comparison struct {
	Schema int `json:"schema"`
	*calibrate.Comparison
}

// NewComparison returns a comparison as JSON.
func NewComparison(c *calibrate.Comparison) Comparison { return Comparison{Schema, c} }

// Comparison prints a comparison.
func (t Text) Comparison(c *calibrate.Comparison) {
	fmt.Fprintf(t.W, "predicted %s, the run %s\n\n", t.verdict(c.Verdict), ended(c.Outcome))
	table := newTable([]string{"metric", ""}, "metric", "predicted", "95 % band", "measured", "error", "")
	for _, m := range c.Metrics {
		inside := "inside"
		if !m.Inside {
			inside = "outside"
		}
		table.AppendRow([]any{
			m.Name, quantity(m.Name, m.Predicted.Median),
			quantity(m.Name, m.Predicted.Low) + " to " + quantity(m.Name, m.Predicted.High),
			quantity(m.Name, m.Measured), percent(m.Error), inside,
		})
	}
	fmt.Fprintf(t.W, "%s\n", table.Render())
	t.Warnings(c.Warnings)
}

// quantity prints the value of a metric, whose name ends in its unit.
func quantity(name string, v float64) string {
	if strings.HasSuffix(name, "_bytes") {
		return model.Bytes(v).Short()
	}
	return seconds(v)
}
