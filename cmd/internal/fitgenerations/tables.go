package main

import (
	"fmt"
	"math"
	"strings"

	"headroom/calibrate/generations"
	"headroom/model/profile"
	"headroom/sim"
)

// rowTable is the published rows with their predictions, in Markdown.
func rowTable(rows []row) string {
	var b strings.Builder
	b.WriteString("| row | scenario | s a job | predicted | error | peak, GiB | predicted | error |\n")
	b.WriteString("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for i := range rows {
		r := &rows[i]
		seconds, peak := r.errors()
		question := "`" + r.Scenario + "`"
		if r.Setting != "" {
			question += " `" + r.Setting + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", r.name(), question,
			number(r.SecondsPerProof), r.predictedSeconds(), percent(seconds), r.readPeak(), number(r.Peak), percent(peak))
	}
	return b.String()
}

// name says what was run.
func (r *row) name() string {
	name := r.Variant
	if r.PartitionWorkers > 0 {
		name += fmt.Sprintf(", %d+%d workers", r.PartitionWorkers, r.GPUWorkers)
	}
	return fmt.Sprintf("%s, %d of %d jobs in flight", name, r.JobsInFlight, r.Proofs)
}

func (r *row) readPeak() string {
	switch {
	case r.PeakCensored:
		return "killed at " + number(r.PeakRSS.GiB())
	case r.Outcome == "oom":
		return "killed"
	}
	return number(r.PeakRSS.GiB())
}

func (r *row) predictedSeconds() string {
	if n := r.Verdicts[sim.OOM]; n > 0 {
		return fmt.Sprintf("%d of %d oom", n, replications)
	}
	return number(r.Seconds)
}

func number(x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", x)
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", 100*x)
}

// timeTable is the times that each generation brings, in Markdown.
func timeTable(p *profile.Profile) string {
	var b strings.Builder
	b.WriteString("| kind | stage | read | in the profile | from | what was read |\n")
	b.WriteString("| --- | --- | ---: | ---: | --- | --- |\n")
	for _, t := range generations.Times() {
		mean := p.Kind(t.Kind).Work[t.Stage].Mean.Value
		fmt.Fprintf(&b, "| %s | %s | %.3g s | %s | %s | %s |\n", t.Kind, t.Stage, t.Seconds, mean, t.From, t.Why)
	}
	return b.String()
}

// sharedTable is the numbers that the generations have in common, in Markdown.
func sharedTable(p *profile.Profile) string {
	var b strings.Builder
	b.WriteString("| number | value | from |\n| --- | ---: | --- |\n")
	for _, n := range generations.Shared(p) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", n.Name, n.Value, n.From)
	}
	fmt.Fprintf(&b, "\nWith the wait of the batch, %d numbers are free.\n", free(p))
	return b.String()
}

// free counts the numbers that rows have moved: those of the shared fit, and the wait of the batch of phase 3, which is
// chosen so that its row's seconds come out.
func free(p *profile.Profile) int {
	n := 1
	for _, number := range generations.Shared(p) {
		if number.From == profile.Fitted {
			n++
		}
	}
	return n
}
