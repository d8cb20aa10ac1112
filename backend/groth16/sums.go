package groth16

import (
	"errors"
	"math/big"
	"sync"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
)

// Sums computes the multi-scalar multiplications of one partition's proof, over the points of its proving key.
// LoadVectors comes before Quotient, LoadAssignment before Assignment; each pair may run beside the other. What is
// loaded stays as it is until Free, but for the vectors, which belong to Sums until Quotient is over.
type Sums interface {
	// LoadVectors takes the values of a, b and c on the domain.
	LoadVectors(a, b, c fr.Vector) error
	// LoadAssignment takes the private wires, those that occur in A and those that occur in B.
	LoadAssignment(private, inA, inB fr.Vector) error
	// Quotient returns the sum of the quotient h = (ab - c)/Z.
	Quotient() (h curve.G1Jac, err error)
	// Assignment returns the sums over the assignment.
	Assignment() (AssignmentSums, error)
	// Free gives everything back. Nothing else of Sums runs then or later.
	Free() error
}

// AssignmentSums are the sums over a partition's assignment.
type AssignmentSums struct {
	L, A, B1 curve.G1Jac
	B2       *curve.G2Jac // nil: Finish computes it on the host's processors
}

// Proving returns the proving key, which is not to be written to; nil while the keys are not loaded.
func (k *Keys) Proving() *groth16.ProvingKey { return k.proving }

// Use says what computes the partition's sums, in place of the host's processors. It comes before Prep and Kernel;
// whichever of them begins first opens the sums before anything else, and Tail or FreeAssignment frees them.
func (p *Partition) Use(open func() (Sums, error)) { p.sums.open = open }

// lazySums are sums that are opened when they are first asked for.
type lazySums struct {
	open func() (Sums, error) // nil: the host's
	once sync.Once
	sums Sums
	err  error
}

// openSums returns the partition's sums.
func (p *Partition) openSums() (Sums, error) {
	l := &p.sums
	l.once.Do(func() {
		if l.open == nil {
			l.sums = &hostSums{keys: p.keys, threads: p.threads}
		} else if l.sums, l.err = l.open(); l.err != nil {
			l.sums = nil
		}
	})
	return l.sums, l.err
}

// free frees the sums if they are open.
func (l *lazySums) free() error {
	if l.sums == nil {
		return nil
	}
	sums := l.sums
	l.sums = nil
	return sums.Free()
}

// hostSums computes with gnark-crypto on the host's processors. The vectors are its scratch memory.
type hostSums struct {
	keys    *Keys
	threads Threads

	a, b, c           fr.Vector
	private, inA, inB fr.Vector
}

func (s *hostSums) LoadVectors(a, b, c fr.Vector) error {
	s.a, s.b, s.c = a, b, c
	return nil
}

func (s *hostSums) LoadAssignment(private, inA, inB fr.Vector) error {
	s.private, s.inA, s.inB = private, inA, inB
	return nil
}

func (s *hostSums) Free() error { return nil }

func (s *hostSums) Quotient() (sum curve.G1Jac, err error) {
	defer ReturnHeap()
	h := s.quotient()
	// h has degree n-2: its last coefficient is zero and has no point.
	z := s.keys.proving.G1.Z
	_, err = sum.MultiExp(z, h[:len(z)], msm(s.threads.Kernel))
	return sum, err
}

// quotient overwrites a with the coefficients of h, in the bit-reversed order that the key's points are in. Z is
// constant on the coset, so division by it is one factor.
func (s *hostSums) quotient() fr.Vector {
	domain, tasks := &s.keys.proving.Domain, fft.WithNbTasks(threads(s.threads.Kernel))
	a, b, c := s.a, s.b, s.c
	for _, v := range []fr.Vector{a, b, c} {
		domain.FFTInverse(v, fft.DIF, tasks)
		domain.FFT(v, fft.DIT, fft.OnCoset(), tasks)
	}
	var inverse fr.Element
	one := fr.One()
	inverse.Exp(domain.FrMultiplicativeGen, new(big.Int).SetUint64(domain.Cardinality))
	inverse.Sub(&inverse, &one).Inverse(&inverse)
	a.Mul(a, b)
	a.Sub(a, c)
	a.ScalarMul(a, &inverse)
	domain.FFTInverse(a, fft.DIF, fft.OnCoset(), tasks)
	return a
}

func (s *hostSums) Assignment() (sums AssignmentSums, err error) {
	defer ReturnHeap()
	pk, config := s.keys.proving, msm(s.threads.Tail)
	_, l := sums.L.MultiExp(pk.G1.K, s.private, config)
	_, a := sums.A.MultiExp(pk.G1.A, s.inA, config)
	_, b := sums.B1.MultiExp(pk.G1.B, s.inB, config)
	return sums, errors.Join(l, a, b)
}
