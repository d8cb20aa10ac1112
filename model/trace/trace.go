// Package trace writes and reads the event stream of a run, live or simulated, as JSON Lines: a header, then the
// steps of the core with what the memory was in between, and an end. A file whose name ends in .zst is compressed
// with Zstandard; a reader goes by what the file holds and not by its name.
//
// An effect that takes or frees memory says how much, where the header knows the blocks of its kind or the resident
// data; a step says how many permits are free and how many partitions are in the channel and blocked before it.
//
// Times are whole nanoseconds since the run began, amounts of memory whole bytes, and whatever is zero is left
// out. A trace without an end is of a run that was cut off.
package trace

import "headroom/model"

// Schema is the version of the format that this package writes, and the newest that it reads.
const Schema = 1

// The clocks that the instants of a trace can be of.
const (
	Virtual   = "virtual"   // of a simulation
	Monotonic = "monotonic" // of the machine
)

// Header is the first line of a trace: what ran, with which configuration, and on what.
type Header struct {
	Schema      int                      `json:"schema"`           // 0 when writing: Schema
	Tool        string                   `json:"tool"`             // the program that wrote the trace, with its version
	Prover      string                   `json:"prover,omitempty"` // the library that proved, with its version
	Machine     Machine                  `json:"machine"`
	Clock       string                   `json:"clock"`             // Virtual or Monotonic
	Started     string                   `json:"started,omitempty"` // RFC 3339; empty for a simulation
	Config      model.Config             `json:"config"`
	Kinds       []model.Kind             `json:"kinds"`
	Circuits    map[string]model.Circuit `json:"circuits,omitempty"` // by name of the kind
	Blocks      map[string]model.Blocks  `json:"blocks,omitempty"`   // by name of the kind, where that is known
	Keys        map[string]Keys          `json:"keys,omitempty"`     // by name of the kind, where that is known
	Workload    model.Workload           `json:"workload"`
	ProfileHash string                   `json:"profile_hash,omitempty"` // SHA-256 in hexadecimal
	Seed        uint64                   `json:"seed,omitempty"`
	Replication uint32                   `json:"replication,omitempty"`
	Device      string                   `json:"device,omitempty"`    // cpu, virtual or cuda; empty for a simulation
	LimitBytes  model.Bytes              `json:"-"`                   // the limit of resident memory; 0: none
	CapBytes    model.Bytes              `json:"-"`                   // what the prover may take of each device; 0: all of it
	Mechanism   string                   `json:"mechanism,omitempty"` // what enforced the limit; empty: nothing did
	Forced      bool                     `json:"forced,omitempty"`    // run although it was predicted to break the limit
	// OwnData says that the resident data of the configuration is what the prover keeps by itself, as a profile of it
	// found, and that it was not held besides.
	OwnData bool `json:"own_data,omitempty"`
	// Devices are the devices of a run on cards, in their order.
	Devices []Device `json:"devices,omitempty"`
}

// Keys is what the keys of a kind take from before the first job to the end.
type Keys struct {
	Host   model.Bytes `json:"host,omitzero"`
	Device model.Bytes `json:"device,omitzero"` // on each device
}

// Machine is what a trace says of the machine of a run.
type Machine struct {
	Name   string      `json:"name,omitempty"`
	CPU    string      `json:"cpu,omitempty"`
	Cores  int         `json:"cores,omitempty"`
	RAM    model.Bytes `json:"-"`
	Kernel string      `json:"kernel,omitempty"` // the operating system's version
	GPU    string      `json:"gpu,omitempty"`    // the cards that prove, in the order of the devices
}

// Device is what a trace says of a device before the first job.
type Device struct {
	Total  model.Bytes `json:"total,omitzero"`  // of its memory, as its driver shows it
	Driver model.Bytes `json:"driver,omitzero"` // in use without any keys: the driver's context, kernels, other programs
	Keys   model.Bytes `json:"keys,omitzero"`   // taken for the keys that are there from the start
	Used   model.Bytes `json:"used,omitzero"`   // in use with them
}

// Memory is one reading of the memory that a run occupies. What the machine cannot tell is 0.
type Memory struct {
	RSSBytes        model.Bytes `json:"-"` // resident set of the prover's process
	AnonBytes       model.Bytes `json:"-"` // of it, anonymous
	FileBytes       model.Bytes `json:"-"` // of it, mapped files
	ShmemBytes      model.Bytes `json:"-"` // of it, shared memory
	CgroupBytes     model.Bytes `json:"-"` // memory.current of the prover's cgroup
	CgroupPeakBytes model.Bytes `json:"-"` // memory.peak of the prover's cgroup
	VRAMBytes       model.Bytes `json:"-"` // in use on all devices together, as their driver shows it
	PinnedBytes     model.Bytes `json:"-"` // host memory pinned for the devices
}

// Guard is how far a sample must be from a change of what is held to be surely before or after it: the sampler's clock
// and its reading are that far apart, more or less.
const Guard = 2 * model.Millisecond

// Sample is a reading while the pipeline runs.
type Sample struct {
	At model.Instant `json:"-"`
	Memory
	PSISomeMicros int64  `json:"psi_some_us,omitempty"` // of some task waiting for memory, as the system counts it
	PSIFullMicros int64  `json:"psi_full_us,omitempty"` // of all tasks waiting
	Phase         string `json:"phase,omitempty"`       // what the prover was about: free text
}

// Baseline is the reading after everything resident was loaded and before the first job.
type Baseline struct {
	At model.Instant
	Memory
}

// Outcome says how a run ended.
type Outcome string

// The outcomes of a run.
const (
	Finished  Outcome = "finished"  // every job ended
	OOM       Outcome = "oom"       // stopped where memory passed the limit
	Killed    Outcome = "killed"    // ended by the system or by a watchdog
	Broken    Outcome = "failed"    // ended by an error
	Cancelled Outcome = "cancelled" // ended by its operator
)

// End is the last line of a trace.
type End struct {
	Outcome         Outcome       `json:"outcome"`
	JobsDone        int           `json:"jobs_done"`
	ProofsVerified  int           `json:"proofs_verified,omitempty"`
	MakespanNs      model.Span    `json:"-"`                // from the first arrival to the last finish
	PeakBytes       model.Bytes   `json:"-"`                // of a simulation: the peak of resident memory
	VmHWMBytes      model.Bytes   `json:"-"`                // the kernel's high-water mark of the prover's process
	CgroupPeakBytes model.Bytes   `json:"-"`                // the same of its cgroup
	VRAMPeakBytes   []model.Bytes `json:"-"`                // the most in use of each device, as its driver shows it
	Signal          string        `json:"signal,omitempty"` // what killed it
	Error           string        `json:"error,omitempty"`  // what went wrong
}

// Line is one line after the header: exactly one of the fields is set.
type Line struct {
	Step     *model.Record
	Sample   *Sample
	Baseline *Baseline
	End      *End
}

// Trace is a whole trace in memory.
type Trace struct {
	Header   Header
	Records  []model.Record
	Samples  []Sample
	Baseline *Baseline // nil: none was taken
	End      *End      // nil: the run was cut off
	Warnings []string  // what the reader noticed and survived
}
