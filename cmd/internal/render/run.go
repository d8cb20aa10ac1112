package render

import (
	"encoding/json"
	"strings"

	"headroom/model"
	"headroom/sim"
)

// Run is a simulated run as JSON. Pointers are nil where there is no value.
type Run struct {
	Schema        int       `json:"schema,omitempty"` // left out in a list of runs
	Settings      Settings  `json:"settings,omitempty"`
	Verdict       string    `json:"verdict"`
	Reason        string    `json:"reason"`
	HostPeakBytes *int64    `json:"host_peak_bytes"`
	PeakAtS       *float64  `json:"peak_at_s"`
	LimitBytes    *int64    `json:"limit_bytes"`
	LimitName     *string   `json:"limit_name"`
	LimitFile     *string   `json:"limit_file"` // of this host that it was read from; nil for a described machine
	SecondsPerJob *float64  `json:"seconds_per_job"`
	MakespanS     *float64  `json:"makespan_s"`
	JobsDone      *float64  `json:"jobs_done"` // of replications: the mean
	Bottleneck    *string   `json:"bottleneck"`
	AtPeak        []Holding `json:"at_peak"`
	Bounds        Bounds    `json:"bounds"`
	// LedgerPeakBytes is the most that was reserved at once; nil without a budget.
	LedgerPeakBytes *int64 `json:"ledger_peak_bytes"`
	// PinnedPeakBytes is the most that was pinned at once; nil if the profile knows nothing of it.
	PinnedPeakBytes *int64 `json:"pinned_peak_bytes"`
	// ShmPeakBytes is the most that was in shared memory at once; likewise.
	ShmPeakBytes *int64       `json:"shm_peak_bytes"`
	Devices      []DevicePeak `json:"devices"` // empty if the profile knows nothing of their memory
	Warnings     []string     `json:"warnings"`
}

// DevicePeak is the most that a device held at once, its limit, nil: none is known, and what partitions held then.
type DevicePeak struct {
	PeakBytes  int64           `json:"vram_peak_bytes"`
	LimitBytes *int64          `json:"limit_bytes"`
	AtPeak     []DeviceHolding `json:"at_peak"`
}

// DeviceHolding is what the partitions of a kind in one stage held on a device.
type DeviceHolding struct {
	Kind  string `json:"kind"`
	Stage string `json:"stage"`
	Count int    `json:"count"`
	Bytes int64  `json:"bytes"`
}

// Holding is what one owner holds at the peak.
type Holding struct {
	Owner string `json:"owner"`
	Count int    `json:"count"`
	Bytes int64  `json:"bytes"`
}

// Bounds is the worst case by structure; what nothing bounds is nil.
type Bounds struct {
	Partitions *int    `json:"partitions"`
	Bytes      *int64  `json:"bytes"`
	Formula    *string `json:"formula"`
}

// NewRun returns the JSON of a run.
func NewRun(r *sim.Result, warnings []string) Run {
	out := Run{
		Verdict:       string(r.Verdict),
		Reason:        r.Reason,
		HostPeakBytes: new(int64(r.Peak)),
		PeakAtS:       new(r.PeakAt.Seconds()),
		SecondsPerJob: finite(r.SecondsPerJob),
		MakespanS:     new(r.Makespan.Seconds()),
		JobsDone:      new(float64(r.JobsDone)),
		Bottleneck:    new(r.Bottleneck),
		AtPeak:        []Holding{},
		Warnings:      append([]string{}, warnings...),
	}
	if r.Verdict.Over() {
		out.SecondsPerJob = nil // also of a run that went on: no machine would have let it
	}
	out.setLimit(r.Limit)
	for _, h := range r.AtPeak {
		out.AtPeak = append(out.AtPeak, Holding{string(h.Owner), h.Count, int64(h.Bytes)})
	}
	out.setBooks(r)
	out.Bounds.Formula = new(r.Bound.Formula)
	if r.Bound.Partitions != 0 {
		out.Bounds.Partitions = new(r.Bound.Partitions)
		out.Bounds.Bytes = new(int64(r.BoundBytes))
	}
	return out
}

func (r *Run) setLimit(l model.Limit) {
	if l.Bytes != 0 {
		r.LimitBytes, r.LimitName = new(int64(l.Bytes)), new(l.Name)
	}
	if l.File != "" {
		r.LimitFile = new(l.File)
	}
}

// setBooks sets what the other books came to, where they have something.
func (r *Run) setBooks(from *sim.Result) {
	if from.LedgerPeak > 0 {
		r.LedgerPeakBytes = new(int64(from.LedgerPeak))
	}
	if from.PinnedPeak > 0 {
		r.PinnedPeakBytes = new(int64(from.PinnedPeak))
	}
	if from.SharedPeak > 0 {
		r.ShmPeakBytes = new(int64(from.SharedPeak))
	}
	r.Devices = []DevicePeak{}
	for _, d := range from.Devices {
		if d.Peak == 0 {
			continue
		}
		device := DevicePeak{PeakBytes: int64(d.Peak), AtPeak: []DeviceHolding{}}
		if d.Limit > 0 {
			device.LimitBytes = new(int64(d.Limit))
		}
		for _, h := range d.AtPeak {
			device.AtPeak = append(device.AtPeak, DeviceHolding{h.Kind, h.Stage.String(), h.Count, int64(h.Bytes)})
		}
		r.Devices = append(r.Devices, device)
	}
}

// Refused returns the JSON of a plan that was not run, and why.
func Refused(reason string) Run {
	return Run{Verdict: string(sim.Refuse), Reason: reason, AtPeak: []Holding{}, Devices: []DevicePeak{}, Warnings: []string{}}
}

// Settings is what --set changed: key=value each.
type Settings []string

// MarshalJSON writes an object of keys to values. A value that is JSON, such as a number, stands as it is and any
// other as a string.
func (s Settings) MarshalJSON() ([]byte, error) {
	object := make(map[string]json.RawMessage, len(s))
	for _, setting := range s {
		key, value, _ := strings.Cut(setting, "=")
		raw := json.RawMessage(value)
		if !json.Valid(raw) {
			quoted, err := json.Marshal(value)
			if err != nil {
				return nil, err
			}
			raw = quoted
		}
		object[key] = raw
	}
	return json.Marshal(object)
}

// keys returns the keys in the order given.
func (s Settings) keys() []string {
	list := make([]string, len(s))
	for i, setting := range s {
		list[i], _, _ = strings.Cut(setting, "=")
	}
	return list
}

// values returns the values in the order given.
func (s Settings) values() []string {
	list := make([]string, len(s))
	for i, setting := range s {
		_, list[i], _ = strings.Cut(setting, "=")
	}
	return list
}
