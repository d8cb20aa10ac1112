package calibrate

import (
	"errors"
	"fmt"
	"slices"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/sim"
)

// Metric is a predicted number beside the measured one.
type Metric struct {
	Name      string  `json:"name"` // ends in its unit
	Predicted Band    `json:"predicted"`
	Measured  float64 `json:"measured"`
	Error     float64 `json:"error"`  // predicted median over measured, minus one
	Inside    bool    `json:"inside"` // the measured number lies in the predicted band
}

// Comparison holds a trace against what a profile predicts of its configuration.
type Comparison struct {
	Profile      string        `json:"profile"`
	Replications int           `json:"replications"`
	Verdict      sim.Verdict   `json:"verdict"` // predicted
	Outcome      trace.Outcome `json:"outcome"` // measured; empty: the trace was cut off
	// VerdictRight tells whether the run came out as predicted; a verdict of risk is right either way.
	VerdictRight bool     `json:"verdict_right"`
	Metrics      []Metric `json:"metrics"`
	Warnings     []string `json:"warnings"`
}

// Metric returns the metric of that name, or nil.
func (c *Comparison) Metric(name string) *Metric {
	i := slices.IndexFunc(c.Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Metrics[i]
}

// The names of metrics; besides them there is busy_STAGE_s for each stage.
const (
	PeakBytes     = "peak_bytes"
	AboveBaseline = "peak_above_baseline_bytes"
	SecondsPerJob = "seconds_per_job"
	MakespanS     = "makespan_s"
	// DevicePeakBytes is what devices held at their peaks, all together; it is there where the trace has readings of them.
	DevicePeakBytes = "device_peak_bytes"
)

// Compare predicts the run that a trace is of, from that many replications, and holds the trace against it. Of a run
// that did not finish only the verdict and what its stages took are compared.
func Compare(p *profile.Profile, t *trace.Trace, replications int) (*Comparison, error) {
	var faults []error
	for _, k := range t.Header.Kinds {
		faults = append(faults, sameKind(p, &k, t.Header.Circuits))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	h, err := newHistory("the trace", t, make([]int, len(t.Header.Kinds)))
	if err != nil {
		return nil, err
	}
	plan := planOf(p, &t.Header)
	predicted, err := Predict(plan, replications)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Profile: p.Name, Replications: replications, Verdict: predicted.Verdict,
		Warnings: slices.Concat(t.Warnings, plan.Contradictions()),
	}
	if t.End != nil {
		c.Outcome = t.End.Outcome
	}
	c.judge(&t.Header)
	c.measure(predicted, h)
	return c, nil
}

// sameKind reports how the profile's kind differs from the trace's.
func sameKind(p *profile.Profile, k *model.Kind, circuits map[string]model.Circuit) error {
	known := p.Kind(k.Name)
	if known == nil {
		return fmt.Errorf("calibrate: the trace has jobs of kind %q, which profile %q does not have", k.Name, p.Name)
	}
	var faults []error
	if m := known.Model(); m.Partitions != k.Partitions || m.Stages != k.Stages {
		faults = append(faults, fmt.Errorf("calibrate: kind %q has %s and stages %s in the trace, "+
			"%d and %s in profile %q",
			k.Name, model.Counted(k.Partitions, "partition"), k.Stages, m.Partitions, m.Stages, p.Name))
	}
	if c, there := circuits[k.Name]; there && known.Circuit != nil && c != *known.Circuit {
		faults = append(faults, fmt.Errorf("calibrate: kind %q proves %s in the trace, %s in profile %q",
			k.Name, c, *known.Circuit, p.Name))
	}
	return errors.Join(faults...)
}

// planOf returns the plan of the run that a trace is of. What may be taken of a device is besides what that holds anyway,
// and data that was held besides what the prover keeps by itself does not replace that.
func planOf(p *profile.Profile, h *trace.Header) sim.Plan {
	machine := model.Machine{RAM: h.Machine.RAM, Cores: h.Machine.Cores, CgroupLimit: h.LimitBytes}
	if h.CapBytes > 0 {
		device := model.GPUSpec{VRAM: p.DeviceBaseline.Value + h.CapBytes}
		machine.GPUs = slices.Repeat([]model.GPUSpec{device}, int(h.Config.GPU.Devices))
	}
	config := h.Config
	if config.Resident != nil && !h.OwnData {
		kept := slices.DeleteFunc(slices.Clone(p.Resident), func(r model.Resident) bool {
			return slices.ContainsFunc(config.Resident, func(held model.Resident) bool { return held.Name == r.Name })
		})
		config.Resident = slices.Concat(config.Resident, kept)
	}
	return sim.Plan{Machine: machine, Config: config, Workload: h.Workload, Profile: p, Seed: 1}
}

// judge compares the verdict with how the run came out. A device that is too small fails the jobs that it has no room
// for, and the run goes on.
func (c *Comparison) judge(h *trace.Header) {
	died := c.Outcome == trace.OOM || c.Outcome == trace.Killed || h.CapBytes > 0 && c.Outcome == trace.Broken
	switch c.Verdict {
	case sim.Fits:
		c.VerdictRight = c.Outcome == trace.Finished
	case sim.OOM, sim.Refuse:
		c.VerdictRight = died
	case sim.Risk:
		c.VerdictRight = died || c.Outcome == trace.Finished
	}
}

// measure adds the metrics that the trace has.
func (c *Comparison) measure(p *Prediction, h *history) {
	add := func(name string, predicted Band, measured float64) {
		if measured <= 0 {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s was not measured", name))
			return
		}
		c.Metrics = append(c.Metrics, Metric{
			Name: name, Predicted: predicted, Measured: measured, Error: predicted.Median/measured - 1,
			Inside: predicted.Low <= measured && measured <= predicted.High,
		})
	}
	if c.Outcome == trace.Finished {
		peak, above := h.peak()
		add(PeakBytes, p.Peak, float64(peak))
		add(AboveBaseline, p.AboveBaseline, float64(above))
		if peak := h.devicePeak(); peak > 0 {
			add(DevicePeakBytes, p.DevicePeak, float64(peak))
		}
		add(SecondsPerJob, p.SecondsPerJob, h.secondsPerJob())
		add(MakespanS, p.Makespan, h.trace.End.MakespanNs.Seconds())
	}
	var spent [model.NumStages]model.Span
	var runs [model.NumStages]int
	for i := range h.busy {
		if b := &h.busy[i]; b.ended {
			spent[b.stage] += b.end.Sub(b.begin)
			runs[b.stage]++
		}
	}
	for s := model.Parse; s < model.NumStages; s++ {
		if runs[s] > 0 {
			add("busy_"+s.String()+"_s", p.busy[s], spent[s].Seconds()/float64(runs[s]))
		}
	}
}

// peak returns the most bytes that were resident: the kernel's high-water mark, else the highest sample, else that
// of a simulation. above is what of it was above the baseline; 0 without a reading of that.
func (h *history) peak() (peak, above model.Bytes) {
	if end := h.trace.End; end != nil {
		peak = max(end.VmHWMBytes, end.PeakBytes)
	}
	if peak == 0 {
		for i := range h.trace.Samples {
			peak = max(peak, h.trace.Samples[i].RSSBytes)
		}
	}
	if h.trace.Baseline != nil && peak > 0 {
		above = peak - h.baseline()
	}
	return peak, above
}

// secondsPerJob is the makespan over the jobs done; 0 if none was done or the trace has no end.
func (h *history) secondsPerJob() float64 {
	if h.trace.End == nil || h.jobsDone == 0 {
		return 0
	}
	return h.trace.End.MakespanNs.Seconds() / float64(h.jobsDone)
}

// devicePeak returns what the devices held at their peaks, all together, else the highest reading of all; 0 without any.
func (h *history) devicePeak() (peak model.Bytes) {
	if end := h.trace.End; end != nil {
		for _, most := range end.VRAMPeakBytes {
			peak += most
		}
	}
	if peak > 0 {
		return peak
	}
	for i := range h.trace.Samples {
		peak = max(peak, h.trace.Samples[i].VRAMBytes)
	}
	return peak
}
