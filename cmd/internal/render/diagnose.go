package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"headroom/calibrate/diagnose"
	"headroom/model"
)

// Diagnosis is what a trace says of its memory, as JSON.
type Diagnosis struct {
	Schema      int        `json:"schema"`
	Finding     string     `json:"finding"`
	Reason      string     `json:"reason"`
	Evidence    []Evidence `json:"evidence"`
	BytesPerJob *float64   `json:"bytes_per_job"` // null: not measured
	PerJobLow   *float64   `json:"bytes_per_job_low"`
	PerJobHigh  *float64   `json:"bytes_per_job_high"`
	LimitBytes  *int64     `json:"limit_bytes"`      // null: none is known
	ToLimitS    *float64   `json:"seconds_to_limit"` // null: nothing grows, or there is no limit
	ToLimitLow  *float64   `json:"seconds_to_limit_low"`
	ToLimitHigh *float64   `json:"seconds_to_limit_high"` // null also where the growth may be none
	Warnings    []string   `json:"warnings"`
}

// Evidence is a number that a finding rests on, as JSON. Low and high are its 95 % interval, or null.
type Evidence struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Text  string   `json:"text"`
}

// NewDiagnosis returns a report as JSON, with what the reader of the trace noticed.
func NewDiagnosis(r *diagnose.Report, warnings []string) Diagnosis {
	d := Diagnosis{
		Schema: Schema, Finding: string(r.Finding), Reason: r.Reason, Evidence: []Evidence{}, Warnings: append([]string{}, warnings...),
	}
	for _, e := range r.Evidence {
		one := Evidence(e)
		if strings.HasPrefix(e.Unit, "bytes") {
			one.Value, one.Low, one.High = math.Round(e.Value), rounded(e.Low), rounded(e.High)
		}
		d.Evidence = append(d.Evidence, one)
	}
	if i := r.PerJob; i != nil {
		d.BytesPerJob, d.PerJobLow, d.PerJobHigh = rounded(&i.Value), rounded(&i.Low), rounded(&i.High)
	}
	if r.Limit != 0 {
		d.LimitBytes = new(int64(r.Limit))
	}
	if i := r.SecondsToLimit; i != nil {
		d.ToLimitS, d.ToLimitLow, d.ToLimitHigh = finite(i.Value), finite(i.Low), finite(i.High)
	}
	return d
}

// rounded returns a number of bytes without its fraction, or nil if there is none.
func rounded(f *float64) *float64 {
	if f == nil {
		return nil
	}
	return finite(math.Round(*f))
}

// Diagnosis prints a diagnosis: the finding, and what it rests on.
func (t Text) Diagnosis(d *Diagnosis) {
	fmt.Fprintf(t.W, "%s: %s\n", d.Finding, d.Reason)
	if len(d.Evidence) > 0 {
		table := newTable([]string{"evidence", "what it is"}, "evidence", "value", "95 % interval", "what it is")
		for _, e := range d.Evidence {
			table.AppendRow([]any{e.Name, measure(e.Value, e.Unit), e.interval(), e.Text})
		}
		fmt.Fprintf(t.W, "\n%s\n", table.Render())
	}
	t.Warnings(d.Warnings)
}

// interval prints the interval, or that one end of it is open.
func (e *Evidence) interval() string {
	switch {
	case e.Low == nil && e.High == nil:
		return none
	case e.High == nil:
		return "at least " + measure(*e.Low, e.Unit)
	case e.Low == nil:
		return "at most " + measure(*e.High, e.Unit)
	}
	return measure(*e.Low, e.Unit) + " to " + measure(*e.High, e.Unit)
}

// measure prints a value with its unit; without one it is a part of one.
func measure(v float64, unit string) string {
	if rate, is := strings.CutPrefix(unit, "bytes"); is {
		return model.Bytes(v).Short() + rate
	}
	switch unit {
	case "":
		return percent(v)
	case "s":
		return seconds(v)
	case "jobs", "samples", "partitions":
		return strconv.FormatFloat(v, 'f', 0, 64)
	case "partitions/h":
		return strconv.FormatFloat(v, 'f', 1, 64) + "/h"
	}
	_, rate, _ := strings.Cut(unit, "/")
	if math.Abs(v) < 0.0005 {
		v = 0 // and not -0
	}
	return strconv.FormatFloat(v, 'f', 3, 64) + "/" + rate
}
