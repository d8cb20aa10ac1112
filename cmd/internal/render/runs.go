package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"headroom/sim"
)

// Variant is the run of one combination of settings.
type Variant struct {
	Settings Settings
	Result   *sim.Result
	Warnings []string
}

// Run returns the JSON of the variant's run.
func (v *Variant) Run() Run {
	out := NewRun(v.Result, v.Warnings)
	out.Settings = v.Settings
	return out
}

// Runs is the runs of all combinations of settings as JSON.
type Runs[T any] struct {
	Schema int `json:"schema"`
	Runs   []T `json:"runs"`
}

// NewRuns returns the JSON of some variants.
func NewRuns(variants []Variant) Runs[Run] {
	list := Runs[Run]{Schema: Schema, Runs: []Run{}}
	for i := range variants {
		list.Runs = append(list.Runs, variants[i].Run())
	}
	return list
}

// Runs prints a table with one row a variant, and each warning once.
func (t Text) Runs(variants []Variant) {
	keys := variants[0].Settings.keys()
	header := append(keys, "verdict", "peak", "at", "headroom", "per job", "makespan", "jobs", "bottleneck", "most held by")
	table := newTable([]string{"verdict", "bottleneck", "most held by"}, header...)
	var warnings [][]string
	for _, v := range variants {
		r := v.Result
		row := cells(v.Settings.values()...)
		table.AppendRow(append(row, t.verdict(r.Verdict), r.Peak.Short(), seconds(r.PeakAt.Seconds()), headroom(r),
			seconds(r.SecondsPerJob), seconds(r.Makespan.Seconds()), r.JobsDone, r.Bottleneck, mostHeld(r)))
		warnings = append(warnings, v.Warnings)
	}
	fmt.Fprintln(t.W, table.Render())
	t.Warnings(distinct(warnings))
}

// headroom prints the limit minus the peak; a run that was stopped at the limit has none to speak of.
func headroom(r *sim.Result) string {
	if r.Limit.Bytes == 0 || r.Verdict == sim.OOM && math.IsNaN(r.SecondsPerJob) {
		return none
	}
	return (r.Limit.Bytes - r.Peak).Short()
}

// mostHeld names the owner of most of the peak and its part.
func mostHeld(r *sim.Result) string {
	if len(r.AtPeak) == 0 {
		return none
	}
	most := r.AtPeak[0]
	return fmt.Sprintf("%s, %s", most.Owner, percent(float64(most.Bytes)/float64(r.Peak)))
}

// distinct returns the warnings of all variants, each once, in order of first appearance.
func distinct(lists [][]string) []string {
	var all []string
	seen := map[string]bool{}
	for _, list := range lists {
		for _, w := range list {
			if !seen[w] {
				seen[w] = true
				all = append(all, w)
			}
		}
	}
	return all
}

func cells(values ...string) []any {
	row := make([]any, len(values))
	for i, v := range values {
		row[i] = v
	}
	return row
}

// CSV writes a line for each variant under a header of the settings and the keys of the JSON. What has no value is
// empty.
func CSV(w io.Writer, variants []Variant) error {
	out := csv.NewWriter(w)
	header := append(variants[0].Settings.keys(), "verdict", "reason", "host_peak_bytes", "peak_at_s", "limit_bytes", "limit_name",
		"limit_file", "seconds_per_job", "makespan_s", "jobs_done", "bottleneck", "bound_partitions", "bound_bytes", "bound_formula", "warnings")
	lines := [][]string{header}
	for i := range variants {
		r := variants[i].Run()
		lines = append(lines, append(variants[i].Settings.values(), r.Verdict, r.Reason, cell(r.HostPeakBytes), cell(r.PeakAtS),
			cell(r.LimitBytes), cell(r.LimitName), cell(r.LimitFile), cell(r.SecondsPerJob), cell(r.MakespanS), cell(r.JobsDone),
			cell(r.Bottleneck), cell(r.Bounds.Partitions), cell(r.Bounds.Bytes), cell(r.Bounds.Formula), strings.Join(r.Warnings, "; ")))
	}
	return out.WriteAll(lines)
}

// cell prints a value without an exponent; nil is empty.
func cell[T string | int | int64 | float64](value *T) string {
	if value == nil {
		return ""
	}
	if f, ok := any(*value).(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(*value)
}
