package groth16

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"

	"headroom/model"
)

// Prep splits the assignment by density: the MSMs of a and b run over the wires that occur in A and in B. The
// conversion out of Montgomery form is part of gnark-crypto's MSM.
func (p *Partition) Prep() error {
	return p.take(prep, func() (err error) {
		if p.scalars, err = NewBlock("scalars", p.keys.circuit.sizes().Scalars); err != nil {
			return err
		}
		inA, inB := p.split()
		dense(inA, p.wires(), p.keys.proving.InfinityA)
		dense(inB, p.wires(), p.keys.proving.InfinityB)
		return nil
	})
}

// split views the scalars of A and those of B.
func (p *Partition) split() (inA, inB fr.Vector) {
	a, b := len(p.keys.proving.G1.A), len(p.keys.proving.G1.B)
	return p.scalars.elements(0, a), p.scalars.elements(fr.Bytes*model.Bytes(a), b)
}

// dense copies the values whose point is not at infinity.
func dense(to, from fr.Vector, infinity []bool) {
	n := 0
	for i := range from {
		if !infinity[i] {
			to[n] = from[i]
			n++
		}
	}
}

// Kernel computes the quotient h = (ab - c)/Z and its MSM. The vectors are its scratch memory.
func (p *Partition) Kernel() error {
	return p.take(kernel, func() error {
		defer ReturnHeap()
		h := p.quotient()
		// h has degree n-2: its last coefficient is zero and has no point.
		z := p.keys.proving.G1.Z
		_, err := p.h.MultiExp(z, h[:len(z)], msm(p.threads.Kernel))
		return err
	})
}

// quotient overwrites a with the coefficients of h, in the bit-reversed order that the key's points are in. Z is
// constant on the coset, so division by it is one factor.
func (p *Partition) quotient() fr.Vector {
	domain, tasks := &p.keys.proving.Domain, fft.WithNbTasks(threads(p.threads.Kernel))
	a, b, c := p.vector(0), p.vector(1), p.vector(2)
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

// Tail computes the MSMs of l, a and b in G1.
func (p *Partition) Tail() error {
	return p.take(tail, func() error {
		defer ReturnHeap()
		pk, config := p.keys.proving, msm(p.threads.Tail)
		inA, inB := p.split()
		if _, err := p.l.MultiExp(pk.G1.K, p.wires()[p.keys.system.GetNbPublicVariables():], config); err != nil {
			return err
		}
		if _, err := p.a.MultiExp(pk.G1.A, inA, config); err != nil {
			return err
		}
		_, err := p.b1.MultiExp(pk.G1.B, inB, config)
		return err
	})
}

// Finish computes the MSM of b in G2 and assembles the proof:
//
//	A = α + Σa + rδ,  B = β + Σb + sδ,  C = Σl + Σh + sA + rB - rsδ
//
// r and s are hashed from the statement, so a partition's proof is the same in every run. That is for tests: a proof
// hides nothing from one who can compute them.
func (p *Partition) Finish() (proof Proof, err error) {
	err = p.take(finish, func() error {
		defer ReturnHeap()
		pk := p.keys.proving
		var b2 curve.G2Jac
		_, inB := p.split()
		if _, err := b2.MultiExp(pk.G2.B, inB, msm(p.threads.Finish)); err != nil {
			return err
		}
		r, s := p.blinding("r"), p.blinding("s")
		rs := new(big.Int).Mul(r, s)

		var t curve.G1Jac
		var delta1 curve.G1Jac
		delta1.FromAffine(&pk.G1.Delta)
		a, b1, c := p.a, p.b1, p.l
		a.AddMixed(&pk.G1.Alpha).AddAssign(t.ScalarMultiplication(&delta1, r))
		b1.AddMixed(&pk.G1.Beta).AddAssign(t.ScalarMultiplication(&delta1, s))
		c.AddAssign(&p.h)
		c.AddAssign(t.ScalarMultiplication(&a, s))
		c.AddAssign(t.ScalarMultiplication(&b1, r))
		c.SubAssign(t.ScalarMultiplication(&delta1, rs))

		var delta2 curve.G2Jac
		delta2.FromAffine(&pk.G2.Delta)
		b2.AddMixed(&pk.G2.Beta).AddAssign(delta2.ScalarMultiplication(&delta2, s))

		var first, third curve.G1Affine
		var second curve.G2Affine
		proof = encodeProof(first.FromJacobian(&a), third.FromJacobian(&c), second.FromJacobian(&b2))
		return nil
	})
	return proof, err
}

// blinding returns one of the scalars that make proofs of one witness differ.
func (p *Partition) blinding(name string) *big.Int {
	digest := p.Statement.digest("blinding "+name, 0)
	var e fr.Element
	e.SetBytes(digest[:])
	return e.BigInt(new(big.Int))
}

func msm(n int) ecc.MultiExpConfig { return ecc.MultiExpConfig{NbTasks: threads(n)} }
