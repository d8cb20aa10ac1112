package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"headroom/model"
)

// The views show values to encoding/json as they stand in the file. They point into the values, so that one view
// serves for writing and for reading.

// whole is a size or a span written as a whole number instead of with a unit.
type whole int64

// IsZero keeps zeros out of the file.
func (w *whole) IsZero() bool { return w == nil || *w == 0 }

// wholes is a list of sizes written as whole numbers.
type wholes []model.Bytes

// IsZero keeps an empty list out of the file.
func (w *wholes) IsZero() bool { return w == nil || len(*w) == 0 }

// MarshalJSON writes the numbers.
func (w *wholes) MarshalJSON() ([]byte, error) {
	var numbers []int64
	for _, size := range *w {
		numbers = append(numbers, int64(size))
	}
	return json.Marshal(numbers)
}

// UnmarshalJSON reads the numbers.
func (w *wholes) UnmarshalJSON(text []byte) error {
	var numbers []int64
	err := json.Unmarshal(text, &numbers)
	*w = nil
	for _, n := range numbers {
		*w = append(*w, model.Bytes(n))
	}
	return err
}

type headerView struct {
	*Header
	Units   units       `json:"units"`
	Machine machineView `json:"machine"`
	Kinds   []kindView  `json:"kinds"`
	Limit   *whole      `json:"limit_bytes,omitzero"`
	Cap     *whole      `json:"cap_bytes,omitzero"`
}

type units struct {
	Time   string `json:"time"`
	Memory string `json:"memory"`
}

var theUnits = units{Time: "ns", Memory: "bytes"}

type machineView struct {
	*Machine
	RAM *whole `json:"ram_bytes,omitzero"`
}

// kindView is a kind with its stages as names.
type kindView struct {
	Name       string        `json:"name"`
	Partitions int           `json:"partitions"`
	Priority   int           `json:"priority,omitempty"`
	Stages     []model.Stage `json:"stages"`
}

func viewHeader(h *Header) *headerView {
	v := &headerView{
		Header:  h,
		Units:   theUnits,
		Machine: machineView{&h.Machine, (*whole)(&h.Machine.RAM)},
		Limit:   (*whole)(&h.LimitBytes),
		Cap:     (*whole)(&h.CapBytes),
	}
	for _, k := range h.Kinds {
		kind := kindView{Name: k.Name, Partitions: k.Partitions, Priority: k.Priority}
		for s := model.Load; s < model.NumStages; s++ {
			if k.Stages.Has(s) {
				kind.Stages = append(kind.Stages, s)
			}
		}
		v.Kinds = append(v.Kinds, kind)
	}
	return v
}

// check moves the kinds of a header that was read into it and reports what is wrong with the header.
func (v *headerView) check() error {
	h := v.Header
	switch {
	case len(v.Kinds) == 0 || len(v.Kinds) > maxKinds:
		return fmt.Errorf("kinds has %d: from 1 to %d", len(v.Kinds), maxKinds)
	case len(h.Devices) > int(model.MaxDevices):
		return fmt.Errorf("devices has %d: at most %d", len(h.Devices), model.MaxDevices)
	}
	for _, k := range v.Kinds {
		kind := model.Kind{Name: k.Name, Partitions: k.Partitions, Priority: k.Priority}
		kind.Stages = kind.Stages.With(k.Stages...)
		h.Kinds = append(h.Kinds, kind)
	}
	var f model.Faults
	if v.Units != theUnits {
		f.Add("units", "are %q and %q: this version reads %q and %q",
			v.Units.Time, v.Units.Memory, theUnits.Time, theUnits.Memory)
	}
	if h.Clock != Virtual && h.Clock != Monotonic {
		f.Add("clock", "is %q: one of %s, %s", h.Clock, Virtual, Monotonic)
	}
	for i, k := range h.Kinds {
		at := fmt.Sprintf("kinds[%d]", i)
		if k.Partitions < 1 || k.Partitions > model.MaxPartitions {
			f.Add(at+".partitions", "is %d: from 1 to %d", k.Partitions, model.MaxPartitions)
		}
		if !k.Stages.Has(model.Synth) || !k.Stages.Has(model.Kernel) || k.Stages.Has(model.NoStage) {
			f.Add(at+".stages", "are %s: stages by name, synth and kernel always", k.Stages)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.Blocks)) {
		blocks := h.Blocks[name]
		checkBlocks(&f, &blocks, "blocks."+name)
	}
	for _, name := range slices.Sorted(maps.Keys(h.Keys)) {
		f.Size("keys."+name+".host", h.Keys[name].Host, 0)
		f.Size("keys."+name+".device", h.Keys[name].Device, 0)
	}
	for _, name := range slices.Sorted(maps.Keys(h.Circuits)) {
		circuit := h.Circuits[name]
		f.Join(circuit.Validate("circuits." + name))
	}
	f.Size("limit_bytes", h.LimitBytes, 0)
	f.Size("cap_bytes", h.CapBytes, 0)
	for i := range h.Devices {
		h.Devices[i].check(&f, fmt.Sprintf("devices[%d]", i))
	}
	f.Size("machine.ram_bytes", h.Machine.RAM, 0)
	f.Join(h.Config.Validate(nil))
	f.Join(h.Workload.Validate())
	return f.Err()
}

func (d *Device) check(f *model.Faults, at string) {
	f.Size(at+".total", d.Total, 0)
	f.Size(at+".driver", d.Driver, 0)
	f.Size(at+".keys", d.Keys, 0)
	f.Size(at+".used", d.Used, 0)
}

// maxKinds is more kinds than any workload has.
const maxKinds = 1 << 12

type memoryView struct {
	RSS        *whole `json:"rss_bytes,omitzero"`
	Anon       *whole `json:"anon_bytes,omitzero"`
	File       *whole `json:"file_bytes,omitzero"`
	Shmem      *whole `json:"shmem_bytes,omitzero"`
	Cgroup     *whole `json:"cgroup_bytes,omitzero"`
	CgroupPeak *whole `json:"cgroup_peak_bytes,omitzero"`
	VRAM       *whole `json:"vram_bytes,omitzero"`
	Pinned     *whole `json:"pinned_bytes,omitzero"`
}

func viewMemory(m *Memory) memoryView {
	return memoryView{
		RSS: (*whole)(&m.RSSBytes), Anon: (*whole)(&m.AnonBytes), File: (*whole)(&m.FileBytes),
		Shmem:  (*whole)(&m.ShmemBytes),
		Cgroup: (*whole)(&m.CgroupBytes), CgroupPeak: (*whole)(&m.CgroupPeakBytes),
		VRAM: (*whole)(&m.VRAMBytes), Pinned: (*whole)(&m.PinnedBytes),
	}
}

func (m *Memory) check(f *model.Faults) {
	for _, size := range []struct {
		key   string
		bytes model.Bytes
	}{
		{"rss_bytes", m.RSSBytes}, {"anon_bytes", m.AnonBytes}, {"file_bytes", m.FileBytes}, {"shmem_bytes", m.ShmemBytes},
		{"cgroup_bytes", m.CgroupBytes}, {"cgroup_peak_bytes", m.CgroupPeakBytes},
		{"vram_bytes", m.VRAMBytes}, {"pinned_bytes", m.PinnedBytes},
	} {
		f.Size(size.key, size.bytes, 0)
	}
}

type sampleView struct {
	memoryView
	*Sample
}

func viewSample(s *Sample) *sampleView { return &sampleView{viewMemory(&s.Memory), s} }

func (s *Sample) check() error {
	var f model.Faults
	s.Memory.check(&f)
	if s.PSISomeMicros < 0 || s.PSIFullMicros < 0 {
		f.Add("psi_some_us, psi_full_us", "are %d and %d: at least 0", s.PSISomeMicros, s.PSIFullMicros)
	}
	return f.Err()
}

func (b *Baseline) check() error {
	var f model.Faults
	b.Memory.check(&f)
	return f.Err()
}

type endView struct {
	*End
	Makespan   *whole  `json:"makespan_ns,omitzero"`
	Peak       *whole  `json:"peak_bytes,omitzero"`
	VmHWM      *whole  `json:"vm_hwm_bytes,omitzero"`
	CgroupPeak *whole  `json:"cgroup_peak_bytes,omitzero"`
	VRAMPeak   *wholes `json:"vram_peak_bytes,omitzero"`
}

func viewEnd(e *End) *endView {
	return &endView{e, (*whole)(&e.MakespanNs), (*whole)(&e.PeakBytes), (*whole)(&e.VmHWMBytes),
		(*whole)(&e.CgroupPeakBytes), (*wholes)(&e.VRAMPeakBytes)}
}

func (e *End) check() error {
	var f model.Faults
	switch e.Outcome {
	case Finished, OOM, Killed, Broken, Cancelled:
	default:
		f.Add("outcome", "is %q: one of %s, %s, %s, %s, %s", e.Outcome, Finished, OOM, Killed, Broken, Cancelled)
	}
	if e.JobsDone < 0 || e.ProofsVerified < 0 || e.MakespanNs < 0 {
		f.Add("jobs_done, proofs_verified, makespan_ns", "are %d, %d and %d: at least 0",
			e.JobsDone, e.ProofsVerified, int64(e.MakespanNs))
	}
	f.Size("peak_bytes", e.PeakBytes, 0)
	f.Size("vm_hwm_bytes", e.VmHWMBytes, 0)
	f.Size("cgroup_peak_bytes", e.CgroupPeakBytes, 0)
	for i, size := range e.VRAMPeakBytes {
		f.Size(fmt.Sprintf("vram_peak_bytes[%d]", i), size, 0)
	}
	return f.Err()
}
