// Package reach searches the states that a pipeline can get into. A simulation follows one order of completions; a
// search follows all of them, from the empty pipeline on and breadth first, and so finds the shortest history that ends
// in a stall or breaks a checker of package check, or says that there is none up to a number of jobs.
//
// Open reach.go (what is asked and answered) first, then search.go, then node.go (what can happen in a state).
package reach

import (
	"errors"
	"fmt"

	"headroom/model"
	"headroom/model/check"
)

// Space is what to search: a pipeline and what may happen to it. Besides jobs arriving, alone or several at once, and
// stages ending, in any order and at any moment, that is what the flags say.
type Space struct {
	Config   model.Config // valid
	Kinds    []model.Kind // as NewCore has them
	Jobs     int          // jobs in all, 1 or more; each of any of the kinds
	Failures bool         // every stage but freeing may fail
	Cancels  bool         // every job may be given up and the pipeline be drained
	// MaxStates is how many states may be explored; 0: DefaultStates. One takes about two kilobytes while it is new.
	MaxStates int
}

// DefaultStates is the number of states that a search may explore.
const DefaultStates = 200_000

// Verdict is what a search comes to.
type Verdict string

// The verdicts.
const (
	Clear      Verdict = "none"       // no history breaks anything
	Stall      Verdict = "stall"      // a history ends with work left that can never go on
	Broken     Verdict = "broken"     // a history breaks a checker, leaves a count that is not zero or passes the bound
	Unfinished Verdict = "unfinished" // nothing was found in the states explored, and there are more
)

// Answer is what a search found.
type Answer struct {
	Verdict Verdict
	Reason  string // in words, with the numbers
	States  int    // explored
	Steps   int    // tried from them
	Depth   int    // every history of at most that many steps was judged
	// Holding is the most partitions that held vectors in a state explored, and Bound what the configuration's
	// structure says of it.
	Holding int
	Bound   model.Bound
	// History is a shortest one to what was found, one input a second. It is nil if nothing was.
	History []model.Record
	// Findings are what the checkers say of the history.
	Findings []check.Finding
}

// Search explores the space and calls explored, which may be nil, after each state. An error is about the space, never
// about what is found in it.
func Search(s Space, explored func()) (*Answer, error) {
	if s.Jobs < 1 {
		return nil, fmt.Errorf("reach: %d jobs: at least 1", s.Jobs)
	}
	if len(s.Kinds) == 0 {
		return nil, errors.New("reach: no kinds: at least 1")
	}
	if s.MaxStates == 0 {
		s.MaxStates = DefaultStates
	}
	root, err := newNode(&s)
	if err != nil {
		return nil, fmt.Errorf("reach: %w", err)
	}
	return newSearch(s, root).run(explored)
}

// Stream returns the history as a stream for the checkers.
func (a *Answer) Stream(s Space) check.Stream {
	return check.Stream{Config: s.Config, Kinds: s.Kinds, Records: a.History}
}
