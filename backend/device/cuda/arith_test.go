package cuda

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
)

// compilerFlags are those for programs on the host. The headers have pragmas for the card's compiler.
var compilerFlags = []string{"-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"}

// program is cuda/test/arith.cc, built for the host: the arithmetic of the kernels on this processor.
type program struct{ path string }

// buildProgram compiles the program. Without g++ the test is skipped.
func buildProgram(t *testing.T) program {
	t.Helper()
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("NOT TESTED, no g++: the kernels' arithmetic is not compared with gnark-crypto. " +
			"To run it: apt-get install g++ && go test ./backend/device/cuda")
	}
	path := filepath.Join(t.TempDir(), "arith")
	cuda := filepath.Join("..", "..", "..", "cuda")
	source := filepath.Join(cuda, "test", "arith.cc")
	// That they are looked at here tells the test cache that the result depends on them.
	headers, err := filepath.Glob(filepath.Join(cuda, "arith", "*.h"))
	if err != nil || len(headers) == 0 {
		t.Fatalf("no headers: %v", err)
	}
	for _, header := range headers {
		if _, err := os.ReadFile(header); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(compiler, append(slices.Clone(compilerFlags), "-O1", "-o", path, source)...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return program{path}
}

// request is one operation on many operands.
type request[In, Out, Want any] struct {
	name string
	in   []In
	want []Want
	same func(got *Out, want *Want) bool
}

// check runs the request and compares every result. An operand is the raw memory of an In, a result that of an Out.
func (r request[In, Out, Want]) check(t *testing.T, p program) {
	t.Helper()
	command := exec.Command(p.path)
	command.Stdin = bytes.NewReader(append(fmt.Appendf(nil, "%s %d\n", r.name, len(r.in)), memory(r.in)...))
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", r.name, err, &complaint)
	}
	got := make([]Out, len(r.in))
	if n := copy(memory(got), out); n != len(out) || n != len(memory(got)) {
		t.Fatalf("%s: %d bytes of results, should be %d", r.name, len(out), len(memory(got)))
	}
	for i := range got {
		if !r.same(&got[i], &r.want[i]) {
			t.Fatalf("%s of %v is %v, should be %v", r.name, r.in[i], got[i], r.want[i])
		}
	}
}

func equal[T comparable](got, want *T) bool { return *got == *want }

// apply computes what an operation should give.
func apply[In, Out any](in []In, f func(*In) Out) []Out {
	out := make([]Out, len(in))
	for i := range in {
		out[i] = f(&in[i])
	}
	return out
}

// edges are values at which carries, borrows and reductions change, and random ones.
func edges(modulus *big.Int, rng *rand.Rand) (values []*big.Int) {
	bits := modulus.BitLen()
	for _, v := range []int64{0, 1, 2} {
		values = append(values, big.NewInt(v), new(big.Int).Sub(modulus, big.NewInt(v+1)))
	}
	half := new(big.Int).Rsh(modulus, 1)
	values = append(values, half, new(big.Int).Add(half, big.NewInt(1)))
	for shift := 31; shift < bits; shift += 32 {
		power := new(big.Int).Lsh(big.NewInt(1), uint(shift))
		values = append(values, power, new(big.Int).Sub(power, big.NewInt(1)))
	}
	for range 16 {
		b := make([]byte, (bits+7)/8+8)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		v := new(big.Int).SetBytes(b)
		values = append(values, v.Mod(v, modulus))
	}
	return values
}

// pairs returns every ordered pair.
func pairs[T any](values []T) (out [][2]T) {
	for _, a := range values {
		for _, b := range values {
			out = append(out, [2]T{a, b})
		}
	}
	return out
}

// element is what a pointer to an element of gnark-crypto's fields can do.
type element[E any] interface {
	*E
	Add(*E, *E) *E
	Sub(*E, *E) *E
	Mul(*E, *E) *E
	Neg(*E) *E
	Double(*E) *E
	Square(*E) *E
	Inverse(*E) *E
}

func checkRing[E comparable, P element[E]](t *testing.T, p program, name string, values []E) {
	binary := func(op string, f func(z P, x, y *E) *E) {
		in := pairs(values)
		want := apply(in, func(v *[2]E) E { var z E; return *f(&z, &v[0], &v[1]) })
		request[[2]E, E, E]{name + op, in, want, equal[E]}.check(t, p)
	}
	binary(".add", P.Add)
	binary(".sub", P.Sub)
	binary(".mul", P.Mul)
	unary := func(op string, f func(z P, x *E) *E) {
		want := apply(values, func(v *E) E { var z E; return *f(&z, v) })
		request[E, E, E]{name + op, values, want, equal[E]}.check(t, p)
	}
	unary(".neg", P.Neg)
	unary(".double", P.Double)
	unary(".square", P.Square)
	unary(".inverse", P.Inverse)
}

func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func scalars() []fr.Element {
	return apply(edges(fr.Modulus(), seeded()), func(v **big.Int) (e fr.Element) { return *e.SetBigInt(*v) })
}

func coordinates() []fp.Element {
	return apply(edges(fp.Modulus(), seeded()), func(v **big.Int) (e fp.Element) { return *e.SetBigInt(*v) })
}

// TestArithmeticEqualsGnark compares the headers of cuda/arith with gnark-crypto. The card runs the same chains of
// words.
func TestArithmeticEqualsGnark(t *testing.T) {
	p := buildProgram(t)
	t.Run("fields", func(t *testing.T) { checkFields(t, p) })
	t.Run("extension", func(t *testing.T) { checkExtension(t, p) })
	t.Run("roots", func(t *testing.T) { checkRoots(t, p) })
	t.Run("G1", func(t *testing.T) { checkG1(t, p) })
	t.Run("G2", func(t *testing.T) { checkG2(t, p) })
}

func checkFields(t *testing.T, p program) {
	checkRing[fr.Element, *fr.Element](t, p, "fr", scalars())
	checkRing[fp.Element, *fp.Element](t, p, "fp", coordinates())

	plainR := apply(scalars(), func(e *fr.Element) [4]uint64 { return e.Bits() })
	request[fr.Element, [4]uint64, [4]uint64]{"fr.plain", scalars(), plainR, equal[[4]uint64]}.check(t, p)
	request[[4]uint64, fr.Element, fr.Element]{"fr.montgomery", plainR, scalars(), equal[fr.Element]}.check(t, p)
	plainP := apply(coordinates(), func(e *fp.Element) [6]uint64 { return e.Bits() })
	request[fp.Element, [6]uint64, [6]uint64]{"fp.plain", coordinates(), plainP, equal[[6]uint64]}.check(t, p)
	request[[6]uint64, fp.Element, fp.Element]{"fp.montgomery", plainP, coordinates(), equal[fp.Element]}.check(t, p)
}

func checkExtension(t *testing.T, p program) {
	values := apply(pairs(coordinates()[:12]), func(v *[2]fp.Element) curve.E2 { return curve.E2{A0: v[0], A1: v[1]} })
	// Every seventh value keeps the pairs few.
	var some []curve.E2
	for i := 0; i < len(values); i += 7 {
		some = append(some, values[i])
	}
	checkRing[curve.E2, *curve.E2](t, p, "fp2", some)

	products := func(v *[2]curve.E2) (sum fp.Element) {
		var second fp.Element
		sum.Mul(&v[0].A0, &v[1].A0)
		return *sum.Add(&sum, second.Mul(&v[0].A1, &v[1].A1))
	}
	in := pairs(some)
	request[[2]curve.E2, fp.Element, fp.Element]{"fp.products", in, apply(in, products), equal[fp.Element]}.check(t, p)
}

func checkRoots(t *testing.T, p program) {
	logs := []uint32{0, 1, 2, 10, 20, 31, 32}
	roots := apply(logs, func(log *uint32) fr.Element {
		root, err := fft.Generator(1 << *log)
		if err != nil {
			t.Fatal(err)
		}
		return root
	})
	request[uint32, fr.Element, fr.Element]{"fr.root", logs, roots, equal[fr.Element]}.check(t, p)
}

// factors are those k for which sums and doubles of kG meet every special case: infinity, equal and opposite points.
var factors = []int64{0, 1, -1, 2, -2, 4, -4, 3, 1_000_003, -77}

// sums are the operations on two points: a and b times what each computes.
var sums = []struct {
	name string
	a, b int64
}{{"affine", 1, 1}, {"mixed", 2, 1}, {"full", 2, 2}}

func checkG1(t *testing.T, p program) {
	point := func(k int64) (a curve.G1Affine) { return *a.ScalarMultiplicationBase(big.NewInt(k)) }
	same := func(got *curve.G1Jac, want *curve.G1Affine) bool {
		var a curve.G1Affine
		return a.FromJacobian(got).Equal(want)
	}
	in := pairs(factors)
	operands := apply(in, func(k *[2]int64) [2]curve.G1Affine { return [2]curve.G1Affine{point(k[0]), point(k[1])} })
	for _, s := range sums {
		want := apply(in, func(k *[2]int64) curve.G1Affine { return point(s.a*k[0] + s.b*k[1]) })
		request[[2]curve.G1Affine, curve.G1Jac, curve.G1Affine]{"g1." + s.name, operands, want, same}.check(t, p)
	}
}

func checkG2(t *testing.T, p program) {
	point := func(k int64) (a curve.G2Affine) { return *a.ScalarMultiplicationBase(big.NewInt(k)) }
	same := func(got *curve.G2Jac, want *curve.G2Affine) bool {
		var a curve.G2Affine
		return a.FromJacobian(got).Equal(want)
	}
	in := pairs(factors)
	operands := apply(in, func(k *[2]int64) [2]curve.G2Affine { return [2]curve.G2Affine{point(k[0]), point(k[1])} })
	for _, s := range sums {
		want := apply(in, func(k *[2]int64) curve.G2Affine { return point(s.a*k[0] + s.b*k[1]) })
		request[[2]curve.G2Affine, curve.G2Jac, curve.G2Affine]{"g2." + s.name, operands, want, same}.check(t, p)
	}
}
