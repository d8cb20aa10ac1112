package groth16

import (
	"errors"
	"fmt"
	"sync"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"headroom/model"
)

// Partition is a synthesized partition on its way to a proof. Each step is taken once: Prep, Kernel, Tail, Finish,
// FreeVectors or TakeVectors, FreeAssignment. A step out of order, a second time or on freed memory is an error and does
// nothing. Prep may run beside Kernel; all methods may be called from any goroutine.
type Partition struct {
	// Statement is what the proof will be about.
	Statement Statement

	keys    *Keys
	threads Threads

	vectors    Block // a, b, c, data, tree
	assignment Block
	scalars    Block // the assignment's part in A, then its part in B

	sums lazySums
	h    curve.G1Jac    // what Kernel made
	rest AssignmentSums // what Tail made

	mu                   sync.Mutex
	begun, running, done steps
}

// steps is a set of steps.
type steps uint8

const (
	prep steps = 1 << iota
	kernel
	tail
	finish
	freeVectors
	freeAssignment
)

// rules says for each step which steps must be done before it, which may not have begun, and which may not be
// running.
var rules = map[steps]struct {
	name                     string
	after, before, notDuring steps
}{
	prep:           {name: "prep", before: freeAssignment},
	kernel:         {name: "kernel", before: freeVectors | freeAssignment}, // the latter frees the sums
	tail:           {name: "tail", after: prep | kernel, before: freeAssignment},
	finish:         {name: "finish", after: tail, before: freeAssignment},
	freeVectors:    {name: "free vectors", notDuring: kernel},
	freeAssignment: {name: "free assignment", notDuring: prep | kernel | tail | finish},
}

// take runs one step if the rules allow it now.
func (p *Partition) take(step steps, run func() error) error {
	if err := p.begin(step); err != nil {
		return err
	}
	err := run()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running &^= step
	if err != nil {
		return fmt.Errorf("groth16: %s of job %d partition %d: %w",
			rules[step].name, p.Statement.Job, p.Statement.Partition, err)
	}
	p.done |= step
	return nil
}

func (p *Partition) begin(step steps) error {
	rule := rules[step]
	p.mu.Lock()
	defer p.mu.Unlock()
	var reason string
	switch {
	case p.begun&step != 0:
		reason = "was done before"
	case p.done&rule.after != rule.after:
		reason = "needs " + names(rule.after&^p.done) + " first"
	case p.begun&rule.before != 0:
		reason = "comes too late: after " + names(p.begun&rule.before)
	case p.running&rule.notDuring != 0:
		reason = "comes too early: during " + names(p.running&rule.notDuring)
	default:
		p.begun |= step
		p.running |= step
		return nil
	}
	return fmt.Errorf("groth16: %s of job %d partition %d %s", rule.name, p.Statement.Job, p.Statement.Partition, reason)
}

// names lists steps in order.
func names(set steps) (list string) {
	for step := prep; step <= freeAssignment; step <<= 1 {
		if set&step == 0 {
			continue
		}
		if list != "" {
			list += ", "
		}
		list += rules[step].name
	}
	return list
}

// FreeVectors unmaps a, b, c, the data and the tree.
func (p *Partition) FreeVectors() error { return p.take(freeVectors, p.vectors.Unmap) }

// TakeVectors takes the vectors' block away from the partition, as FreeVectors does, and returns it still mapped.
func (p *Partition) TakeVectors() (b Block, err error) {
	err = p.take(freeVectors, func() error {
		b, p.vectors = p.vectors, Block{}
		return nil
	})
	return b, err
}

// FreeAssignment unmaps the assignment and, where prep has run, the scalars. It frees the sums that a failure left.
func (p *Partition) FreeAssignment() error {
	return p.take(freeAssignment, func() error { return errors.Join(p.sums.free(), p.assignment.Unmap(), p.scalars.Unmap()) })
}

// vector views a, b or c (0, 1 or 2), padded to the domain.
func (p *Partition) vector(i int) fr.Vector {
	domain := p.keys.circuit.layout().domain
	return p.vectors.elements(fr.Bytes*model.Bytes(i*domain), domain)
}

// wires views the whole assignment.
func (p *Partition) wires() fr.Vector {
	return p.assignment.elements(0, len(p.keys.proving.InfinityA))
}
