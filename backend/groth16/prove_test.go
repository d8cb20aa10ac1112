package groth16

import (
	"os"
	"testing"

	"headroom/model"
)

// keyDir is shared by all tests, which would else each run a setup.
var keyDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "groth16")
	if err != nil {
		panic(err)
	}
	keyDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func openKeys(t testing.TB, c Circuit) *Keys {
	t.Helper()
	k, err := OpenKeys(t.Context(), keyDir, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func openProver(t testing.TB, c Circuit) *Prover {
	t.Helper()
	p, err := NewProver(t.Context(), keyDir, openKeys(t, c), Threads{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// prove takes a partition through all its stages.
func prove(t testing.TB, p *Partition) Proof {
	t.Helper()
	for _, stage := range []func() error{p.Prep, p.Kernel, p.FreeVectors, p.Tail} {
		if err := stage(); err != nil {
			t.Fatal(err)
		}
	}
	proof, err := p.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.FreeAssignment(); err != nil {
		t.Fatal(err)
	}
	return proof
}

func smallest(family string) Circuit {
	return Circuit{Family: family, Log2Constraints: families[family].minLog2, Data: 64 * model.KiB}
}

func TestProofsOfBothFamiliesVerify(t *testing.T) {
	for _, family := range []string{MiMC, SHA256} {
		t.Run(family, func(t *testing.T) {
			p := openProver(t, smallest(family))
			partition, err := p.Synthesize(t.Context(), 3, 1)
			if err != nil {
				t.Fatal(err)
			}
			proof := prove(t, partition)
			if err := p.keys.Verify(partition.Statement, proof); err != nil {
				t.Error(err)
			}
		})
	}
}
