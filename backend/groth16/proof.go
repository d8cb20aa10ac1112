package groth16

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
)

// ProofSize is the length of a proof in bytes.
const ProofSize = 2*curve.SizeOfG1AffineCompressed + curve.SizeOfG2AffineCompressed

// Proof is a Groth16 proof as compressed points: A in G1, B in G2, C in G1. gnark's own encoding begins with the
// same bytes and goes on with commitments, of which these circuits have none.
type Proof [ProofSize]byte

func encodeProof(a, c *curve.G1Affine, b *curve.G2Affine) (p Proof) {
	first, second, third := a.Bytes(), b.Bytes(), c.Bytes()
	copy(p[:], first[:])
	copy(p[len(first):], second[:])
	copy(p[len(first)+len(second):], third[:])
	return p
}

// decode reads the points and checks that each is canonical, on its curve and in its subgroup.
func (p *Proof) decode() (*groth16.Proof, error) {
	const b, c = curve.SizeOfG1AffineCompressed, curve.SizeOfG1AffineCompressed + curve.SizeOfG2AffineCompressed
	var proof groth16.Proof
	if _, err := proof.Ar.SetBytes(p[:b]); err != nil {
		return nil, fmt.Errorf("groth16: proof: point A: %w", err)
	}
	if _, err := proof.Bs.SetBytes(p[b:c]); err != nil {
		return nil, fmt.Errorf("groth16: proof: point B: %w", err)
	}
	if _, err := proof.Krs.SetBytes(p[c:]); err != nil {
		return nil, fmt.Errorf("groth16: proof: point C: %w", err)
	}
	return &proof, nil
}

// Statement is what a proof is about: that the prover knows leaves, at indices which the statement determines, of
// the tree with this root over the data of this partition.
type Statement struct {
	Job, Partition int
	Root           [32]byte
}

// digest hashes the statement for one purpose and number.
func (s *Statement) digest(purpose string, number int) node {
	message := append([]byte("headroom groth16 "), purpose...)
	for _, v := range []int{number, s.Job, s.Partition} {
		message = binary.BigEndian.AppendUint64(message, uint64(v))
	}
	return sha256.Sum256(append(message, s.Root[:]...))
}

// tag is the field element that ties a proof to its statement.
func (s *Statement) tag() fr.Element {
	n := belowModulus(s.digest("tag", 0))
	return n.element()
}

// indices returns the challenged tree leaves.
func (s *Statement) indices(c circuit) []int {
	shape := c.shape()
	indices := make([]int, shape.challenges)
	for k := range indices {
		d := s.digest("challenge", k)
		indices[k] = int(binary.BigEndian.Uint64(d[:8]) % uint64(shape.units))
	}
	return indices
}

// public returns the circuit's public inputs in the order of its fields.
func (s *Statement) public(c circuit) fr.Vector {
	root := node(s.Root)
	inputs := append(fr.Vector{s.tag()}, families[c.Family].public(&root)...)
	for _, index := range s.indices(c) {
		inputs = append(inputs, fr.NewElement(uint64(index)))
	}
	return inputs
}

// Verify decodes the proof and checks it with gnark's verifier against public inputs recomputed from the statement.
func (k *Keys) Verify(s Statement, p Proof) error {
	proof, err := p.decode()
	if err != nil {
		return err
	}
	if err := groth16.Verify(proof, k.checks, s.public(k.circuit)); err != nil {
		return fmt.Errorf("groth16: proof of job %d partition %d: %w", s.Job, s.Partition, err)
	}
	return nil
}

// VerifyJob checks a job's proof, the concatenation of its partitions' proofs in the order of the statements.
func (k *Keys) VerifyJob(statements []Statement, proof []byte) error {
	if len(proof) != len(statements)*ProofSize {
		return fmt.Errorf("groth16: proof has %d bytes, and %d partitions make %d",
			len(proof), len(statements), len(statements)*ProofSize)
	}
	for i, s := range statements {
		if err := k.Verify(s, Proof(proof[i*ProofSize:])); err != nil {
			return err
		}
	}
	return nil
}
