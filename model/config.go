package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Count is a number of things of which there may be no limit. In files it is a whole number or the word
// "unbounded"; the capacity of the channel may also be "auto".
type Count int32

const (
	// Unbounded is no limit at all. It is the largest count, so that limits compare as numbers.
	Unbounded Count = 1<<31 - 1
	// Auto is the channel capacity max(lookahead, permits).
	Auto Count = -1
)

// String prints the number, "unbounded" or "auto".
func (c Count) String() string {
	switch c {
	case Unbounded:
		return "unbounded"
	case Auto:
		return "auto"
	}
	return strconv.Itoa(int(c))
}

// MarshalText writes the count as String does.
func (c Count) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a whole number, "unbounded" or "auto". Whether the number makes sense is for Validate.
func (c *Count) UnmarshalText(text []byte) error {
	switch string(text) {
	case "unbounded":
		*c = Unbounded
		return nil
	case "auto":
		*c = Auto
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n == int64(Auto) || n == int64(Unbounded) {
		return fmt.Errorf("model: count %q is not a whole number below %d or the word unbounded", text, int(Unbounded))
	}
	*c = Count(n)
	return nil
}

// MarshalJSON writes a bounded count as a number and the others as words.
func (c Count) MarshalJSON() ([]byte, error) {
	if c == Unbounded || c == Auto {
		return json.Marshal(c.String())
	}
	return json.Marshal(int32(c))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Count) UnmarshalJSON(text []byte) error {
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	return c.UnmarshalText(text)
}

// MarshalText writes the exact size with its unit, as String does.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what ParseBytes reads.
func (b *Bytes) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBytes(string(text))
	return err
}

// MarshalText writes the span with its unit, as String does.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseSpan reads.
func (s *Span) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSpan(string(text))
	return err
}

// Order says which partition goes first, at admission and in the channel alike.
type Order string

// The orders of partitions.
const (
	FIFO           Order = "fifo"             // in order of arrival
	ByPriority     Order = "priority"         // the kind's priority, then arrival
	OldestJobFirst Order = "oldest_job_first" // the job that arrived first, then the partition's number
	Interleave     Order = "interleave"       // one partition of each job in turn
)

// Release is the point at which a partition returns its permit.
type Release string

// The release points, earliest first. AfterKernel is the moment at which the kernel region is over and the device
// lock is back; with lock: call and split: false, which keep the lock through the finish, it is the end of the
// kernel's second part.
const (
	AfterSynthesis Release = "after_synthesis"
	AfterSend      Release = "after_send" // the channel (capacity 0: a worker) has taken the partition
	AfterKernel    Release = "after_kernel"
	AfterFinish    Release = "after_finish"
)

// LockScope is what the lock of a device covers.
type LockScope string

// The scopes of a device lock.
const (
	LockCall   LockScope = "call"   // from pickup to the end of the worker's part
	LockKernel LockScope = "kernel" // the kernel region
)

// PrepPlace is where the CPU preparation of a partition stands to the device lock when the lock covers the kernel.
type PrepPlace string

// The places of prep.
const (
	PrepBeforeLock PrepPlace = "before_lock" // prep ends before the worker asks for the lock
	PrepBesideLock PrepPlace = "beside_lock" // prep runs from pickup, only the tail of the kernel waits for it
)

// Side is a side of the machine.
type Side string

// The sides of the G2 multi-scalar multiplication.
const (
	OnHost   Side = "host"
	OnDevice Side = "device"
)

// Pool says what happens to freed memory.
type Pool string

// The pools.
const (
	PoolNone   Pool = "none"   // freed memory goes back to the system
	PoolRetain Pool = "retain" // freed memory is kept for the next partition and never returned
)

// Admission limits how many partitions are between admission and a release point.
type Admission struct {
	Permits Count   `json:"permits" yaml:"permits"` // 1 or more, or Unbounded
	Release Release `json:"release" yaml:"release"`
	Budget  *Budget `json:"budget,omitempty" yaml:"budget,omitempty"` // nil: no byte ledger
}

// Budget is the byte ledger that admission reserves from: what the pipeline believes that it holds, which need not
// be what is resident. Resident data is in it too: what is loaded before the first job from the start, the rest while
// it is loaded.
type Budget struct {
	Total  Bytes `json:"total" yaml:"total"`
	Margin Bytes `json:"margin,omitempty" yaml:"margin,omitempty"` // kept free of reservations
	// Kinds is what each kind reserves. No kind of a workload may be missing.
	Kinds map[string]Demand `json:"kinds,omitempty" yaml:"kinds,omitempty"`
	// EvictionMinIdle is how long evictable data must have been without a job that needs it before it may be evicted.
	EvictionMinIdle Span  `json:"eviction_min_idle,omitempty" yaml:"eviction_min_idle,omitempty"`
	Retry           Retry `json:"retry,omitempty" yaml:"retry,omitempty"` // empty: RetryOnRelease
}

// Available is what may be reserved.
func (b *Budget) Available() Bytes { return b.Total - b.Margin }

// Retry says when a refused reservation is tried again.
type Retry string

// The ways to try again.
const (
	RetryOnRelease Retry = "on_release" // whenever something is released, and at no other time
	RetryTimed     Retry = "timed"      // every RetryInterval
)

// RetryInterval is the time between two tries of a reservation that polls.
const RetryInterval = Second

// Demand is what a partition of one kind reserves in the ledger, from admission on.
type Demand struct {
	Reserve Bytes `json:"reserve" yaml:"reserve"`
	// ReleaseAfterKernel is the part that is released when the kernel region is over; the rest goes with the finish.
	ReleaseAfterKernel Bytes        `json:"release_after_kernel,omitempty" yaml:"release_after_kernel,omitempty"`
	AcquireOrder       AcquireOrder `json:"acquire_order,omitempty" yaml:"acquire_order,omitempty"` // empty: ResidentFirst
}

// AcquireOrder says whether a job reserves its working bytes before or after the resident data that it needs.
type AcquireOrder string

// The orders of reserving.
const (
	// ResidentFirst reserves the data for the job, then working bytes for each partition at its admission.
	ResidentFirst AcquireOrder = "resident_first"
	// WorkingFirst reserves working bytes for all partitions of the job, and holds them while it waits for its data.
	WorkingFirst AcquireOrder = "working_first"
)

// Synthesis limits the synthesis workers besides permits. A worker is taken until the channel has taken its partition:
// it is the worker that blocks in send.
type Synthesis struct {
	MaxParallel Count `json:"max_parallel" yaml:"max_parallel"`
	// Handoff is how many admitted partitions may wait for a worker, with their permits and reservations held.
	Handoff Count `json:"handoff" yaml:"handoff"`
}

// Channel is the bounded queue between synthesis and the GPU workers.
type Channel struct {
	Capacity  Count `json:"capacity" yaml:"capacity"` // 0 is a rendezvous; Auto is max(Lookahead, permits)
	Lookahead Count `json:"lookahead" yaml:"lookahead"`
}

// GPU describes the workers and their devices.
type GPU struct {
	Devices          Count     `json:"devices" yaml:"devices"`
	WorkersPerDevice Count     `json:"workers_per_device" yaml:"workers_per_device"`
	Lock             LockScope `json:"lock" yaml:"lock"`
	// Prep is empty when the lock covers the whole call: prep is then inside the lock.
	Prep PrepPlace `json:"prep,omitempty" yaml:"prep,omitempty"`
	// Split makes the worker leave when the kernel region is over; a finalizer then does the finish.
	Split bool `json:"split" yaml:"split"`
	BG2   Side `json:"b_g2" yaml:"b_g2"`
}

// DeallocConfig limits how many partitions' blocks are freed at once.
type DeallocConfig struct {
	Workers Count `json:"workers" yaml:"workers"`
}

// Resident is data that stays in memory for all jobs, such as a proving key. Data that is not on demand is there from
// the start: it was loaded before the first job, item by item in the order of the list.
type Resident struct {
	Name      string `json:"name" yaml:"name"`
	Bytes     Bytes  `json:"bytes" yaml:"bytes"`
	LoadTime  Span   `json:"load_time,omitempty" yaml:"load_time,omitempty"`
	Transient Bytes  `json:"transient,omitempty" yaml:"transient,omitempty"` // held besides Bytes while loading
	// Acquire is how its bytes are reserved. Blocking data reserves all of them before it is loaded and evicts idle data
	// if need be. Polling data never evicts: it reserves its transient bytes, is loaded, and only then reserves its own
	// bytes with the transient ones still held, each time trying every RetryInterval. Empty: AcquireBlocking.
	Acquire   Acquire `json:"acquire,omitempty" yaml:"acquire,omitempty"`
	OnDemand  bool    `json:"on_demand,omitempty" yaml:"on_demand,omitempty"` // false: loaded before the first job
	Evictable bool    `json:"evictable,omitempty" yaml:"evictable,omitempty"`
	// Kinds need the data; empty: all kinds do. A job does not begin before its data is loaded.
	Kinds []string `json:"kinds,omitempty" yaml:"kinds,omitempty"`
	// Pinned data is locked in host memory for the devices, and counts against the machine's memlock too.
	Pinned bool `json:"pinned,omitempty" yaml:"pinned,omitempty"`
	// Background data is loaded beside the jobs that need it: they do not wait for it.
	Background bool `json:"background,omitempty" yaml:"background,omitempty"`
}

// Managed reports whether the data comes and goes.
func (r *Resident) Managed() bool { return r.OnDemand || r.Evictable }

// Awaited reports whether the data comes and goes and jobs of a kind do not begin before it is there.
func (r *Resident) Awaited(kind string) bool {
	return r.Managed() && !r.Background && concerns(r.Kinds, kind)
}

// Acquire is a way to reserve the bytes of resident data.
type Acquire string

// The ways to reserve.
const (
	AcquireBlocking Acquire = "blocking"
	AcquirePolling  Acquire = "polling"
)

// Batch joins jobs of one kind into one, which goes through the pipeline with the partitions of one job and the bytes
// of all. A batch is closed when it is full, when a job arrives that cannot join it, or after Wait. The jobs in it
// have their places in flight already.
type Batch struct {
	Size Count `json:"size" yaml:"size"`
	Wait Span  `json:"wait" yaml:"wait"` // the longest that the first job of a batch waits for others
	// Kinds are those that are joined; empty: all are.
	Kinds []string `json:"kinds,omitempty" yaml:"kinds,omitempty"`
}

// Config is everything about the pipeline that an operator can choose. Start from DefaultConfig and judge the
// result with Validate.
type Config struct {
	// JobsInFlight is how many jobs are in flight at once, each from its parsing to its last partition's finish.
	JobsInFlight Count         `json:"jobs_in_flight" yaml:"jobs_in_flight"`
	Order        Order         `json:"order" yaml:"order"`
	Admission    Admission     `json:"admission" yaml:"admission"`
	Synthesis    Synthesis     `json:"synthesis" yaml:"synthesis"`
	Channel      Channel       `json:"channel" yaml:"channel"`
	GPU          GPU           `json:"gpu" yaml:"gpu"`
	Finalizers   Count         `json:"finalizers" yaml:"finalizers"`
	FreeVectors  Release       `json:"free_vectors" yaml:"free_vectors"` // AfterKernel or AfterFinish
	Dealloc      DeallocConfig `json:"dealloc" yaml:"dealloc"`
	Pool         Pool          `json:"pool" yaml:"pool"`
	Resident     []Resident    `json:"resident,omitempty" yaml:"resident,omitempty"` // nil: the profile's list
	Batch        *Batch        `json:"batch,omitempty" yaml:"batch,omitempty"`
}

// DefaultConfig returns the configuration in force where a file is silent, for a machine with the given number of GPUs.
func DefaultConfig(gpus int) Config {
	return Config{
		JobsInFlight: 1,
		Order:        FIFO,
		Admission:    Admission{Permits: Unbounded, Release: AfterSend},
		Synthesis:    Synthesis{MaxParallel: Unbounded},
		Channel:      Channel{Capacity: Auto, Lookahead: 1},
		GPU:          GPU{Devices: Count(gpus), WorkersPerDevice: 2, Lock: LockKernel, Prep: PrepBesideLock, Split: true, BG2: OnHost},
		Finalizers:   Unbounded,
		FreeVectors:  AfterKernel,
		Dealloc:      DeallocConfig{Workers: 1},
		Pool:         PoolNone,
	}
}

// ChannelCapacity returns the capacity in force, with Auto resolved.
func (c *Config) ChannelCapacity() Count {
	if c.Channel.Capacity != Auto {
		return c.Channel.Capacity
	}
	return max(c.Channel.Lookahead, c.Admission.Permits)
}

// Workers returns the number of GPU workers on all devices together.
func (c *Config) Workers() int { return int(c.GPU.Devices) * int(c.GPU.WorkersPerDevice) }

// Prepares reports whether a job may have to wait for others, for its reservation or for its data before it begins. If
// none has to, the core never asks for a Wake.
func (c *Config) Prepares() bool {
	managed := func(r Resident) bool { return r.Managed() }
	return c.Admission.Budget != nil || c.Batch != nil || slices.ContainsFunc(c.Resident, managed)
}
