package render

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"headroom/model"
	"headroom/model/trace"
	"headroom/sim"
)

// Text prints results for people. It does not look at errors of its writer, which is to be a buffer.
type Text struct {
	W     io.Writer
	Color bool // mark verdicts with the colours of a terminal
}

var verdictColors = map[sim.Verdict]text.Color{
	sim.Fits: text.FgGreen, sim.OOM: text.FgRed, sim.Stall: text.FgRed, sim.Refuse: text.FgRed, sim.Risk: text.FgYellow,
}

// verdict returns the word, coloured if asked for.
func (t Text) verdict(v sim.Verdict) string {
	if !t.Color {
		return string(v)
	}
	return text.Colors{text.Bold, verdictColors[v]}.EscapeSeq() + string(v) + text.Reset.EscapeSeq()
}

// ended says after "the run" what became of it; a trace that was cut off has no outcome.
func ended(o trace.Outcome) string {
	switch o {
	case trace.OOM:
		return "ran out of memory"
	case trace.Killed, trace.Cancelled:
		return "was " + string(o)
	case "":
		return "was cut off"
	}
	return string(o)
}

// Run prints one run.
func (t Text) Run(r *sim.Result, warnings []string) {
	fmt.Fprintf(t.W, "%s: %s\n\n", t.verdict(r.Verdict), r.Reason)
	fmt.Fprintf(t.W, "peak of %s at %s:\n", r.Peak.Short(), seconds(r.PeakAt.Seconds()))
	t.owners(r)
	fmt.Fprintln(t.W)
	t.facts(append([][2]string{
		{"limit", limit(r.Limit)},
		{"seconds per job", seconds(r.SecondsPerJob)},
		{"makespan", seconds(r.Makespan.Seconds())},
		{"jobs done", fmt.Sprint(r.JobsDone)},
		{"bottleneck", bottleneck(r)},
		{"structural bound", bound(r)},
	}, books(r)...))
	t.Warnings(warnings)
}

// books are the facts of the ledger, the pinned and the shared memory and the devices', where they have something.
func books(r *sim.Result) [][2]string {
	var list [][2]string
	if r.LedgerPeak > 0 {
		list = append(list, [2]string{"ledger", "up to " + r.LedgerPeak.Short() + " reserved"})
	}
	if r.PinnedPeak > 0 {
		list = append(list, [2]string{"pinned", "up to " + r.PinnedPeak.Short()})
	}
	if r.SharedPeak > 0 {
		list = append(list, [2]string{"shared memory", "up to " + r.SharedPeak.Short()})
	}
	for i, d := range r.Devices {
		if d.Peak == 0 {
			continue
		}
		text := "up to " + d.Peak.Short()
		if d.Limit > 0 {
			size := model.Apart(d.Peak, d.Limit)
			text = fmt.Sprintf("up to %s of %s", size(d.Peak), size(d.Limit))
		}
		list = append(list, [2]string{fmt.Sprintf("vram of gpu %d", i), text + d.AtPeak.String()})
	}
	return list
}

// owners prints who holds the peak.
func (t Text) owners(r *sim.Result) {
	table := newTable([]string{"owner"}, "owner", "count", "bytes", "share")
	for _, h := range r.AtPeak {
		count := none
		if h.Count != 0 {
			count = fmt.Sprint(h.Count)
		}
		table.AppendRow([]any{h.Owner, count, h.Bytes.Short(), percent(float64(h.Bytes) / float64(r.Peak))})
	}
	fmt.Fprintln(t.W, table.Render())
}

// facts prints names and values in two columns.
func (t Text) facts(list [][2]string) {
	width := 0
	for _, f := range list {
		width = max(width, len(f[0]))
	}
	for _, f := range list {
		fmt.Fprintf(t.W, "%-*s  %s\n", width, f[0], f[1])
	}
}

// Warnings prints warnings after a result; without any it prints nothing.
func (t Text) Warnings(list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(t.W, "\nwarnings:\n")
	for _, w := range list {
		fmt.Fprintf(t.W, "- %s\n", w)
	}
}

func limit(l model.Limit) string {
	if l.Bytes == 0 {
		return "none: the machine names no limit"
	}
	if l.File != "" {
		return fmt.Sprintf("%s (%s, read from %s)", l.Bytes.Short(), l.Name, l.File)
	}
	return fmt.Sprintf("%s (%s)", l.Bytes.Short(), l.Name)
}

// bottleneck names the busiest station and says how busy each was whose capacity is limited.
func bottleneck(r *sim.Result) string {
	u := &r.Utilization
	var busy []string
	for _, station := range []struct {
		name string
		part float64
	}{{"synth", u.Synth}, {"gpu", u.GPU}, {"finish", u.Finish}, {"waiting for jobs in flight", u.Starved}} {
		if !math.IsNaN(station.part) {
			busy = append(busy, station.name+" "+percent(station.part))
		}
	}
	if len(busy) == 0 {
		return none // nothing happened
	}
	return fmt.Sprintf("%s (busy: %s)", r.Bottleneck, strings.Join(busy, ", "))
}

func bound(r *sim.Result) string {
	if r.Bound.Partitions == 0 {
		return r.Bound.Formula
	}
	return fmt.Sprintf("%s in %s: %s", r.BoundBytes.Short(), model.Counted(r.Bound.Partitions, "partition"), r.Bound.Formula)
}
