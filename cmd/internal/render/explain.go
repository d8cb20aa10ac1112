package render

import "headroom/sim/explain"

// Explanation is why the peak of one scenario is what it is, as JSON. The keys of a run are of replication 0.
type Explanation struct {
	Run
	Utilization  Utilization `json:"utilization"`
	Why          []string    `json:"why"`
	Replications int         `json:"replications"`
	Mean         Case        `json:"mean"`
	Fixes        []Fix       `json:"single_knob_fixes"`
}

// Utilization is how busy each station is, from 0 to 1; nil where its capacity has no limit.
type Utilization struct {
	Synth   *float64 `json:"synth"`
	GPU     *float64 `json:"gpu"`
	Finish  *float64 `json:"finish"`
	Starved *float64 `json:"waiting_for_jobs_in_flight"`
}

// Case is the mean of a plan's replications.
type Case struct {
	Scenario      string        `json:"scenario,omitempty"`
	HostPeakBytes int64         `json:"host_peak_bytes"`
	SecondsPerJob *float64      `json:"seconds_per_job"` // also where replications pass the limit, which is ignored
	OOMs          int           `json:"oom_replications"`
	Stalls        int           `json:"stall_replications"`
	AtPeak        []MeanHolding `json:"at_peak"`
	Partitions    *int          `json:"bound_partitions"`
}

// MeanHolding is what one owner holds at the peak in the mean.
type MeanHolding struct {
	Owner string  `json:"owner"`
	Count float64 `json:"count"`
	Bytes int64   `json:"bytes"`
}

// Fix is a single knob that lowers the peak. A change is the fix minus what there is.
type Fix struct {
	Knob                string   `json:"knob"`
	Settings            Settings `json:"settings"` // what --set would be given
	HostPeakBytes       int64    `json:"host_peak_bytes"`
	SecondsPerJob       *float64 `json:"seconds_per_job"`
	ChangeBytes         int64    `json:"change_bytes"`
	ChangeSecondsPerJob *float64 `json:"change_seconds_per_job"`
	OOMs                int      `json:"oom_replications"`
	RemovesOOM          bool     `json:"removes_oom"`
	RemovesDifference   *bool    `json:"removes_difference,omitempty"` // of two scenarios
}

// Difference is the difference between two scenarios, B minus A, as JSON.
type Difference struct {
	Schema                  int      `json:"schema"`
	Replications            int      `json:"replications"`
	A                       Case     `json:"a"`
	B                       Case     `json:"b"`
	DifferenceBytes         int64    `json:"difference_bytes"`
	DifferenceSecondsPerJob *float64 `json:"difference_seconds_per_job"`
	Shares                  []Share  `json:"shares"`
	Owners                  []Change `json:"owners"`
	Fixes                   []Fix    `json:"single_knob_fixes"`
	Warnings                []string `json:"warnings"`
}

// Share is the part of the differences that a knob causes.
type Share struct {
	Knob          string   `json:"knob"`
	A             Settings `json:"a"`
	B             Settings `json:"b"`
	Bytes         int64    `json:"bytes"`
	SecondsPerJob *float64 `json:"seconds_per_job"`
}

// Change is what an owner holds at both peaks.
type Change struct {
	Owner      string `json:"owner"`
	A          int64  `json:"bytes_a"`
	B          int64  `json:"bytes_b"`
	Difference int64  `json:"difference"`
}

// PairAnswer is how two scenarios, A and B, differ, and the warnings of each step.
type PairAnswer struct {
	A, B         string
	Replications int
	Of           *explain.Difference
	Warnings     [][]string
}

// NewExplanation returns the JSON of an explanation.
func NewExplanation(e *explain.Explanation, replications int, warnings []string) Explanation {
	u := &e.Result.Utilization
	out := Explanation{
		Run: NewRun(e.Result, warnings), Why: e.Why, Replications: replications,
		Mean: newCase("", e.Mean), Fixes: newFixes(e.Fixes, false),
		Utilization: Utilization{finite(u.Synth), finite(u.GPU), finite(u.Finish), finite(u.Starved)},
	}
	out.Schema = Schema
	return out
}

// Difference returns the JSON of the answer.
func (d *PairAnswer) Difference() Difference {
	c := d.Of
	out := Difference{
		Schema: Schema, Replications: d.Replications, A: newCase(d.A, c.A), B: newCase(d.B, c.B),
		DifferenceBytes: int64(c.Bytes), DifferenceSecondsPerJob: finite(c.SecondsPerJob),
		Shares: []Share{}, Owners: []Change{}, Fixes: newFixes(c.Fixes, true),
		Warnings: append([]string{}, distinct(d.Warnings)...),
	}
	for _, s := range c.Shares {
		share := Share{Knob: s.Knob.Name, Bytes: int64(s.Bytes), SecondsPerJob: finite(s.SecondsPerJob)}
		for _, k := range s.Knob.Settings {
			share.A, share.B = append(share.A, k.Key+"="+k.From), append(share.B, k.Key+"="+k.To)
		}
		out.Shares = append(out.Shares, share)
	}
	for _, o := range c.Owners {
		out.Owners = append(out.Owners, Change{string(o.Owner), int64(o.A.Bytes), int64(o.B.Bytes), int64(o.Difference)})
	}
	return out
}

func newCase(name string, c *explain.Case) Case {
	out := Case{
		Scenario: name, HostPeakBytes: int64(c.Peak), SecondsPerJob: finite(c.SecondsPerJob),
		OOMs: c.OOMs, Stalls: c.Stalls, AtPeak: []MeanHolding{},
	}
	for _, h := range c.AtPeak {
		out.AtPeak = append(out.AtPeak, MeanHolding{string(h.Owner), h.Count, int64(h.Bytes)})
	}
	if c.Bound.Partitions != 0 {
		out.Partitions = new(c.Bound.Partitions)
	}
	return out
}

func newFixes(list []*explain.Fix, two bool) []Fix {
	out := []Fix{}
	for _, f := range list {
		fix := Fix{
			Knob: f.Knob.Name, Settings: settings(f.Knob), OOMs: f.Case.OOMs, RemovesOOM: f.RemovesOOM,
			HostPeakBytes: int64(f.Case.Peak), SecondsPerJob: finite(f.Case.SecondsPerJob),
			ChangeBytes: int64(f.Bytes), ChangeSecondsPerJob: finite(f.SecondsPerJob),
		}
		if two {
			fix.RemovesDifference = new(f.RemovesDifference)
		}
		out = append(out, fix)
	}
	return out
}

// settings returns what turns a knob.
func settings(k explain.Knob) Settings {
	var list Settings
	for _, s := range k.Settings {
		list = append(list, s.Key+"="+s.To)
	}
	return list
}
