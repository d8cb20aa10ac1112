// Package check judges the event stream of a run, live or simulated, against what every run of the pipeline must
// satisfy. The checkers keep books of their own, made from the stream alone; only the replay runs the core.
//
// Open checkers.go for the list of what is checked, then life.go for how the books are kept.
package check

import (
	"fmt"
	"strings"

	"headroom/model"
	"headroom/model/trace"
)

// Stream is a run to be judged.
type Stream struct {
	Config  model.Config // valid
	Kinds   []model.Kind
	Records []model.Record
	// Stateless says that the records carry no states, so that these are not judged.
	Stateless bool
	Sizes     []Sizes // by kind; nil: every block counts as one byte
	// Finished says that the run went to its end, so that nothing may be left of it.
	Finished bool
}

// Sizes is what the blocks of a kind occupy.
type Sizes struct{ Parse, Vectors, Assignment, Call model.Bytes }

// Of returns the stream of a trace.
func Of(t *trace.Trace) Stream {
	return Stream{
		Config: t.Header.Config, Kinds: t.Header.Kinds, Records: t.Records,
		Finished: t.End != nil && t.End.Outcome == trace.Finished,
	}
}

// Finding is one place where a stream breaks what a checker demands.
type Finding struct {
	Checker int    // its number
	Name    string // its name
	Record  int    // index of the record, or the number of records for what is found at the end
	At      model.Instant
	Message string
}

// String says where, which checker and what.
func (f Finding) String() string {
	return fmt.Sprintf("record %d at %s: checker %d (%s): %s", f.Record, f.At, f.Checker, f.Name, f.Message)
}

// MaxFindings is how many findings of each checker are kept: one broken step often breaks all that follow.
const MaxFindings = 10

// Run judges a stream and returns the findings in order of the records, or none.
func Run(s Stream) []Finding {
	j := NewJudge(s)
	for i := range s.Records {
		j.Step(&s.Records[i])
	}
	if s.Finished {
		j.Finish()
	}
	return j.world.findings
}

// Err joins findings into one error, or returns nil if there are none.
func Err(findings []Finding) error {
	if len(findings) == 0 {
		return nil
	}
	lines := make([]string, len(findings))
	for i, f := range findings {
		lines[i] = f.String()
	}
	return fmt.Errorf("check: %s", strings.Join(lines, "\n"))
}

// judge is a checker at work on one stream. Inputs and effects are shown to it before they enter the books, and
// settled comes after each step.
type judge interface {
	input(*world, *model.Record)
	effect(*world, *model.Effect)
	settled(*world)
	finished(*world)
}

// idle is the part of a judge that does nothing.
type idle struct{}

func (idle) input(*world, *model.Record)  {}
func (idle) effect(*world, *model.Effect) {}
func (idle) settled(*world)               {}
func (idle) finished(*world)              {}
