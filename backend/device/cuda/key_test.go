package cuda

import (
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
	cs "github.com/consensys/gnark/constraint/bls12-381"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/logger"
)

// powers is the circuit x (x + 1)^length = y.
type powers struct {
	X frontend.Variable
	Y frontend.Variable `gnark:",public"`

	length int
}

func (p *powers) Define(api frontend.API) error {
	v := p.X
	for range p.length {
		v = api.Mul(v, api.Add(p.X, 1))
	}
	api.AssertIsEqual(v, p.Y)
	return nil
}

// compile returns the circuit's constraints.
func compile(t testing.TB, length int) *cs.R1CS {
	t.Helper()
	logger.Disable()
	compiled, err := frontend.Compile(ecc.BLS12_381.ScalarField(), r1cs.NewBuilder, &powers{length: length})
	if err != nil {
		t.Fatal(err)
	}
	return compiled.(*cs.R1CS)
}

// proving is a proving key and what a witness of its circuit gives the prover.
type proving struct {
	key                        *groth16.ProvingKey
	a, b, c, private, inA, inB fr.Vector
}

// newProving solves the circuit for a key that setup makes.
func newProving(t testing.TB, length int, setup func(*cs.R1CS) *groth16.ProvingKey) (p proving) {
	t.Helper()
	system := compile(t, length)
	p.key = setup(system)
	var y, x1 fr.Element
	y.SetUint64(7)
	x1.SetUint64(8)
	for range length {
		y.Mul(&y, &x1)
	}
	witness, err := frontend.NewWitness(&powers{X: 7, Y: y}, ecc.BLS12_381.ScalarField())
	if err != nil {
		t.Fatal(err)
	}
	solved, err := system.Solve(witness)
	if err != nil {
		t.Fatal(err)
	}
	s := solved.(*cs.R1CSSolution)
	n := int(p.key.Domain.Cardinality)
	padded := func(v []fr.Element) fr.Vector {
		return append(make(fr.Vector, 0, n), append(v, make([]fr.Element, n-len(v))...)...)
	}
	p.a, p.b, p.c = padded(s.A), padded(s.B), padded(s.C)
	p.private = fr.Vector(s.W[system.GetNbPublicVariables():])
	for i, w := range s.W {
		if !p.key.InfinityA[i] {
			p.inA = append(p.inA, w)
		}
		if !p.key.InfinityB[i] {
			p.inB = append(p.inB, w)
		}
	}
	return p
}

func gnarkSetup(t testing.TB) func(*cs.R1CS) *groth16.ProvingKey {
	return func(system *cs.R1CS) *groth16.ProvingKey {
		pk := new(groth16.ProvingKey)
		if err := groth16.Setup(system, pk, new(groth16.VerifyingKey)); err != nil {
			t.Fatal(err)
		}
		return pk
	}
}

// prove computes the sums on the card.
func (p proving) prove(w *Workspace) (h curve.G1Jac, s Sums, err error) {
	if err = errors.Join(w.LoadVectors(p.a, p.b, p.c), w.LoadAssignment(p.private, p.inA, p.inB)); err != nil {
		return h, s, err
	}
	if h, err = w.Quotient(); err != nil {
		return h, s, err
	}
	s, err = w.Assignment()
	return h, s, err
}

// want computes the sums as gnark's prover does.
func (p proving) want(t testing.TB) (h curve.G1Jac, s Sums) {
	t.Helper()
	v := []fr.Vector{append(fr.Vector{}, p.a...), append(fr.Vector{}, p.b...), append(fr.Vector{}, p.c...)}
	domain := &p.key.Domain
	for _, x := range v {
		domain.FFTInverse(x, fft.DIF)
		domain.FFT(x, fft.DIT, fft.OnCoset())
	}
	var z fr.Element
	one := fr.One()
	z.Exp(domain.FrMultiplicativeGen, new(big.Int).SetUint64(domain.Cardinality)).Sub(&z, &one).Inverse(&z)
	v[0].Mul(v[0], v[1])
	v[0].Sub(v[0], v[2])
	v[0].ScalarMul(v[0], &z)
	domain.FFTInverse(v[0], fft.DIF, fft.OnCoset())
	for _, m := range []struct {
		sum     *curve.G1Jac
		points  []curve.G1Affine
		scalars fr.Vector
	}{
		{&h, p.key.G1.Z, v[0][:len(p.key.G1.Z)]}, {&s.L, p.key.G1.K, p.private},
		{&s.A, p.key.G1.A, p.inA}, {&s.B1, p.key.G1.B, p.inB},
	} {
		if _, err := m.sum.MultiExp(m.points, m.scalars, ecc.MultiExpConfig{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.B2.MultiExp(p.key.G2.B, p.inB, ecc.MultiExpConfig{}); err != nil {
		t.Fatal(err)
	}
	return h, s
}

// TestKeyEqualsGnark proves with gnark's key on the card, and holds the sums, the sizes and that memory stays flat.
func TestKeyEqualsGnark(t *testing.T) {
	const rounds = 200
	c := openCard(t)
	for _, length := range []int{5, 1000} {
		p := newProving(t, length, gnarkSetup(t))
		h, want := p.want(t)
		for parts, g2 := range map[int]bool{1: true, 2: false, 3: true} {
			key, err := c.card.NewKey(p.key, g2)
			c.must(err)
			size, err := c.card.KeySize(p.key, g2)
			c.must(err)
			c.taken("key", size)
			w, err := key.NewWorkspace(parts)
			c.must(err)
			worker, err := key.WorkspaceSize(parts)
			c.must(err)
			c.taken("key and workspace", Size{Device: size.Device + worker.Device})

			var before, after Book
			for round := range rounds {
				gotH, got, err := p.prove(w)
				c.must(err)
				if !gotH.Equal(&h) || !got.L.Equal(&want.L) || !got.A.Equal(&want.A) || !got.B1.Equal(&want.B1) ||
					g2 && !got.B2.Equal(&want.B2) {
					t.Fatalf("length %d, round %d: sums differ from gnark's", length, round)
				}
				if after, err = c.card.Memory(); round == 0 {
					before = after
				}
				c.must(err)
			}
			if before != after {
				t.Errorf("memory grew: after one partition %+v, after %d %+v", before, rounds, after)
			}
			if w.LoadVectors(p.a[1:], p.b, p.c) == nil || w.LoadAssignment(p.private[1:], p.inA, p.inB) == nil {
				t.Error("a short vector was taken")
			}
			c.must(w.Free())
			c.must(key.Free())
			c.taken("nothing", Size{})
		}
	}
}

// TestKeyBeyondCap holds that a key or a workspace that does not fit is refused whole, that one in parts can fit where
// a whole one cannot, and that the card goes on.
func TestKeyBeyondCap(t *testing.T) {
	c := openCard(t)
	p := newProving(t, 1000, gnarkSetup(t))
	size, err := c.card.KeySize(p.key, true)
	c.must(err)
	key, err := c.card.NewKey(p.key, true)
	c.must(err)
	inParts, err := key.WorkspaceSize(8)
	c.must(err)
	c.must(key.Free())

	small, err := c.card.library.Open(0, size.Device+inParts.Device)
	c.must(err)
	defer func() { c.must(small.Close()) }()
	key, err = small.NewKey(p.key, true)
	c.must(err)
	if _, err := key.NewWorkspace(1); !OutOfMemory(err) {
		t.Errorf("a workspace beyond the cap: %v", err)
	}
	w, err := key.NewWorkspace(8)
	c.must(err)
	c.must(w.Free())
	c.must(key.Free())

	smaller, err := c.card.library.Open(0, size.Device-1)
	c.must(err)
	defer func() { c.must(smaller.Close()) }()
	if _, err := smaller.NewKey(p.key, true); !OutOfMemory(err) {
		t.Errorf("a key beyond the cap: %v", err)
	}
	for _, card := range []*Card{small, smaller} {
		book, err := card.Memory()
		c.must(err)
		if book.Taken != (Size{}) {
			t.Errorf("after a refusal %v are taken", book.Taken)
		}
	}
}

// taken holds what the card's book says is taken.
func (c testCard) taken(what string, want Size) {
	c.Helper()
	book, err := c.card.Memory()
	c.must(err)
	if book.Taken != want {
		c.Errorf("%s: %v are taken, should be %v", what, book.Taken, want)
	}
}

// BenchmarkPartition proves on the card, b_g2 too, with vectors and scalars in plain and in page-locked memory. Two
// workers share the card where not said otherwise.
func BenchmarkPartition(b *testing.B) {
	for _, log := range []int{16, 18, 20} {
		c := openCard(b)
		secrets, err := NewSecrets()
		c.must(err)
		p := newProving(b, 1<<log-2, func(system *cs.R1CS) *groth16.ProvingKey {
			pk, _, err := c.card.Setup(system, secrets)
			c.must(err)
			return pk
		})
		key, err := c.card.NewKey(p.key, true)
		c.must(err)
		c.Cleanup(func() { c.must(key.Free()) })
		b.Run(fmt.Sprintf("plain/%d", log), func(b *testing.B) { c.proveWith(b, 2, key, p) })
		for _, v := range []fr.Vector{p.a, p.b, p.c, p.private, p.inA, p.inB} {
			c.pin(v)
		}
		b.Run(fmt.Sprintf("pinned/%d", log), func(b *testing.B) { c.proveWith(b, 2, key, p) })
		b.Run(fmt.Sprintf("pinned_one_worker/%d", log), func(b *testing.B) { c.proveWith(b, 1, key, p) })
	}
}

// proveWith proves b.N partitions with workers that share the card: one computes while another loads.
func (c testCard) proveWith(b *testing.B, workers int, key *Key, p proving) {
	var computing sync.Mutex
	var group sync.WaitGroup
	var begun atomic.Int64
	faults := make([]error, workers)
	workspaces := make([]*Workspace, workers)
	for i := range workspaces {
		w, err := key.NewWorkspace(1)
		c.must(err)
		defer func() { c.must(w.Free()) }()
		workspaces[i] = w
	}
	b.ResetTimer()
	for i, w := range workspaces {
		group.Go(func() {
			for faults[i] == nil && begun.Add(1) <= int64(b.N) {
				faults[i] = errors.Join(w.LoadVectors(p.a, p.b, p.c), w.LoadAssignment(p.private, p.inA, p.inB))
				computing.Lock()
				_, quotient := w.Quotient()
				_, assignment := w.Assignment()
				computing.Unlock()
				faults[i] = errors.Join(faults[i], quotient, assignment)
			}
		})
	}
	group.Wait()
	b.StopTimer()
	c.must(errors.Join(faults...))
}

// pin has a vector page-locked, until the test ends.
func (c testCard) pin(v fr.Vector) {
	c.Helper()
	var pinner runtime.Pinner
	pinner.Pin(&v[0])
	c.must(c.card.Pin(memory(v)))
	c.Cleanup(func() {
		c.must(c.card.Unpin(memory(v)))
		pinner.Unpin()
	})
}
