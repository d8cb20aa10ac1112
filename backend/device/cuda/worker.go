package cuda

import (
	"runtime"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	prover "headroom/backend/groth16"
)

// worker is a GPU worker's thread of the operating system, which makes the worker's calls one after the other: a
// card's driver keeps state by thread.
type worker chan func()

func newWorker() worker {
	w := make(worker)
	go func() {
		runtime.LockOSThread()
		for call := range w {
			call()
		}
	}()
	return w
}

// do makes a call on the thread.
func (w worker) do(call func() error) error {
	over := make(chan error, 1)
	w <- func() { over <- call() }
	return <-over
}

// end ends the thread. No call comes after it.
func (w worker) end() { close(w) }

// onCard is the sums of a partition in a workspace of a worker.
type onCard struct {
	worker    worker
	workspace *Workspace
}

var _ prover.Sums = (*onCard)(nil)

// LoadVectors implements [prover.Sums].
func (s *onCard) LoadVectors(a, b, c fr.Vector) error {
	return s.worker.do(func() error { return s.workspace.LoadVectors(a, b, c) })
}

// LoadAssignment implements [prover.Sums].
func (s *onCard) LoadAssignment(private, inA, inB fr.Vector) error {
	return s.worker.do(func() error { return s.workspace.LoadAssignment(private, inA, inB) })
}

// Quotient implements [prover.Sums].
func (s *onCard) Quotient() (h curve.G1Jac, err error) {
	err = s.worker.do(func() (err error) {
		h, err = s.workspace.Quotient()
		return err
	})
	return h, err
}

// Assignment implements [prover.Sums].
func (s *onCard) Assignment() (prover.AssignmentSums, error) {
	var card Sums
	err := s.worker.do(func() (err error) {
		card, err = s.workspace.Assignment()
		return err
	})
	all := prover.AssignmentSums{L: card.L, A: card.A, B1: card.B1}
	if s.workspace.key.g2 {
		all.B2 = &card.B2
	}
	return all, err
}

// Free implements [prover.Sums].
func (s *onCard) Free() error { return s.worker.do(s.workspace.Free) }
