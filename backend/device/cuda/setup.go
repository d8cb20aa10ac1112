package cuda

import (
	"errors"
	"fmt"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bls12-381"

	"headroom/model"
)

// Secrets are what a setup draws. Whoever knows them can forge proofs, so keys made from secrets that a program holds
// are for tests.
type Secrets struct{ T, Alpha, Beta, Gamma, Delta fr.Element }

// NewSecrets draws secrets, none of them zero, in the order in which gnark's setup does.
func NewSecrets() (s Secrets, err error) {
	for _, e := range []*fr.Element{&s.T, &s.Alpha, &s.Beta, &s.Gamma, &s.Delta} {
		for e.IsZero() {
			if _, err := e.SetRandom(); err != nil {
				return s, fmt.Errorf("cuda: draw secrets: %w", err)
			}
		}
	}
	return s, nil
}

// Setup computes the test keys of a circuit without commitments: those of gnark's setup with the same secrets. The
// points are multiplied on the card, setupChunk at a time.
func (c *Card) Setup(system *cs.R1CS, s Secrets) (*groth16.ProvingKey, *groth16.VerifyingKey, error) {
	_, _, base1, base2 := curve.Generators()
	return setup(system, s,
		func(k []fr.Element) ([]curve.G1Affine, error) { return multiples(c, G1, base1, k) },
		func(k []fr.Element) ([]curve.G2Affine, error) { return multiples(c, G2, base2, k) })
}

// setup is Setup with the multiplications of the generators as given.
func setup(system *cs.R1CS, s Secrets, inG1 func([]fr.Element) ([]curve.G1Affine, error),
	inG2 func([]fr.Element) ([]curve.G2Affine, error)) (*groth16.ProvingKey, *groth16.VerifyingKey, error) {
	commitments := system.CommitmentInfo.(constraint.Groth16Commitments)
	if len(commitments) > 0 {
		return nil, nil, fmt.Errorf("cuda: setup of a circuit with %d commitments: should have none", len(commitments))
	}
	pk, vk := new(groth16.ProvingKey), new(groth16.VerifyingKey)
	pk.Domain = *fft.NewDomain(uint64(system.GetNbConstraints()))
	q := evaluate(system, &pk.Domain, s.T)
	k := q.linear(s, system.GetNbPublicVariables())
	z := q.divisor(s, int(pk.Domain.Cardinality))
	var a, b []fr.Element
	a, pk.InfinityA = nonzero(q.a)
	b, pk.InfinityB = nonzero(q.b)
	pk.NbInfinityA, pk.NbInfinityB = uint64(len(q.a)-len(a)), uint64(len(q.b)-len(b))

	var one1 []curve.G1Affine
	var one2 []curve.G2Affine
	for _, m := range []struct {
		to      *[]curve.G1Affine
		scalars []fr.Element
	}{
		{&one1, []fr.Element{s.Alpha, s.Beta, s.Delta}}, {&pk.G1.A, a}, {&pk.G1.B, b}, {&pk.G1.Z, z},
		{&vk.G1.K, k[:system.GetNbPublicVariables()]}, {&pk.G1.K, k[system.GetNbPublicVariables():]},
	} {
		var err error
		if *m.to, err = inG1(m.scalars); err != nil {
			return nil, nil, err
		}
	}
	var err error
	if one2, err = inG2([]fr.Element{s.Beta, s.Delta, s.Gamma}); err != nil {
		return nil, nil, err
	}
	if pk.G2.B, err = inG2(b); err != nil {
		return nil, nil, err
	}
	pk.G1.Alpha, pk.G1.Beta, pk.G1.Delta = one1[0], one1[1], one1[2]
	vk.G1.Alpha, vk.G1.Beta, vk.G1.Delta = one1[0], one1[1], one1[2]
	pk.G2.Beta, pk.G2.Delta = one2[0], one2[1]
	vk.G2.Beta, vk.G2.Delta, vk.G2.Gamma = one2[0], one2[1], one2[2]
	vk.PublicAndCommitmentCommitted = [][]int{}
	return pk, vk, vk.Precompute()
}

// linear returns (beta a + alpha b + c) / gamma of the public wires and the same over delta of the private ones.
func (q qap) linear(s Secrets, public int) []fr.Element {
	k := make([]fr.Element, len(q.a))
	var overGamma, overDelta, t fr.Element
	overGamma.Inverse(&s.Gamma)
	overDelta.Inverse(&s.Delta)
	for i := range k {
		k[i].Mul(&q.a[i], &s.Beta)
		k[i].Add(&k[i], t.Mul(&q.b[i], &s.Alpha))
		k[i].Add(&k[i], &q.c[i])
		if i < public {
			k[i].Mul(&k[i], &overGamma)
		} else {
			k[i].Mul(&k[i], &overDelta)
		}
	}
	return k
}

// divisor returns t^i z / delta for i below n, in bit-reversed order. The last has no point: h has degree n - 2.
func (q qap) divisor(s Secrets, n int) []fr.Element {
	powers := make([]fr.Element, n)
	var e fr.Element
	e.Inverse(&s.Delta).Mul(&e, &q.z)
	for i := range powers {
		powers[i] = e
		e.Mul(&e, &s.T)
	}
	fft.BitReverse(powers)
	return powers[:n-1]
}

// nonzero returns the values that are not zero, and which are.
func nonzero(values []fr.Element) (rest []fr.Element, zero []bool) {
	zero = make([]bool, len(values))
	for i, v := range values {
		if zero[i] = v.IsZero(); !zero[i] {
			rest = append(rest, v)
		}
	}
	return rest, zero
}

// setupChunk is how many points are multiplied at a time.
const setupChunk = 1 << 20

// multiples returns scalar times base on the card. What it takes there it has given back when it returns.
func multiples[A any](c *Card, g Group, base A, scalars []fr.Element) (points []A, err error) {
	if len(scalars) == 0 {
		return nil, nil
	}
	size, err := c.MultiplesSize(g)
	if err != nil {
		return nil, err
	}
	stream, err := c.NewStream()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stream.Free()) }()
	points = make([]A, len(scalars))
	chunk := min(len(scalars), setupChunk)
	var at [4]Slice
	sizes := [4]int{len(memory([]A{base})), int(size.Device), fr.Bytes * chunk, len(memory(points[:chunk]))}
	for i, size := range sizes {
		var buffer *Buffer
		if buffer, err = c.Allocate(model.Bytes(size)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, buffer.Free()) }()
		at[i] = buffer.At(0)
	}
	if err := stream.Upload(at[0], memory([]A{base})); err != nil {
		return nil, err
	}
	for first := 0; first < len(scalars); first += chunk {
		part := scalars[first:min(first+chunk, len(scalars))]
		if err := stream.Upload(at[2], memory(part)); err != nil {
			return nil, err
		}
		if err := stream.Multiples(g, at[0], at[2], len(part), at[1], at[3]); err != nil {
			return nil, err
		}
		if err := stream.Download(memory(points[first:first+len(part)]), at[3]); err != nil {
			return nil, err
		}
	}
	return points, stream.Wait()
}
