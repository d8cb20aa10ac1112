package groth16

import (
	"errors"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"headroom/model"
)

// Prep splits the assignment by density, since the MSMs of a and b run over the wires that occur in A and in B, and
// loads it. The conversion out of Montgomery form is part of the MSM.
func (p *Partition) Prep() error {
	return p.take(prep, func() error {
		sums, err := p.openSums()
		if err != nil {
			return err
		}
		if p.scalars, err = NewBlock("scalars", p.keys.circuit.sizes().Scalars); err != nil {
			return err
		}
		inA, inB := p.split()
		dense(inA, p.wires(), p.keys.proving.InfinityA)
		dense(inB, p.wires(), p.keys.proving.InfinityB)
		return sums.LoadAssignment(p.wires()[p.keys.system.GetNbPublicVariables():], inA, inB)
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

// Kernel loads the vectors and computes the quotient h = (ab - c)/Z and its MSM. The vectors are its scratch memory. It
// shares nothing with Prep, so it takes as long beside it as after it.
func (p *Partition) Kernel() error {
	return p.take(kernel, func() error {
		sums, err := p.openSums()
		if err != nil {
			return err
		}
		if err := sums.LoadVectors(p.vector(0), p.vector(1), p.vector(2)); err != nil {
			return err
		}
		p.h, err = sums.Quotient()
		return err
	})
}

// Tail computes the MSMs of l, a and b in G1, and that of b in G2 where Finish does not.
func (p *Partition) Tail() error {
	return p.take(tail, func() (err error) {
		defer func() { err = errors.Join(err, p.sums.free()) }()
		sums, err := p.openSums()
		if err != nil {
			return err
		}
		p.rest, err = sums.Assignment()
		return err
	})
}

// Finish computes the MSM of b in G2, if Tail did not, and assembles the proof:
//
//	A = α + Σa + rδ,  B = β + Σb + sδ,  C = Σl + Σh + sA + rB - rsδ
//
// r and s are hashed from the statement, so a partition's proof is the same in every run. That is for tests: a proof
// hides nothing from one who can compute them.
func (p *Partition) Finish() (proof Proof, err error) {
	err = p.take(finish, func() error {
		pk := p.keys.proving
		b2, err := p.sumB2()
		if err != nil {
			return err
		}
		r, s := p.blinding("r"), p.blinding("s")
		rs := new(big.Int).Mul(r, s)

		var t curve.G1Jac
		var delta1 curve.G1Jac
		delta1.FromAffine(&pk.G1.Delta)
		a, b1, c := p.rest.A, p.rest.B1, p.rest.L
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

// sumB2 returns the sum of b in G2.
func (p *Partition) sumB2() (b2 curve.G2Jac, err error) {
	if p.rest.B2 != nil {
		return *p.rest.B2, nil
	}
	defer ReturnHeap()
	_, inB := p.split()
	_, err = b2.MultiExp(p.keys.proving.G2.B, inB, msm(p.threads.Finish))
	return b2, err
}

// blinding returns one of the scalars that make proofs of one witness differ.
func (p *Partition) blinding(name string) *big.Int {
	digest := p.Statement.digest("blinding "+name, 0)
	var e fr.Element
	e.SetBytes(digest[:])
	return e.BigInt(new(big.Int))
}

func msm(n int) ecc.MultiExpConfig { return ecc.MultiExpConfig{NbTasks: threads(n)} }
