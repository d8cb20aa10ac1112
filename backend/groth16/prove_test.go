package groth16

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"

	"headroom/model"
)

// keyDir is shared by all tests, which would else each run a setup.
var keyDir string

func TestMain(m *testing.M) {
	openInChild()
	dir, err := os.MkdirTemp("", "groth16")
	if err != nil {
		panic(err)
	}
	keyDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func smallest(family string) circuit {
	return circuit{Family: family, Log2Constraints: smallestLog2[family], Data: 64 * model.KiB, Leaf: model.DefaultLeaf}
}

func openProver(t testing.TB, c circuit, n Threads) *Prover {
	t.Helper()
	keys, err := OpenKeys(t.Context(), keyDir, model.Circuit(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProver(t.Context(), keyDir, keys, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func synthesize(t testing.TB, p *Prover, job, partition int) *Partition {
	t.Helper()
	part, err := p.Synthesize(t.Context(), job, partition)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		part.FreeVectors() // an error when the test has freed it, which is fine
		part.FreeAssignment()
	})
	return part
}

// prove takes a partition through all its stages.
func prove(t testing.TB, p *Partition) Proof {
	t.Helper()
	var proof Proof
	finish := func() (err error) { proof, err = p.Finish(); return err }
	for _, stage := range []func() error{p.Prep, p.Kernel, p.FreeVectors, p.Tail, finish, p.FreeAssignment} {
		if err := stage(); err != nil {
			t.Fatal(err)
		}
	}
	return proof
}

func TestProofsVerifyAndTamperedOnesDoNot(t *testing.T) {
	for _, family := range []string{MiMC, SHA256} {
		t.Run(family, func(t *testing.T) {
			p := openProver(t, smallest(family), Threads{})
			part, other := synthesize(t, p, 3, 1), synthesize(t, p, 3, 2)
			if part.Statement.Root == other.Statement.Root {
				t.Error("two partitions have the same data")
			}
			s, proof := part.Statement, prove(t, part)
			if err := p.keys.Verify(s, proof); err != nil {
				t.Fatal(err)
			}
			wrong := map[string]Statement{"job": s, "partition": s, "root": s}
			for what, w := range wrong {
				switch what {
				case "job":
					w.Job++
				case "partition":
					w.Partition++
				case "root":
					w.Root[31] ^= 1
				}
				if p.keys.Verify(w, proof) == nil {
					t.Errorf("the proof holds for another %s", what)
				}
			}
			for _, at := range []int{1, 47, 60, 143, 150, ProofSize - 1} {
				tampered := proof
				tampered[at] ^= 1
				if p.keys.Verify(s, tampered) == nil {
					t.Errorf("the proof holds with byte %d changed", at)
				}
			}
		})
	}
}

func TestAJobsProofIsItsPartitionsProofsInOrder(t *testing.T) {
	p := openProver(t, smallest(MiMC), Threads{})
	var statements []Statement
	var proof []byte
	for i := range 3 {
		part := synthesize(t, p, 7, i)
		statements = append(statements, part.Statement)
		one := prove(t, part)
		proof = append(proof, one[:]...)
	}
	if err := p.keys.VerifyJob(statements, proof); err != nil {
		t.Error(err)
	}
	if p.keys.VerifyJob(statements, proof[:len(proof)-1]) == nil {
		t.Error("a job's proof that is a byte short holds")
	}
	swapped := append(bytes.Clone(proof[ProofSize:]), proof[:ProofSize]...)
	if p.keys.VerifyJob(statements, swapped) == nil {
		t.Error("a job's proof holds with its partitions in another order")
	}
}

func TestProofsDoNotDependOnThreadsOrOnWhatRunsBeside(t *testing.T) {
	one := openProver(t, smallest(MiMC), Threads{})
	more := openProver(t, smallest(MiMC), Threads{Synthesize: 3, Kernel: 2, Tail: 4, Finish: 3})
	want := prove(t, synthesize(t, one, 5, 0))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			part := synthesize(t, more, 5, 0)
			var beside sync.WaitGroup
			beside.Go(func() {
				if err := part.Prep(); err != nil {
					t.Error(err)
				}
			})
			if err := part.Kernel(); err != nil {
				t.Error(err)
			}
			beside.Wait()
			if err := part.Tail(); err != nil {
				t.Error(err)
			}
			got, err := part.Finish()
			if err != nil || got != want {
				t.Errorf("the proof is %x (%v), should be %x", got, err, want)
			}
		})
	}
	wg.Wait()
}

// What one synthesis moves out of the heap is nobody else's, while the collector runs all the time and memory is used
// again at once. To look longer: GODEBUG=clobberfree=1 GOGC=1 go test -race -run Collector -count=50 ./backend/groth16
func TestProofsHoldWhileTheCollectorRuns(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	provers := []*Prover{
		openProver(t, smallest(MiMC), Threads{}), // its vectors have a few pages, and no huge one
		openProver(t, circuit{Family: MiMC, Log2Constraints: 13, Data: 64 * model.KiB, Leaf: model.DefaultLeaf}, Threads{Synthesize: 2}),
	}
	var wg sync.WaitGroup
	for i := range 6 {
		p := provers[i%2]
		wg.Go(func() {
			part, err := p.Synthesize(t.Context(), 1, i)
			if err != nil {
				t.Error(err)
				return
			}
			// A place that a synthesis gave back serves the others now, and must keep what they write.
			heap := make(fr.Vector, 1<<13)
			for j := range heap {
				heap[j].SetUint64(uint64(j))
			}
			var proof Proof
			finish := func() (err error) { proof, err = part.Finish(); return err }
			for _, stage := range []func() error{part.Prep, part.Kernel, part.FreeVectors, part.Tail, finish, part.FreeAssignment} {
				if err := stage(); err != nil {
					t.Error(err)
				}
			}
			if err := p.keys.Verify(part.Statement, proof); err != nil {
				t.Error(err)
			}
			for j := range heap {
				if heap[j].Uint64() != uint64(j) {
					t.Errorf("value %d on the heap is %v", j, &heap[j])
					return
				}
			}
		})
	}
	wg.Wait()
}

// The quotient's twin is its definition at a random point: h(x) Z(x) = a(x) b(x) - c(x), with a, b and c
// interpolated by Lagrange's formula.
func TestQuotientIsTheQuotient(t *testing.T) {
	c := smallest(MiMC)
	domain := fft.NewDomain(1 << c.Log2Constraints)
	p := &Partition{keys: openProver(t, c, Threads{}).keys}
	var err error
	if p.vectors, err = NewBlock("vectors", c.sizes().Vectors); err != nil {
		t.Fatal(err)
	}
	defer p.vectors.Unmap()
	random := rand.New(rand.NewPCG(1, 2))
	n := int(domain.Cardinality)
	for i := range n {
		p.vector(0)[i].SetUint64(random.Uint64())
		p.vector(1)[i].SetUint64(random.Uint64())
	}
	a, b, product := p.vector(0), p.vector(1), p.vector(2)
	product.Mul(a, b)

	// Z(x)/n * w^i/(x-w^i) is the i-th Lagrange polynomial.
	var x, z, w, ax, bx, cx, one fr.Element
	one.SetOne()
	x.SetUint64(random.Uint64())
	z.Set(&x)
	for range c.Log2Constraints {
		z.Square(&z)
	}
	z.Sub(&z, &one)
	w.SetOne()
	for i := range n {
		var l, term fr.Element
		l.Sub(&x, &w).Inverse(&l).Mul(&l, &w).Mul(&l, &z).Mul(&l, &domain.CardinalityInv)
		ax.Add(&ax, term.Mul(&l, &a[i]))
		bx.Add(&bx, term.Mul(&l, &b[i]))
		cx.Add(&cx, term.Mul(&l, &product[i]))
		w.Mul(&w, &domain.Generator)
	}
	want := *ax.Mul(&ax, &bx)
	want.Sub(&want, &cx)

	h := (&hostSums{keys: p.keys, a: a, b: b, c: product}).quotient()
	fft.BitReverse(h)
	var hx fr.Element
	for i := n - 1; i >= 0; i-- {
		hx.Mul(&hx, &x).Add(&hx, &h[i])
	}
	if got := *hx.Mul(&hx, &z); got != want {
		t.Errorf("h(x)Z(x) is %v, and a(x)b(x)-c(x) is %v", got.String(), want.String())
	}
}
