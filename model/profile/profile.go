// Package profile holds what is known about a prover on a machine: how long its stages take, what they hold
// in memory, how they slow each other down, and where each number comes from.
package profile

import "headroom/model"

// Source says how a number was come by.
type Source string

// The sources of numbers, from the most to the least trustworthy.
const (
	Measured Source = "measured" // read off a run
	Derived  Source = "derived"  // arithmetic on measured numbers
	Fitted   Source = "fitted"   // chosen so that the simulator reproduces measured runs
	Assumed  Source = "assumed"  // neither; say why in the profile's notes
)

// Quantity is a number with its 95 % interval and its source. In files a bare number is a quantity without an
// interval. Low and High are both zero when no interval is known.
type Quantity[T ~int64 | ~float64] struct {
	Value  T
	Low    T
	High   T
	Source Source
}

// Exactly returns a quantity that is known without an interval.
func Exactly[T ~int64 | ~float64](value T) Quantity[T] { return Quantity[T]{Value: value} }

// HasInterval reports whether the quantity carries an interval.
func (q Quantity[T]) HasInterval() bool { return q.Low != 0 || q.High != 0 }

// Profile is the calibration of a prover on a machine.
type Profile struct {
	Name       string
	Provenance Provenance
	Baseline   Quantity[model.Bytes] // resident before the first job, without the resident data
	// DeviceBaseline is what a device holds for as long as the prover runs: its context and what is cached there.
	DeviceBaseline Quantity[model.Bytes]
	// Scatter is the standard deviation of resident memory at one moment about what the footprints add up to: what heaps
	// and allocators make of it. Absent if it is not known.
	Scatter Quantity[model.Bytes]
	// Off is by how much resident memory is off in a profile that was drawn; it is not part of a file.
	Off          model.Bytes
	Resident     []model.Resident
	Interference Interference
	Kinds        []Kind // sorted by name
}

// Kind returns the kind of that name, or nil.
func (p *Profile) Kind(name string) *Kind {
	for i := range p.Kinds {
		if p.Kinds[i].Name == name {
			return &p.Kinds[i]
		}
	}
	return nil
}

// Provenance says what a profile was made from, so that a reader can tell whether it applies to a machine.
type Provenance struct {
	Machine  string            `yaml:"machine,omitempty"`
	Versions map[string]string `yaml:"versions,omitempty"` // program or library to version
	Traces   []TraceRef        `yaml:"traces,omitempty"`
	Notes    []string          `yaml:"notes,omitempty"`
	// Fit says how well the profile reproduces the traces it was made from and those held out.
	Fit []FitQuality `yaml:"fit,omitempty"`
}

// TraceRef names a trace that a profile was made from.
type TraceRef struct {
	Path       string `yaml:"path"`
	SHA256     string `yaml:"sha256"`
	Jobs       int    `yaml:"jobs"`
	Partitions int    `yaml:"partitions"`
}

// FitQuality is the error of the profile on one trace: predicted over measured, minus one.
type FitQuality struct {
	Trace         string      `yaml:"trace"`
	HeldOut       bool        `yaml:"held_out"`
	PeakError     float64     `yaml:"peak_error"`
	SecondsError  float64     `yaml:"seconds_per_job_error"`
	MeasuredPeak  model.Bytes `yaml:"measured_peak"`
	PredictedPeak model.Bytes `yaml:"predicted_peak"`
}

// Kind is a kind of job as calibrated.
type Kind struct {
	Name       string
	Circuit    *model.Circuit // nil when the live prover cannot run it
	Partitions int
	Priority   int
	Keys       Keys
	Work       map[model.Stage]Work // a stage that is missing here does not exist
	// BG2 is what the G2 multi-scalar multiplication takes; nil where only the side is known that it was recorded on,
	// which is then the only one that the kind can be simulated with.
	BG2       *BG2
	Footprint Footprint
}

// Keys are what is resident of a kind from before the first job to the end, where the workload has it.
type Keys struct {
	Host   Quantity[model.Bytes] `yaml:"host"`
	Device Quantity[model.Bytes] `yaml:"device"` // on each device
}

// Baselines returns what is resident on the host and on each device before the first job of a workload of these kinds,
// without the resident data.
func (p *Profile) Baselines(kinds []Kind) (host, device model.Bytes) {
	host, device = p.Baseline.Value, p.DeviceBaseline.Value
	for i := range kinds {
		host += kinds[i].Keys.Host.Value
		device += kinds[i].Keys.Device.Value
	}
	return host, device
}

// BG2 is the G2 multi-scalar multiplication of a kind. The work of the stages contains it on the side where it was
// recorded.
type BG2 struct {
	Recorded model.Side           `yaml:"recorded"`
	Host     Quantity[model.Span] `yaml:"host"`   // of the finish
	Device   Quantity[model.Span] `yaml:"device"` // of the kernel
}

// Model returns what the core must know about the kind.
func (k *Kind) Model() model.Kind {
	var stages model.StageSet
	for s := range k.Work {
		stages = stages.With(s)
	}
	return model.Kind{Name: k.Name, Partitions: k.Partitions, Priority: k.Priority, Stages: stages}
}

// Law is the family of a distribution.
type Law string

// The laws of work. Of each the mean is given; the coefficient of variation is 0 for a constant, 1 for an
// exponential, and free for a lognormal.
const (
	Constant    Law = "constant"
	Lognormal   Law = "lognormal"
	Exponential Law = "exponential"
)

// Work is the distribution of the time that a stage takes when nothing else runs. For Dealloc it is the time
// to free a whole partition, shared between its blocks by their sizes.
type Work struct {
	Law  Law                  `yaml:"law"`
	Mean Quantity[model.Span] `yaml:"mean"`
	CV   Quantity[float64]    `yaml:"cv"` // standard deviation over mean, of one partition
	// JobCV is the coefficient of variation of a factor that all partitions of one job share.
	JobCV Quantity[float64] `yaml:"job_cv"`
	// Batch is how much of the work each further proof of a batch adds; nil: as much as the first.
	Batch *Quantity[float64] `yaml:"batch"`
}

// Footprint is the memory that a job and its partitions hold.
type Footprint struct {
	Parse      Quantity[model.Bytes] `yaml:"parse"`      // a job's parse buffer, until its last finish
	Vectors    Quantity[model.Bytes] `yaml:"vectors"`    // from the end of synthesis until freed at free_vectors
	Assignment Quantity[model.Bytes] `yaml:"assignment"` // from the end of synthesis until freed after the finish
	// Call is what a proof call allocates at its first stage on a GPU worker; it goes with the assignment.
	Call Quantity[model.Bytes] `yaml:"call"`
	// During is what a stage holds besides while it runs, as points over its progress. For Synth it is all
	// that a partition holds until its synthesis is over.
	During map[model.Stage][]Point `yaml:"during"`
	// Freeing is the part of a block that is held, on average, while Dealloc frees it, from 0 to 1; nil: all of it.
	Freeing *Quantity[float64] `yaml:"freeing"`
	// Pinned is the part of the vectors that is locked in host memory for the device.
	Pinned Quantity[model.Bytes] `yaml:"pinned"`
	// Shm is the part of the vectors that is in shared memory, which /dev/shm limits.
	Shm Quantity[model.Bytes] `yaml:"shm"`
	// VRAM is what a partition holds on its device while a stage runs there: Prep, Kernel or Tail. What it holds in
	// Prep it holds until the kernel begins, waiting for the lock included.
	VRAM map[model.Stage]Quantity[model.Bytes] `yaml:"vram"`
}

// Gone returns how much of so many bytes is gone, on average, while they are being freed.
func (f *Footprint) Gone(bytes model.Bytes) model.Bytes {
	if f.Freeing == nil {
		return 0
	}
	return model.Bytes((1 - f.Freeing.Value) * float64(bytes))
}

// Blocks returns the footprint's blocks.
func (f *Footprint) Blocks() model.Blocks {
	return model.Blocks{Parse: f.Parse.Value, Vectors: f.Vectors.Value, Assignment: f.Assignment.Value, Call: f.Call.Value}
}

// Point is a corner of a piecewise linear footprint. Two points at one progress make a step.
type Point struct {
	Progress float64 // 0 at the start of the stage, 1 at its end
	Bytes    Quantity[model.Bytes]
}

// Interference says how stages that run at the same time slow each other down. A stage's slowdown is the
// product of its slowdown laws and of the worst share that it gets of a resource.
type Interference struct {
	Slowdowns []Slowdown `yaml:"slowdowns"`
	Resources []Resource `yaml:"resources"`
}

// Slowdown makes Stage slower by a factor that depends on how many By run; for By equal to Stage the running
// one counts too. The factor is 1 at one runner of the stage itself, or at none of another stage, linear from
// there through the points, and goes on with the last slope.
type Slowdown struct {
	Stage  model.Stage     `yaml:"stage"`
	By     model.Stage     `yaml:"by"`
	Points []SlowdownPoint `yaml:"points"`
}

// SlowdownPoint is a corner of a slowdown law: with N running, work takes Factor times as long.
type SlowdownPoint struct {
	N      int
	Factor Quantity[float64]
}

// Resource is a capacity that the running stages share max-min fairly, such as cores. A stage that gets less
// than its demand is slower in that proportion.
type Resource struct {
	Name     string                            `yaml:"name"`
	Capacity Quantity[float64]                 `yaml:"capacity"`
	Demand   map[model.Stage]Quantity[float64] `yaml:"demand"` // of one runner
}
