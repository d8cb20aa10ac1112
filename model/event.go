package model

import "fmt"

// InputOp says what happened to the pipeline.
type InputOp uint8

// What can happen.
const (
	// Arrive brings Count jobs of one Kind, numbered from Job on. Jobs are numbered in order of arrival, from 0.
	Arrive InputOp = iota + 1
	// Done says that the stage which a Start began is over.
	Done
	// Failed says that it is over without a result. What it had allocated by itself is already freed.
	Failed
	// Cancel gives up a job.
	Cancel
	// Drain gives up the jobs that have not begun and lets the others end; nothing may arrive after it.
	Drain
	// Wake says that the span of a WakeAt is over.
	Wake
)

var inputNames = [...]string{"", "arrive", "done", "failed", "cancel", "drain", "wake"}

// String returns the operation's name in files.
func (op InputOp) String() string { return nameOf(inputNames[:], int(op)) }

// Input is one thing that happened. Which fields count depends on Op; the others are zero.
type Input struct {
	Op    InputOp
	Kind  uint16 // Arrive: index of the kind
	Job   int32  // Arrive: number of the first job; Cancel: number of the job
	Count int32  // Arrive: number of jobs
	Task  Task   // Done, Failed: what is over; Wake: the timer, as WakeAt named it
}

// Task names a started stage: what Start hands out and Done or Failed give back.
type Task struct {
	Stage Stage
	Block Block  // Dealloc: which block
	Lane  int32  // lowest free number among the stage's runners; the worker's number on a GPU worker
	Slot  int32  // where the core keeps the partition (Parse: the job; Load: the index of the data; Wake: the timer)
	Gen   uint32 // generation of the slot, so that a late or second completion is found out
}

// EffectOp says what the core answers.
type EffectOp uint8

// What the core can answer.
const (
	// JobStart takes a job in flight: its parse buffer is held from here to Freed.
	JobStart EffectOp = iota + 1
	// Join puts a job into a batch. The Joins of one batch follow each other; the first names the job that leads it
	// and that all later effects of the batch name.
	Join
	// Reserve reserves the working bytes of all partitions of a job, before the data that it needs.
	Reserve
	// Admit lets a partition in whose synthesis has to wait for a worker.
	Admit
	// Start begins a stage. The driver answers with Done or Failed when it is over.
	Start
	// Accept ends a partition's send: the channel, or with capacity 0 a worker, has it now.
	Accept
	// Take gives a partition to a GPU worker.
	Take
	// Freed says that a block is no longer held.
	Freed
	// Pooled says that a block went to the pool, which holds it for the next partition of its kind.
	Pooled
	// Loaded says that resident data may be used: all its bytes are reserved, its transient ones no longer.
	Loaded
	// Evict says that resident data is no longer held.
	Evict
	// Leave takes a partition of a failed or cancelled job, of which nothing runs any more, out of the pipeline.
	Leave
	// JobDone says that the last partition of a job has finished.
	JobDone
	// JobFailed says that a failed or cancelled job has left, or one that a drain kept from beginning.
	JobFailed
	// WakeAt asks for a Wake with the same task after a span.
	WakeAt
	// Stall says that work is left, nothing runs, and nothing can start.
	Stall
)

var effectNames = [...]string{
	"", "job_start", "join", "reserve", "admit", "start", "accept", "take", "free", "pool", "loaded", "evict", "leave", "job_done", "job_failed",
	"wake_at", "stall",
}

// String returns the operation's name in files.
func (op EffectOp) String() string { return nameOf(effectNames[:], int(op)) }

// Effect is one answer of the core. Effects of one step are in an order that means something: a later one may
// rest on an earlier one.
type Effect struct {
	Op        EffectOp
	Device    uint8  // Take and the stages on a GPU worker
	Call      bool   // Freed of the assignment: the partition was on a worker, so its call's memory goes too
	Reused    bool   // Start of Synth: its vectors come from the pool
	Kind      uint16 // index of the job's kind
	Proofs    uint16 // proofs joined in the job or partition: 1 without a batch
	Job       int32
	Partition int32 // 0 for what concerns the whole job
	// Task is what a Start begins and the timer of a WakeAt. Of others one field counts: Lane is the GPU worker of a Take,
	// and the one that a Leave leaves, if it has one; Block is what a Freed or Pooled is about; Slot is the data of a
	// Loaded or Evict.
	Task  Task
	After Span // WakeAt: until the Wake
}

// Record is one step of a run: what happened when, and what the core answered. A run is its records in order.
type Record struct {
	At      Instant
	Input   Input
	Effects []Effect
	// Begin and End are when the worker itself began and ended the stage of a Done or Failed. On a real clock
	// they differ from the owner's instants by what hand-over costs.
	Begin, End Instant
	State      State // after the step
}

// State is how full the pipeline is.
type State struct {
	Permits Count // free ones; Unbounded where the configuration sets no limit
	Channel int32 // partitions in the channel
	Blocked int32 // partitions blocked in send
	Ledger  Bytes // reserved; 0 without a budget
}

// TaskError is a completion that does not fit the pipeline's state: late, double, or of a stage that never began.
type TaskError struct {
	Task Task
	Why  string
}

// Error says which completion does not fit, and why.
func (e *TaskError) Error() string {
	return fmt.Sprintf("model: completion of %s on lane %d, slot %d generation %d: %s", e.Task.Stage, e.Task.Lane, e.Task.Slot, e.Task.Gen, e.Why)
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}

// Cancellation gives up a job at an instant.
type Cancellation struct {
	At  Instant
	Job int32
}
