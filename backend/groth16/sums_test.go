package groth16

import (
	"errors"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// elsewhere computes as the host does, b in G2 too, and counts what is open.
type elsewhere struct {
	hostSums
	opened, freed int
	fails         error
}

func (s *elsewhere) open() (Sums, error) {
	s.opened++
	return s, s.fails
}

func (s *elsewhere) Assignment() (AssignmentSums, error) {
	sums, err := s.hostSums.Assignment()
	if err != nil {
		return sums, err
	}
	sums.B2 = new(curve.G2Jac)
	_, err = sums.B2.MultiExp(s.keys.proving.G2.B, s.inB, msm(1))
	return sums, err
}

func (s *elsewhere) Free() error {
	s.freed++
	return nil
}

func TestSumsFromElsewhereMakeTheSameProof(t *testing.T) {
	p := openProver(t, smallest(MiMC), Threads{})
	want := prove(t, synthesize(t, p, 2, 1))
	part, sums := synthesize(t, p, 2, 1), &elsewhere{hostSums: hostSums{keys: p.keys}}
	part.Use(sums.open)
	if got := prove(t, part); got != want {
		t.Errorf("the proof is %x, should be %x", got, want)
	}
	if sums.opened != 1 || sums.freed != 1 {
		t.Errorf("opened %d times and freed %d times, want once each", sums.opened, sums.freed)
	}
}

// What a partition that goes no further has opened goes with its assignment; what could not be opened has nothing to
// free.
func TestSumsAreFreedWithAPartitionThatFails(t *testing.T) {
	p := openProver(t, smallest(MiMC), Threads{})
	for _, fails := range []error{nil, errors.New("no room")} {
		part, sums := synthesize(t, p, 0, 0), &elsewhere{hostSums: hostSums{keys: p.keys}, fails: fails}
		part.Use(sums.open)
		for _, stage := range []func() error{part.Prep, part.Kernel} {
			if err := stage(); !errors.Is(err, fails) {
				t.Errorf("a stage ended with %v, want %v", err, fails)
			}
		}
		if err := errors.Join(part.FreeVectors(), part.FreeAssignment()); err != nil {
			t.Error(err)
		}
		freed := 1
		if fails != nil {
			freed = 0
		}
		if sums.opened != 1 || sums.freed != freed {
			t.Errorf("%v: opened %d times and freed %d times, want 1 and %d", fails, sums.opened, sums.freed, freed)
		}
	}
}
