package calibrate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
)

// Options says what Fit cannot read from the traces.
type Options struct {
	Name string // of the profile
	// Sources says where each trace came from; nil: a trace is known by the hash of what it holds.
	Sources []Source
	// Progress is told how many steps are done, of how many: one for the fit, and one for each trace that it is held
	// against. It may be nil.
	Progress func(done, of int)
}

// Source is the file of a trace.
type Source struct {
	Path   string
	SHA256 string // in hexadecimal digits; empty: of what the trace holds, not of the file
}

// Report is what Fit has to say about a profile besides the profile.
type Report struct {
	// Good tells whether the profile predicts each trace, when that was left out, to within Tolerance: the median
	// error both of the peak above the baseline and of seconds per job. Everything is then fitted again without the
	// trace, the forms of interference and footprints too. With one trace it cannot be told and is false.
	Good bool `json:"good"`
	// LeftOut is how far these predictions were off; nil if there is none.
	LeftOut *LeftOut `json:"left_out"`
	// Record says what to record so that the profile becomes good, or better.
	Record       []string    `json:"record"`
	Warnings     []string    `json:"warnings"`
	Interference []Candidate `json:"interference"` // the forms that were tried, in that order
	// Drift is by how much the speed of the machine differed between the traces, beyond what their jobs explain: a
	// standard deviation, as a part of the speed. What it says of a run is in the intervals of the means.
	Drift float64 `json:"drift"`
	// Retention is what stayed resident above the baseline when everything had been freed, in bytes: the median over
	// the traces that had no pool and were watched for long enough, or less than 0 if none was.
	Retention model.Bytes `json:"retention_bytes"`
	// Noise is the robust standard deviation of a sample of resident memory about what the footprints say.
	Noise   model.Bytes `json:"sample_noise_bytes"`
	Samples int         `json:"samples"` // that the footprints were fitted to
}

// LeftOut is how far the predictions of traces were off that were each left out in turn.
type LeftOut struct {
	Peak    Off `json:"peak_above_baseline"`
	Seconds Off `json:"seconds_per_job"`
}

// Off is how far predictions were off, as parts of what was measured.
type Off struct {
	Median  float64 `json:"median"`
	Largest float64 `json:"largest"`
}

// Tolerance is the error of a prediction that is still good, as a part of what was measured.
const Tolerance = 0.05

// Fit calibrates a profile from traces that were recorded of the same kinds on the same machine, best of several
// configurations. The result does not depend on the order of the traces. It is an error if a trace does not fit the
// others, has no samples of memory or no baseline, or if there are too few jobs to tell how they vary.
func Fit(traces []*trace.Trace, o Options) (*profile.Profile, *Report, error) {
	in, err := newInputs(traces, o.Sources)
	if err != nil {
		return nil, nil, err
	}
	done := in.steps(o.Progress)
	f, err := in.fit()
	if err != nil {
		return nil, nil, err
	}
	done()
	p := f.profile(o.Name)
	r := &Report{
		Warnings: slices.Concat(in.warnings, f.unsettled, f.unequal()), Interference: f.candidates, Drift: f.drift,
		Retention: in.retention(), Noise: model.Bytes(f.memory.sigma), Samples: f.memory.readings,
	}
	if err := in.judge(p, f, r, done); err != nil {
		return nil, nil, err
	}
	f.explain(p, r)
	if err := p.Validate(); err != nil {
		return nil, nil, fmt.Errorf("calibrate: %w", err)
	}
	return p, r, nil
}

// fitted is what the histories come to.
type fitted struct {
	inputs     *inputs // those that were used
	evidence   *evidence
	chosen     *tried
	candidates []Candidate
	laws       map[key]profile.Work
	shifts     [][]float64 // of the numbers of the interference, by number and cluster
	errors     []float64   // of those numbers
	memory     *estimate
	freeing    []*profile.Quantity[float64] // by kind: the part that is held while it is freed
	precision  map[key]float64              // standard errors of the means as parts of them, but for the drift
	drift      float64
	dropped    int      // samples
	unsettled  []string // warnings
}

// choosingJobs is how many jobs of each trace the form of the interference is chosen by. Its numbers are fitted to all.
const choosingJobs = 100

// fit chooses the form of the interference and fits everything.
func (in *inputs) fit() (*fitted, error) {
	out := &fitted{inputs: in, evidence: newEvidence(in.histories, math.MaxInt)}
	few := newEvidence(in.histories, choosingJobs)
	var err error
	if out.chosen, out.candidates, err = few.choose(in.machine.Cores); err != nil {
		return nil, err
	}
	if out.chosen.x, err = out.evidence.fit(out.chosen.family, out.chosen.x, everyone); err != nil {
		return nil, err
	}
	unsettled := slices.Concat(few.unsettled, out.evidence.unsettled)
	slices.Sort(unsettled)
	for _, name := range slices.Compact(unsettled) {
		warning := fmt.Sprintf("the numbers of %q had not settled after %d steps", name, mostSteps)
		out.unsettled = append(out.unsettled, warning)
	}
	if err := out.fitWork(); err != nil {
		return nil, err
	}
	return out, out.fitMemory()
}

// steps returns what to call after each step.
func (in *inputs) steps(progress func(done, of int)) func() {
	done := 0
	return func() {
		done++
		if progress != nil {
			progress(done, 1+len(in.histories))
		}
	}
}

// fitWork fits the law of each stage under the chosen interference.
func (f *fitted) fitWork() error {
	e := f.evidence
	influence, err := e.influence(f.chosen)
	if err != nil {
		return err
	}
	f.shifts = influence.shifts
	numbers := 1 + len(f.shifts)
	for _, s := range f.shifts {
		f.errors = append(f.errors, deviation(s, numbers))
	}
	samples := e.samples(e.observe(f.chosen.interference()))
	below, above := make([]map[key]*sample, len(influence.steps)), make([]map[key]*sample, len(influence.steps))
	for i := range influence.steps {
		below[i], above[i] = e.samples(influence.below[i]), e.samples(influence.above[i])
	}
	f.laws, f.precision = map[key]profile.Work{}, map[key]float64{}
	for k, s := range samples {
		shifts := s.shifts(e.clusters)
		for i, step := range influence.steps {
			slope := (above[i][k].mean() - below[i][k].mean()) / (2 * step)
			for c := range shifts {
				shifts[c] += slope * influence.shifts[i][c]
			}
		}
		f.laws[k] = s.law(deviation(shifts, numbers))
		f.precision[k] = deviation(shifts, numbers) / s.mean()
	}
	f.drift = f.speedDrift()
	f.widen()
	return nil
}

func (t *tried) interference() profile.Interference { return t.family.interference(t.x, nil) }

// profile puts the numbers together.
func (f *fitted) profile(name string) *profile.Profile {
	in := f.inputs
	p := &profile.Profile{
		Name: name, Baseline: in.baseline(), DeviceBaseline: in.deviceBaseline(),
		Scatter:      profile.Quantity[model.Bytes]{Value: model.Bytes(f.memory.sigma), Source: profile.Fitted},
		Interference: f.chosen.family.interference(f.chosen.x, f.errors),
	}
	onDevices := in.deviceFootprints()
	for k, kind := range in.kinds {
		out := profile.Kind{
			Name: kind.Name, Circuit: in.circuits[k], Partitions: kind.Partitions, Priority: kind.Priority,
			Keys: keysOf(in.keys[k]), Work: map[model.Stage]profile.Work{}, Footprint: f.memory.footprint(k),
		}
		out.Footprint.VRAM, out.Footprint.Freeing = onDevices[k], f.freeing[k]
		out.Footprint.Pinned = told(min(in.pinned(kind.Name), out.Footprint.Vectors.Value))
		if in.histories[0].trace.Header.Config.GPU.BG2 == model.OnDevice {
			out.BG2 = &profile.BG2{Recorded: model.OnDevice}
		}
		for s := model.Parse; s < model.NumStages; s++ {
			if law, there := f.laws[key{k, s}]; there {
				out.Work[s] = law
			}
		}
		p.Kinds = append(p.Kinds, out)
	}
	if q, _ := f.memory.column(offset); q.Value > 0 {
		p.Resident = []model.Resident{{Name: retained, Bytes: q.Value}}
	}
	return p
}

// keysOf returns what the keys of a kind take, as a header tells.
func keysOf(k trace.Keys) profile.Keys {
	return profile.Keys{Host: told(k.Host), Device: told(k.Device)}
}

// told is a size that a header tells; nothing if it is 0.
func told(size model.Bytes) profile.Quantity[model.Bytes] {
	if size == 0 {
		return profile.Quantity[model.Bytes]{}
	}
	return profile.Quantity[model.Bytes]{Value: size, Source: profile.Derived}
}

// pinned returns what of a kind's vectors a pool pins, as a header tells; 0 if none does.
func (in *inputs) pinned(kind string) (size model.Bytes) {
	for _, h := range in.histories {
		size = max(size, h.trace.Header.Blocks[kind].Pinned)
	}
	return size
}

// retained is the resident data that stands for what a process keeps besides the baseline once it works.
const retained = "kept by the process at work"

// baseline is what was resident before the first jobs besides the resident data and the keys, as far as the headers tell
// what those take.
func (in *inputs) baseline() profile.Quantity[model.Bytes] {
	var readings []model.Bytes
	for _, h := range in.histories {
		keys, _ := h.keys()
		readings = append(readings, max(0, h.baseline()-keys))
	}
	return oneReading(readings)
}

// keys returns what the keys of a history's kinds take on the host and on each device, as far as its header tells.
func (h *history) keys() (host, device model.Bytes) {
	for _, k := range h.trace.Header.Kinds {
		keys := h.trace.Header.Keys[k.Name]
		host += keys.Host
		device += keys.Device
	}
	return host, device
}

// oneReading is the mean of some readings, with the interval of one more; nothing if there are none.
func oneReading(readings []model.Bytes) profile.Quantity[model.Bytes] {
	if len(readings) == 0 {
		return profile.Quantity[model.Bytes]{}
	}
	n := float64(len(readings))
	mean, squares := 0.0, 0.0
	for _, r := range readings {
		mean += float64(r) / n
	}
	for _, r := range readings {
		d := float64(r) - mean
		squares += d * d
	}
	q := profile.Quantity[model.Bytes]{Value: model.Bytes(math.Round(mean)), Source: profile.Measured}
	if n > 1 {
		width := model.Bytes(math.Round(half * student(n-1) * math.Sqrt(squares/(n-1)*(1+1/n))))
		q.Low, q.High = max(0, q.Value-width), q.Value+width
	}
	return q
}

// retention is what Report.Retention says.
func (in *inputs) retention() model.Bytes {
	var levels []model.Bytes
	for _, h := range in.histories {
		var over model.Instant
		for i := range h.busy {
			over = max(over, h.busy[i].end)
		}
		for _, s := range h.trace.Samples {
			if h.trace.End != nil && !h.pooled && s.At > over+model.Instant(trace.Guard) {
				levels = append(levels, h.above(&s))
				break
			}
		}
	}
	if len(levels) == 0 {
		return -1
	}
	slices.SortFunc(levels, cmp.Compare)
	return max(0, levels[len(levels)/2])
}

// sortedKeys returns the keys of the laws by kind and stage.
func (f *fitted) sortedKeys() []key {
	return slices.SortedFunc(maps.Keys(f.laws), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.stage, b.stage))
	})
}
