package render

import (
	"fmt"
	"math"
	"strconv"

	"headroom/model"
	"headroom/sim"
)

// Risk is an assessment as JSON. What it shares with a run is the mean over the replications for the peak, the
// seconds per job and the jobs done, and of the replication with the median peak for the rest.
type Risk struct {
	Run
	Quantiles         map[string]int64 `json:"host_peak_bytes_quantiles"`
	POOM              *float64         `json:"p_oom"`
	POOMLow           *float64         `json:"p_oom_low"`
	POOMHigh          *float64         `json:"p_oom_high"`
	Replications      int              `json:"replications"`
	JobsDoneMean      *float64         `json:"jobs_done_mean"`
	SecondsPerJobMean *float64         `json:"seconds_per_job_mean"`
}

// Assessment is the risk of one combination of settings.
type Assessment struct {
	Settings Settings
	Report   *sim.RiskReport
	Warnings []string
}

// Risk returns the JSON of the assessment.
func (a *Assessment) Risk() Risk {
	r := a.Report
	run := NewRun(r.Median, a.Warnings)
	run.Settings, run.Verdict, run.Reason = a.Settings, string(r.Verdict), r.Reason
	run.HostPeakBytes = new(int64(r.PeakMean))
	run.LimitBytes, run.LimitName, run.LimitFile = nil, nil, nil
	run.setLimit(r.Limit)
	run.SecondsPerJob, run.JobsDone = finite(r.SecondsPerJobMean), new(r.JobsDoneMean)
	out := Risk{
		Run: run, Quantiles: map[string]int64{}, Replications: r.Replications,
		POOM: new(r.POOM), POOMLow: new(r.POOMLow), POOMHigh: new(r.POOMHigh),
		JobsDoneMean: new(r.JobsDoneMean), SecondsPerJobMean: finite(r.SecondsPerJobMean),
	}
	for i, q := range sim.RiskQuantiles {
		out.Quantiles[quantile(q)] = int64(r.PeakQuantiles[i])
	}
	return out
}

func quantile(q float64) string { return strconv.FormatFloat(q, 'g', -1, 64) }

// NewRisks returns the JSON of some assessments.
func NewRisks(list []Assessment) Runs[Risk] {
	out := Runs[Risk]{Schema: Schema, Runs: []Risk{}}
	for i := range list {
		out.Runs = append(out.Runs, list[i].Risk())
	}
	return out
}

// Risk prints one assessment.
func (t Text) Risk(r *sim.RiskReport, warnings []string) {
	fmt.Fprintf(t.W, "%s: %s\n\n", t.verdict(r.Verdict), r.Reason)
	table := newTable(nil, "quantile", "peak")
	for i, q := range sim.RiskQuantiles {
		table.AppendRow([]any{quantile(q), r.PeakQuantiles[i].Short()})
	}
	table.AppendRow([]any{"mean", r.PeakMean.Short()})
	fmt.Fprintf(t.W, "%s\n\n", table.Render())
	t.facts([][2]string{
		{"P(OOM)", probability(r)},
		{"time to OOM", mean(r.OOMSecondsMean)},
		{"limit", limit(r.Limit)},
		{"seconds per job", survivors(r)},
		{"jobs done", fmt.Sprintf("%.1f in the mean", r.JobsDoneMean)},
		{"bottleneck", r.Median.Bottleneck + " in the median run"},
		{"structural bound", bound(r.Median)},
	})
	fmt.Fprintf(t.W, "\npeak of the median run, %s at %s:\n", r.Median.Peak.Short(), seconds(r.Median.PeakAt.Seconds()))
	t.owners(r.Median)
	t.Warnings(warnings)
}

// mean prints a mean of seconds.
func mean(s float64) string {
	if math.IsNaN(s) {
		return none
	}
	return seconds(s) + " in the mean"
}

// survivors prints the mean seconds per job with the number of replications that it is of.
func survivors(r *sim.RiskReport) string {
	if r.OOMs == 0 {
		return mean(r.SecondsPerJobMean)
	}
	return fmt.Sprintf("%s of the %d that did not run out of memory", mean(r.SecondsPerJobMean), r.Replications-r.OOMs)
}

func probability(r *sim.RiskReport) string {
	return fmt.Sprintf("%.4f, from %.4f to %.4f with 95 %% confidence (%s)",
		r.POOM, r.POOMLow, r.POOMHigh, model.Counted(r.Replications, "replication"))
}

// Risks prints a table with one row an assessment, and each warning once.
func (t Text) Risks(list []Assessment) {
	header := append(list[0].Settings.keys(), "verdict", "P(OOM)", "from", "to", "peak 0.05", "0.5", "0.95", "mean",
		"per job", "jobs", "time to OOM")
	table := newTable([]string{"verdict"}, header...)
	var warnings [][]string
	for _, a := range list {
		r := a.Report
		low, middle, high := r.PeakQuantiles[1], r.PeakQuantiles[2], r.PeakQuantiles[3]
		table.AppendRow(append(cells(a.Settings.values()...), t.verdict(r.Verdict),
			fmt.Sprintf("%.4f", r.POOM), fmt.Sprintf("%.4f", r.POOMLow), fmt.Sprintf("%.4f", r.POOMHigh),
			low.Short(), middle.Short(), high.Short(), r.PeakMean.Short(),
			seconds(r.SecondsPerJobMean), fmt.Sprintf("%.1f", r.JobsDoneMean), seconds(r.OOMSecondsMean)))
		warnings = append(warnings, a.Warnings)
	}
	fmt.Fprintln(t.W, table.Render())
	t.Warnings(distinct(warnings))
}
