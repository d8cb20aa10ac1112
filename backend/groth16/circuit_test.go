package groth16

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	cs "github.com/consensys/gnark/constraint/bls12-381"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/model"
)

func TestKeysOfACircuitThatMakesNoSenseAreRefused(t *testing.T) {
	_, err := OpenKeys(t.Context(), t.TempDir(), model.Circuit{Family: MiMC, Log2Constraints: 9, Leaf: 32}, nil)
	for _, want := range []string{"groth16: circuit.log2_constraints is 9", "circuit.data is 0B"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// smallestLog2 is the least log2_constraints of each family.
var smallestLog2 = map[string]int{MiMC: 10, SHA256: 15}

func drawCircuit(t *rapid.T) circuit {
	family := rapid.SampledFrom([]string{MiMC, SHA256}).Draw(t, "family")
	leaf := model.Bytes(rapid.SampledFrom([]int{32, 100, 4096, 1 << 20}).Draw(t, "leaf"))
	c := circuit{Family: family, Log2Constraints: rapid.IntRange(smallestLog2[family], 20).Draw(t, "log2"), Leaf: leaf}
	c.Data = c.Leaf * model.Bytes(rapid.IntRange(2, 1<<18).Draw(t, "leaves"))
	return c
}

func TestEveryCircuitFillsItsDomainAndCoversItsData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCircuit(t)
		valid := model.Circuit(c)
		if err := valid.Validate("circuit"); err != nil {
			t.Fatal(err)
		}
		s := c.shape()
		constraints := families[c.Family].extent(s.depth, s.challenges).constraints
		if constraints <= 1<<(c.Log2Constraints-1) || constraints > 1<<c.Log2Constraints {
			t.Errorf("%d constraints do not make a domain of 2^%d", constraints, c.Log2Constraints)
		}
		covered := s.unit * model.Bytes(s.units)
		if s.depth < 1 || s.challenges < 1 || s.units > 1<<s.depth || covered < c.Data || covered-c.Data >= s.unit || s.unit%c.Leaf != 0 {
			t.Errorf("%+v does not cover %v", s, c.Data)
		}
	})
}

// measure counts a compiled circuit.
func measure(t *testing.T, f *family, depth, challenges int) (extent, *cs.R1CS) {
	t.Helper()
	compiled, err := frontend.Compile(ecc.BLS12_381.ScalarField(), r1cs.NewBuilder, newTreeCircuit(f, depth, challenges))
	if err != nil {
		t.Fatal(err)
	}
	system := compiled.(*cs.R1CS)
	inA, inB := map[int]bool{}, map[int]bool{}
	constraints := system.GetR1CIterator()
	for c := constraints.Next(); c != nil; c = constraints.Next() {
		for _, term := range c.L {
			inA[term.WireID()] = inA[term.WireID()] || term.CoeffID() != 0
		}
		for _, term := range c.R {
			inB[term.WireID()] = inB[term.WireID()] || term.CoeffID() != 0
		}
	}
	e := extent{constraints: system.GetNbConstraints(), wires: wires(system)}
	for i := range e.wires {
		if inA[i] {
			e.inA++
		}
		if inB[i] {
			e.inB++
		}
	}
	return e, system
}

func TestExtentIsWhatTheCompilerMakes(t *testing.T) {
	for _, test := range []struct {
		family            string
		depth, challenges int
	}{{MiMC, 1, 1}, {MiMC, 2, 1}, {MiMC, 1, 2}, {MiMC, 5, 3}, {SHA256, 1, 1}, {SHA256, 2, 1}, {SHA256, 1, 2}} {
		f := families[test.family]
		got, _ := measure(t, f, test.depth, test.challenges)
		if diff := cmp.Diff(f.extent(test.depth, test.challenges), got, cmp.AllowUnexported(extent{})); diff != "" {
			t.Errorf("%+v (-computed +compiled):\n%s", test, diff)
		}
	}
}

// A key file of one format must be for one circuit: raise keyFormat, and then change this digest.
func TestCircuitsOfThisKeyFormat(t *testing.T) {
	digest := sha256.New()
	for _, family := range []string{MiMC, SHA256} {
		_, system := measure(t, families[family], 1, 1)
		if _, err := system.WriteTo(digest); err != nil {
			t.Fatal(err)
		}
	}
	const format, want = 1, "1901fac02fcdb724a95c98a30b3e77b9123c59a4d7b7606c06509d8a7c003e65"
	if got := hex.EncodeToString(digest.Sum(nil)); keyFormat != format || got != want {
		t.Errorf("the circuits of format %d have digest %s, should be %s of format %d", keyFormat, got, want, format)
	}
}

func TestVersionOfGnarkCryptoIsThatOfTheModule(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(mod, []byte("github.com/consensys/gnark-crypto v"+gnarkCrypto)) {
		t.Errorf("go.mod does not require gnark-crypto v%s", gnarkCrypto)
	}
}
