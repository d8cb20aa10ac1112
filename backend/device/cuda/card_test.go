package cuda

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"

	"headroom/model"
)

// testCard is a card with a stream, for one test.
type testCard struct {
	testing.TB
	card   *Card
	stream *Stream
}

// openCard opens the first card. Without the library or a card the test is skipped.
func openCard(t testing.TB) testCard {
	t.Helper()
	const skipped = "NOT TESTED: %v. The kernels are not compared with gnark-crypto. To run it, on a machine with a card: " +
		"make -C cuda && %s=$PWD/cuda/build/libheadroom_cuda.so go test ./backend/device/cuda"
	library, err := Load("")
	if err != nil {
		t.Skipf(skipped, err, Environment)
	}
	card, err := library.Open(0, 0)
	if err != nil {
		t.Skipf(skipped, err, Environment)
	}
	c := testCard{TB: t, card: card}
	c.stream, err = card.NewStream()
	c.must(err)
	t.Cleanup(func() {
		c.must(c.stream.Free())
		book, err := card.Memory()
		c.must(err)
		if book.Taken != (Size{}) {
			t.Errorf("%v are taken when all is freed", book.Taken)
		}
		c.must(card.Close())
	})
	return c
}

func (c testCard) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// allocate takes memory until the test ends.
func (c testCard) allocate(size model.Bytes) Slice {
	c.Helper()
	b, err := c.card.Allocate(size)
	c.must(err)
	c.Cleanup(func() { c.must(b.Free()) })
	return b.At(0)
}

// put uploads values to memory of their size.
func put[T any](c testCard, values []T) Slice {
	c.Helper()
	s := c.allocate(model.Bytes(len(memory(values))))
	c.must(c.stream.Upload(s, memory(values)))
	return s
}

// get downloads n values.
func get[T any](c testCard, from Slice, n int) []T {
	c.Helper()
	values := make([]T, n)
	c.must(c.stream.Download(memory(values), from))
	c.must(c.stream.Wait())
	return values
}

func randomVector(n int, seed uint64) fr.Vector {
	rng, v := rand.New(rand.NewPCG(seed, uint64(n))), make(fr.Vector, n)
	for i := range v {
		// Any words below the modulus are an element.
		v[i] = fr.Element{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64() >> 2}
	}
	return v
}

func equalVectors(c testCard, what string, got []fr.Element, want fr.Vector) {
	c.Helper()
	for i := range want {
		if got[i] != want[i] {
			c.Fatalf("%s of %d: value %d is %v, should be %v", what, len(want), i, &got[i], &want[i])
		}
	}
}

func TestTransformsEqualGnark(t *testing.T) {
	for _, log := range []int{0, 1, 2, 3, 8, 9, 13, 16} {
		c := openCard(t)
		n := 1 << log
		domain := fft.NewDomain(uint64(n))
		ntt, err := c.card.NewNTT(log)
		c.must(err)
		c.Cleanup(func() { c.must(ntt.Free()) })
		v := randomVector(n, 1)
		data := put(c, v)
		for _, step := range []struct {
			name  string
			what  Transform
			gnark func()
		}{
			{"inverse", Inverse, func() { domain.FFTInverse(v, fft.DIF) }},
			{"coset forward", CosetForward, func() { domain.FFT(v, fft.DIT, fft.OnCoset()) }},
			{"coset inverse", CosetInverse, func() { domain.FFTInverse(v, fft.DIF, fft.OnCoset()) }},
		} {
			step.gnark()
			c.must(c.stream.Transform(ntt, step.what, data))
			equalVectors(c, step.name, get[fr.Element](c, data, n), v)
		}
	}
}

// TestQuotientEqualsGnark compares the quotient with what gnark's prover computes.
func TestQuotientEqualsGnark(t *testing.T) {
	c := openCard(t)
	const log, n = 14, 1 << 14
	ntt, err := c.card.NewNTT(log)
	c.must(err)
	c.Cleanup(func() { c.must(ntt.Free()) })
	v := [3]fr.Vector{randomVector(n, 1), randomVector(n, 2), randomVector(n, 3)}
	slices := [3]Slice{put(c, v[0]), put(c, v[1]), put(c, v[2])}
	c.must(c.stream.Quotient(ntt, slices[0], slices[1], slices[2]))

	domain := fft.NewDomain(n)
	for _, x := range v {
		domain.FFTInverse(x, fft.DIF)
		domain.FFT(x, fft.DIT, fft.OnCoset())
	}
	var z fr.Element
	one := fr.One()
	z.Exp(domain.FrMultiplicativeGen, big.NewInt(n)).Sub(&z, &one).Inverse(&z)
	v[0].Mul(v[0], v[1])
	v[0].Sub(v[0], v[2])
	v[0].ScalarMul(v[0], &z)
	domain.FFTInverse(v[0], fft.DIF, fft.OnCoset())
	equalVectors(c, "quotient", get[fr.Element](c, slices[0], n), v[0])
}

// points makes scalars[i] times the generator on the card: affine points, in the memory of a Slice.
func points[A any](c testCard, g Group, base A, scalars fr.Vector) Slice {
	c.Helper()
	size, err := c.card.MultiplesSize(g)
	c.must(err)
	to := put(c, make([]A, len(scalars)))
	c.must(c.stream.Multiples(g, put(c, []A{base}), put(c, scalars), len(scalars), c.allocate(size.Device), to))
	return to
}

// multiplied runs an MSM on the card.
func multiplied[J any](c testCard, g Group, points Slice, scalars fr.Vector) J {
	c.Helper()
	size, err := c.card.MSMSize(g, len(scalars))
	c.must(err)
	result := put(c, make([]J, 1))
	c.must(c.stream.MSM(g, points, put(c, scalars), len(scalars), c.allocate(size.Device), result))
	return get[J](c, result, 1)[0]
}

// witness is a vector of scalars as a prover meets them: bits, minus one, small and full values.
func witness(n int) fr.Vector {
	v := randomVector(n, 5)
	for i := range v {
		switch i % 5 {
		case 0:
			v[i].SetZero()
		case 1:
			v[i].SetOne()
		case 2:
			v[i].SetInt64(-1)
		case 3:
			v[i].SetUint64(uint64(i))
		}
	}
	return v
}

// lengths surround powers of two.
var lengths = []int{1, 2, 3, 255, 256, 257, 4095, 1 << 12, 4097, 1 << 15}

func TestG1EqualsGnark(t *testing.T) {
	_, _, base, _ := curve.Generators()
	for _, n := range lengths {
		c := openCard(t)
		k := witness(n) // points at infinity, equal and opposite ones among them
		p := points(c, G1, base, k)
		affine := get[curve.G1Affine](c, p, n)
		for i, want := range curve.BatchScalarMultiplicationG1(&base, k) {
			if !affine[i].Equal(&want) {
				t.Fatalf("multiple %d of %d is %v, should be %v", i, n, &affine[i], &want)
			}
		}
		for _, scalars := range []fr.Vector{randomVector(n, 6), witness(n), make(fr.Vector, n)} {
			got := multiplied[curve.G1Jac](c, G1, p, scalars)
			var want curve.G1Jac
			if _, err := want.MultiExp(affine, scalars, ecc.MultiExpConfig{}); err != nil {
				t.Fatal(err)
			}
			if !got.Equal(&want) {
				t.Fatalf("MSM of %d points is %v, should be %v", n, &got, &want)
			}
		}
	}
}

func TestG2EqualsGnark(t *testing.T) {
	_, _, _, base := curve.Generators()
	for _, n := range lengths {
		c := openCard(t)
		k := witness(n)
		p := points(c, G2, base, k)
		affine := get[curve.G2Affine](c, p, n)
		for i, want := range curve.BatchScalarMultiplicationG2(&base, k) {
			if !affine[i].Equal(&want) {
				t.Fatalf("multiple %d of %d is %v, should be %v", i, n, &affine[i], &want)
			}
		}
		for _, scalars := range []fr.Vector{randomVector(n, 6), witness(n), make(fr.Vector, n)} {
			got := multiplied[curve.G2Jac](c, G2, p, scalars)
			var want curve.G2Jac
			if _, err := want.MultiExp(affine, scalars, ecc.MultiExpConfig{}); err != nil {
				t.Fatal(err)
			}
			if !got.Equal(&want) {
				t.Fatalf("MSM of %d points is %v, should be %v", n, &got, &want)
			}
		}
	}
}

// TestRefusals holds that what does not fit is refused with the value and what would be right, and leaves the card as
// it was.
func TestRefusals(t *testing.T) {
	c := openCard(t)
	small, err := c.card.library.Open(0, model.MiB)
	c.must(err)
	defer func() { c.must(small.Close()) }()
	half, err := small.Allocate(model.MiB / 2)
	c.must(err)
	defer func() { c.must(half.Free()) }()
	if _, err := small.Allocate(model.MiB/2 + 1); !OutOfMemory(err) {
		t.Errorf("beyond the cap: %v", err)
	}
	if _, err := small.NewNTT(20); !OutOfMemory(err) {
		t.Errorf("factors beyond the cap: %v", err)
	}
	book, err := small.Memory()
	c.must(err)
	if want := (Size{Device: model.MiB / 2}); book.Taken != want || book.Peak != want {
		t.Errorf("book %+v, should have %v taken and as peak", book, want)
	}
	for name, err := range map[string]error{
		"upload past the end":   c.stream.Upload(c.allocate(64), make([]byte, 65)),
		"offset of 8":           c.stream.Upload(Slice{c.allocate(64).Buffer, 8}, make([]byte, 8)),
		"another card's buffer": c.stream.Upload(half.At(0), make([]byte, 16)),
	} {
		if err == nil || OutOfMemory(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.card.MSMSize(G1, 0); err == nil {
		t.Error("an MSM of no points has a size")
	}
}

// TestPinned holds that what is pinned is copied as it is, that the book knows it, and that it is an error to pin it twice
// and to unpin what is not pinned.
func TestPinned(t *testing.T) {
	c := openCard(t)
	const n = 1 << 12
	v := randomVector(n, 7)
	c.pin(v)
	size := model.Bytes(len(memory(v)))
	c.taken("pinned", Size{Pinned: size})
	equalVectors(c, "pinned vector", get[fr.Element](c, put(c, v), n), v)
	if err := c.card.Pin(memory(v)); err == nil {
		t.Error("memory is pinned twice")
	}
	other := make(fr.Vector, 1)
	if err := c.card.Unpin(memory(other)); err == nil {
		t.Error("memory is unpinned that was not pinned")
	}
	book, err := c.card.Memory()
	c.must(err)
	if book.Taken.Pinned != size || book.Peak.Pinned != size {
		t.Errorf("after refusals %+v are pinned, should be %v", book, size)
	}
}
