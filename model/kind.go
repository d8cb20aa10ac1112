package model

import (
	"fmt"
	"strings"
)

// Stage is a step of a partition (for Parse, of a job; for Load, of resident data) that takes time.
type Stage uint8

// The stages, in the order in which a partition goes through them. Send and waiting take no stage: they are
// states. The kernel region has two parts, Kernel and Tail; the second needs what Prep makes.
const (
	NoStage Stage = iota
	Load          // load resident data that a job needs; no kind has it as its own
	Parse         // read the job's input; once a job
	Synth         // read, hash, solve
	Prep          // CPU preparation of the kernel's second part
	Kernel        // first part of the kernel region
	Tail          // second part of the kernel region
	Finish        // G2 on the CPU and assembly
	Dealloc       // return a block of memory to the system; once a block
	NumStages
)

var stageNames = [NumStages]string{"", "load", "parse", "synth", "prep", "kernel", "tail", "finish", "dealloc"}

// String returns the stage's name in files.
func (s Stage) String() string {
	if s < NumStages {
		return stageNames[s]
	}
	return "unknown"
}

// StageOf returns the stage of that name in files.
func StageOf(name string) (Stage, bool) {
	for s := Load; s < NumStages; s++ {
		if stageNames[s] == name {
			return s, true
		}
	}
	return NoStage, false
}

// MarshalText writes the stage's name.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name of a stage that a kind can have; the empty name is NoStage.
func (s *Stage) UnmarshalText(text []byte) error {
	stage, known := StageOf(string(text))
	if (!known || stage == Load) && len(text) > 0 {
		return fmt.Errorf("model: stage %q is not known: one of %s", text, strings.Join(stageNames[Parse:], ", "))
	}
	*s = stage
	return nil
}

// StageSet is a set of stages.
type StageSet uint32

// Has reports whether s is in the set.
func (set StageSet) Has(s Stage) bool { return set&s.alone() != 0 }

// With returns the set with the stages added.
func (set StageSet) With(stages ...Stage) StageSet {
	for _, s := range stages {
		set |= s.alone()
	}
	return set
}

// alone returns the set of one stage. The bound on the shift spares the processor a comparison.
func (s Stage) alone() StageSet { return 1 << (s % 32) }

// Block is a class of memory that a job or partition holds from one point of its way to another.
type Block uint8

// The blocks. Vectors are what the kernel reads (a, b, c and what belongs to them); they are freed at the
// configured point. The assignment lives until the finish is over.
const (
	NoBlock Block = iota
	Vectors
	Assignment
	ParseBuffer
	NumBlocks
)

var blockNames = [NumBlocks]string{"", "vectors", "assignment", "parse"}

// String returns the block's name in files.
func (b Block) String() string {
	if b < NumBlocks {
		return blockNames[b]
	}
	return "unknown"
}

// BlockOf returns the block of that name in files.
func BlockOf(name string) (Block, bool) {
	for b := Vectors; b < NumBlocks; b++ {
		if blockNames[b] == name {
			return b, true
		}
	}
	return NoBlock, false
}

// Blocks is what a job of a kind and each of its partitions take, block by block. The core never looks at it.
type Blocks struct {
	Parse      Bytes `json:"parse,omitzero"`
	Vectors    Bytes `json:"vectors,omitzero"`
	Assignment Bytes `json:"assignment,omitzero"`
	Call       Bytes `json:"call,omitzero"`   // of a proof call; it goes with the assignment
	Pinned     Bytes `json:"pinned,omitzero"` // of the vectors, what a pool pins
	Device     Bytes `json:"device,omitzero"` // of its device, from its first stage on a worker to the end of its tail
}

// Freed returns what a Freed gives back for each of its proofs.
func (b *Blocks) Freed(e *Effect) Bytes {
	switch {
	case e.Task.Block == Vectors:
		return b.Vectors
	case e.Task.Block == ParseBuffer:
		return b.Parse
	case e.Call:
		return b.Assignment + b.Call
	}
	return b.Assignment
}

// Kind is what the core must know about a kind of job: its shape, not its sizes or times.
type Kind struct {
	Name       string `json:"name"`
	Partitions int    `json:"partitions"` // 1 or more
	Priority   int    `json:"priority"`   // larger goes first where the order asks
	// Stages are those that the kind has; Synth and Kernel always. A stage that is missing is skipped by the core.
	Stages StageSet `json:"stages"`
}

// Circuit says what the live prover proves for a partition of a kind.
type Circuit struct {
	Family          string `json:"circuit" yaml:"circuit"` // mimc or sha256
	Log2Constraints int    `json:"log2_constraints" yaml:"log2_constraints"`
	Data            Bytes  `json:"data" yaml:"data"` // read and hashed by each partition
	Leaf            Bytes  `json:"leaf" yaml:"leaf"`
}

// String prints the circuit as a scenario writes it.
func (c Circuit) String() string {
	return fmt.Sprintf("{circuit: %s, log2_constraints: %d, data: %s, leaf: %s}", c.Family, c.Log2Constraints, c.Data, c.Leaf)
}

// String lists the stages in order, for messages.
func (set StageSet) String() string {
	names := make([]string, 0, NumStages)
	for s := Load; s < NumStages; s++ {
		if set.Has(s) {
			names = append(names, s.String())
		}
	}
	return strings.Join(names, ", ")
}
