package render

import (
	"fmt"
	"math"
	"strings"

	"headroom/model"
	"headroom/sim"
	"headroom/sim/explain"
)

// Explanation prints why the peak of one scenario is what it is.
func (t Text) Explanation(e *explain.Explanation, replications int, warnings []string) {
	r := e.Result
	fmt.Fprintf(t.W, "%s: %s\n\n", t.verdict(r.Verdict), r.Reason)
	fmt.Fprintf(t.W, "peak of %s at %s, and the mean of %s:\n",
		r.Peak.Short(), seconds(r.PeakAt.Seconds()), model.Counted(replications, "replication"))
	t.meanOwners(e)
	fmt.Fprintf(t.W, "\n%s\n\n", strings.Join(e.Why, "\n"))
	t.facts([][2]string{
		{"limit", limit(r.Limit)},
		{"seconds per job", mean(e.Mean.SecondsPerJob)},
		{"over the limit", fmt.Sprintf("%d of %s", e.Mean.OOMs, model.Counted(replications, "replication"))},
		{"bottleneck", bottleneck(r)},
	})
	t.fixes("single knobs that lower the mean peak", e.Fixes, replications)
	t.Warnings(warnings)
}

// meanOwners prints who holds the peak of replication 0 and who does in the mean.
func (t Text) meanOwners(e *explain.Explanation) {
	table := newTable([]string{"owner"}, "owner", "count", "bytes", "share", "mean count", "mean bytes")
	for _, h := range e.Mean.AtPeak {
		var one sim.Holding
		for _, other := range e.Result.AtPeak {
			if other.Owner == h.Owner {
				one = other
			}
		}
		share := percent(float64(one.Bytes) / float64(e.Result.Peak))
		table.AppendRow([]any{
			h.Owner, meanCount(float64(one.Count), 0), one.Bytes.Short(), share, meanCount(h.Count, 1), h.Bytes.Short(),
		})
	}
	table.AppendRow([]any{"all", none, e.Result.Peak.Short(), percent(1), none, e.Mean.Peak.Short()})
	fmt.Fprintln(t.W, table.Render())
}

// meanCount prints how many there are; 0 is none.
func meanCount(n float64, digits int) string {
	if n == 0 {
		return none
	}
	return fmt.Sprintf("%.*f", digits, n)
}

// How many fixes are printed for people: in all, and of one knob.
const mostFixes, mostOfKnob = 12, 3

// firstFixes returns the fixes to print.
func firstFixes(list []*explain.Fix) []*explain.Fix {
	var first []*explain.Fix
	of := map[string]int{}
	for _, f := range list {
		if of[f.Knob.Name]++; of[f.Knob.Name] <= mostOfKnob && len(first) < mostFixes {
			first = append(first, f)
		}
	}
	return first
}

// fixes prints the single knobs that lower a peak.
func (t Text) fixes(title string, list []*explain.Fix, replications int) {
	if len(list) == 0 {
		fmt.Fprintf(t.W, "\nno single knob lowers the peak\n")
		return
	}
	fmt.Fprintf(t.W, "\n%s:\n", title)
	table := newTable([]string{"setting", "removes"},
		"setting", "peak", "change", "per job", "change", "over the limit", "removes")
	first := firstFixes(list)
	for _, f := range first {
		table.AppendRow([]any{
			strings.Join(settings(f.Knob), " "), f.Case.Peak.Short(), signed(f.Bytes), seconds(f.Case.SecondsPerJob),
			signedSeconds(f.SecondsPerJob), fmt.Sprintf("%d of %d", f.Case.OOMs, replications), removes(f),
		})
	}
	fmt.Fprintln(t.W, table.Render())
	if more := len(list) - len(first); more > 0 {
		fmt.Fprintf(t.W, "and %d more that lower it, with --json\n", more)
	}
}

// removes names what a fix removes.
func removes(f *explain.Fix) string {
	var list []string
	if f.RemovesOOM {
		list = append(list, "oom")
	}
	if f.RemovesDifference {
		list = append(list, "difference")
	}
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}

// Difference prints the difference between two scenarios.
func (t Text) Difference(d *PairAnswer) {
	c := d.Of
	fmt.Fprintf(t.W, "A is %s, B is %s: means of %s, with the limit ignored\n\n", d.A, d.B, model.Counted(d.Replications, "replication"))
	table := newTable([]string{""}, "", "A", "B", "B minus A")
	table.AppendRow([]any{"peak", c.A.Peak.Short(), c.B.Peak.Short(), signed(c.Bytes)})
	table.AppendRow([]any{
		"seconds per job", seconds(c.A.SecondsPerJob), seconds(c.B.SecondsPerJob), signedSeconds(c.SecondsPerJob),
	})
	table.AppendRow([]any{"replications over the limit", c.A.OOMs, c.B.OOMs, fmt.Sprintf("%+d", c.B.OOMs-c.A.OOMs)})
	table.AppendRow([]any{"replications that stall", c.A.Stalls, c.B.Stalls, fmt.Sprintf("%+d", c.B.Stalls-c.A.Stalls)})
	table.AppendRow([]any{"most partitions by structure", structural(c.A), structural(c.B), none})
	fmt.Fprintln(t.W, table.Render())
	t.shares(c)
	t.owned(c)
	t.fixes("single knobs that lower the peak of B", c.Fixes, d.Replications)
	t.Warnings(distinct(d.Warnings))
}

// owned prints what each owner holds at both peaks.
func (t Text) owned(c *explain.Difference) {
	fmt.Fprintf(t.W, "\nowners at the peak:\n")
	owners := newTable([]string{"owner"}, "owner", "A", "count", "B", "count", "B minus A")
	for _, o := range c.Owners {
		owners.AppendRow([]any{
			o.Owner, o.A.Bytes.Short(), meanCount(o.A.Count, 1), o.B.Bytes.Short(), meanCount(o.B.Count, 1),
			signed(o.Difference),
		})
	}
	fmt.Fprintln(t.W, owners.Render())
	if synth, waiting := c.Held(sim.OwnSynth), c.Held(sim.OwnSend, sim.OwnChannel); c.Bytes != 0 {
		fmt.Fprintf(t.W, "\nof the difference %s is in synthesis, %s waits in send and in the channel, and %s is all else\n",
			signed(synth), signed(waiting), signed(c.Bytes-synth-waiting))
	}
}

// structural prints how many partitions can hold vectors at once.
func structural(c *explain.Case) string {
	if c.Bound.Partitions == 0 {
		return "unbounded"
	}
	return fmt.Sprint(c.Bound.Partitions)
}

// shares prints what each knob causes.
func (t Text) shares(c *explain.Difference) {
	if len(c.Shares) == 0 {
		fmt.Fprintf(t.W, "\nthe scenarios differ in no knob\n")
		return
	}
	fmt.Fprintf(t.W, "\nshares of the knobs in the difference:\n")
	table := newTable([]string{"knob"}, "knob", "A", "B", "peak", "per job")
	for _, s := range c.Shares {
		var from, to []string
		for _, k := range s.Knob.Settings {
			from, to = append(from, k.From), append(to, k.To)
		}
		table.AppendRow([]any{
			s.Knob.Name, strings.Join(from, ", "), strings.Join(to, ", "), signed(s.Bytes), signedSeconds(s.SecondsPerJob),
		})
	}
	fmt.Fprintln(t.W, table.Render())
}

// signed prints a change of bytes.
func signed(b model.Bytes) string {
	if b > 0 {
		return "+" + b.Short()
	}
	return b.Short()
}

// signedSeconds prints a change of seconds; NaN is none.
func signedSeconds(s float64) string {
	if math.IsNaN(s) {
		return none
	}
	return fmt.Sprintf("%+.3f s", s)
}
