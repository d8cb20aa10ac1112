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
	header := append(keys, "verdict", "peak", "at", "headroom", "per job", "makespan", "jobs", "bottleneck",
		"most held by")
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
	if r.Limit.Bytes == 0 || r.Verdict.Over() && math.IsNaN(r.SecondsPerJob) {
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

// columns are those of the CSV after the settings: keys of the JSON, and what has no value is empty.
var columns = []struct {
	key  string
	cell func(*Run) string
}{
	{"verdict", func(r *Run) string { return r.Verdict }},
	{"reason", func(r *Run) string { return r.Reason }},
	{"host_peak_bytes", func(r *Run) string { return cell(r.HostPeakBytes) }},
	{"peak_at_s", func(r *Run) string { return cell(r.PeakAtS) }},
	{"limit_bytes", func(r *Run) string { return cell(r.LimitBytes) }},
	{"limit_name", func(r *Run) string { return cell(r.LimitName) }},
	{"limit_file", func(r *Run) string { return cell(r.LimitFile) }},
	{"seconds_per_job", func(r *Run) string { return cell(r.SecondsPerJob) }},
	{"makespan_s", func(r *Run) string { return cell(r.MakespanS) }},
	{"jobs_done", func(r *Run) string { return cell(r.JobsDone) }},
	{"bottleneck", func(r *Run) string { return cell(r.Bottleneck) }},
	{"bound_partitions", func(r *Run) string { return cell(r.Bounds.Partitions) }},
	{"bound_bytes", func(r *Run) string { return cell(r.Bounds.Bytes) }},
	{"bound_formula", func(r *Run) string { return cell(r.Bounds.Formula) }},
	{"warnings", func(r *Run) string { return strings.Join(r.Warnings, "; ") }},
}

// CSV writes a line for each variant under a header: the settings, then the columns.
func CSV(w io.Writer, variants []Variant) error {
	header := variants[0].Settings.keys()
	for _, c := range columns {
		header = append(header, c.key)
	}
	lines := [][]string{header}
	for i := range variants {
		run, line := variants[i].Run(), variants[i].Settings.values()
		for _, c := range columns {
			line = append(line, c.cell(&run))
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
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
