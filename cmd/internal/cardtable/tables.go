package main

import (
	"fmt"
	"math"
	"strings"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/trace"
)

// table is a part of the document.
type table struct{ name, text string }

// tables returns the parts of the document that follow from the traces.
func (r *results) tables() []table {
	return []table{
		{"runs", r.runs()},
		{"predicted", comparisons(r.of(predicted))},
		{"errors", r.summary()},
		{"calibrated", comparisons(r.of(calibrates))},
		{"sizes", r.sizes()},
		{"many", r.many()},
	}
}

// head returns the first two lines of a table, of which the columns after the first so many are numbers.
func head(words int, columns ...string) string {
	line, rule := "|", "|"
	for i, c := range columns {
		line += " " + c + " |"
		if rule += " ---"; i >= words {
			rule += ":"
		}
		rule += " |"
	}
	return line + "\n" + rule + "\n"
}

// runs says what was run.
func (r *results) runs() string {
	var b strings.Builder
	b.WriteString(head(9, "run", "jobs", "in flight", "permits", "release", "channel", "workers", "lock", "besides"))
	for _, row := range r.rows {
		h := &row.trace.Header
		c := &h.Config
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %d | %s | %s |\n", row.name, jobs(h), c.JobsInFlight,
			c.Admission.Permits, c.Admission.Release, capacity(c), c.Workers(), c.GPU.Lock, besides(h))
	}
	for _, name := range r.missing {
		fmt.Fprintf(&b, "\n`%s` was not recorded.\n", name)
	}
	return b.String()
}

// jobs lists the jobs of each kind.
func jobs(h *trace.Header) string {
	var list []string
	for _, s := range h.Workload.Shares {
		list = append(list, fmt.Sprintf("%d %s", s.Jobs, s.Kind))
	}
	return strings.Join(list, ", ")
}

func capacity(c *model.Config) string {
	if n := c.ChannelCapacity(); c.Channel.Capacity == model.Auto {
		return fmt.Sprintf("auto (%s)", n)
	}
	return c.Channel.Capacity.String()
}

// besides names the knobs that have no column and are not as usual, and what the run was given.
func besides(h *trace.Header) string {
	c, usual := &h.Config, model.DefaultConfig(1)
	var list []string
	add := func(unusual bool, format string, args ...any) {
		if unusual {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(!c.GPU.Split, "split off")
	add(c.GPU.Lock == model.LockKernel && c.GPU.Prep != usual.GPU.Prep, "prep %s", c.GPU.Prep)
	add(c.FreeVectors != usual.FreeVectors, "vectors freed %s", c.FreeVectors)
	add(c.Synthesis.MaxParallel != usual.Synthesis.MaxParallel, "max_parallel %s", c.Synthesis.MaxParallel)
	add(c.Finalizers != usual.Finalizers, "%s finalizers", c.Finalizers)
	add(c.Pool != usual.Pool, "pool %s", c.Pool)
	add(c.GPU.Devices > 1, "%s devices", c.GPU.Devices)
	add(h.LimitBytes > 0, "confined to %s", h.LimitBytes.Short())
	add(h.CapBytes > 0, "%s of the card", h.CapBytes.Short())
	return strings.Join(list, ", ")
}

// comparisons holds what was predicted of runs against what was measured.
func comparisons(rows []row) string {
	var b strings.Builder
	columns := []string{"run"}
	for _, m := range metrics {
		columns = append(columns, m.text, "predicted", "error")
	}
	columns = append(columns, "devices busy", "verdict", "outcome")
	b.WriteString(head(1, columns...))
	for _, row := range rows {
		fmt.Fprintf(&b, "| `%s` |", row.name)
		for _, m := range metrics {
			b.WriteString(compared(row.Metric(m.name)))
		}
		fmt.Fprintf(&b, " %s | %s | %s |\n", share(row.share), row.Verdict, outcome(&row))
	}
	return b.String()
}

// compared is three cells: measured, predicted and the error. They are empty for what was not measured.
func compared(m *calibrate.Metric) string {
	if m == nil {
		return " | | |"
	}
	show := func(v float64) string {
		if strings.HasSuffix(m.Name, "_bytes") {
			return fmt.Sprintf("%.0f MiB", v/float64(model.MiB))
		}
		return fmt.Sprintf("%.3g s", v)
	}
	return fmt.Sprintf(" %s | %s | %+.1f %% |", show(m.Measured), show(m.Predicted.Median), 100*m.Error)
}

func share(part float64) string {
	if math.IsNaN(part) {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*part)
}

// outcome says how a run came out, and whether that is not what was predicted.
func outcome(row *row) string {
	text := string(row.Outcome)
	if end := row.trace.End; end != nil && row.Outcome == trace.Broken {
		text = fmt.Sprintf("%d of %d jobs done", end.JobsDone, row.trace.Header.Workload.Jobs())
	}
	if !row.VerdictRight {
		text += ", **not as predicted**"
	}
	return text
}

// summary gives the medians of the errors, by kind of job and over all, and how many verdicts were right.
func (r *results) summary() string {
	var b strings.Builder
	columns := []string{"runs of", "runs"}
	for _, m := range metrics {
		columns = append(columns, m.text, "largest")
	}
	b.WriteString(head(1, columns...))
	all := r.of(predicted)
	line := func(what string, rows []row) {
		fmt.Fprintf(&b, "| %s | %d |", what, len(rows))
		for _, m := range metrics {
			if e := off(rows, m.name); len(e) > 0 {
				fmt.Fprintf(&b, " %.1f %% | %.1f %% |", 100*median(e), 100*e[len(e)-1])
			} else {
				b.WriteString(" | |")
			}
		}
		b.WriteString("\n")
	}
	for _, k := range r.profile.Kinds {
		var rows []row
		for _, row := range all {
			if shares := row.trace.Header.Workload.Shares; len(shares) == 1 && shares[0].Kind == k.Name {
				rows = append(rows, row)
			}
		}
		if len(rows) > 0 {
			line(k.Name, rows)
		}
	}
	line("all", all)
	right, before := 0, 0
	for _, row := range all {
		if row.VerdictRight {
			right++
		}
		if row.before {
			before++
		}
	}
	fmt.Fprintf(&b, "\n%d of %d verdicts were right. The headers of %d of the %d traces have the hash of the profile, "+
		"which so was there before they were recorded.\n", right, len(all), before, len(all))
	return b.String()
}
