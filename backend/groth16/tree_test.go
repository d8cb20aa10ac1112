package groth16

import (
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
)

func randomTree(t *testing.T, f *family, depth int) tree {
	random := rand.New(rand.NewPCG(1, uint64(depth)))
	nodes := make(tree, 2<<depth)
	for i := range nodes.leaves() {
		var digest node
		for j := range digest {
			digest[j] = byte(random.Uint32())
		}
		nodes.leaves()[i] = f.leaf(digest)
	}
	if err := nodes.build(f, t.Context().Err); err != nil {
		t.Fatal(err)
	}
	return nodes
}

// rootOf is the obvious twin of build.
func rootOf(f *family, leaves []node) node {
	if len(leaves) == 1 {
		return leaves[0]
	}
	left, right := rootOf(f, leaves[:len(leaves)/2]), rootOf(f, leaves[len(leaves)/2:])
	return f.hasher()(&left, &right)
}

func TestOpeningsSatisfyTheCircuitAndWrongOnesDoNot(t *testing.T) {
	const depth = 2
	field := ecc.BLS12_381.ScalarField()
	for name, f := range families {
		system, err := frontend.Compile(field, r1cs.NewBuilder, newTreeCircuit(f, depth, 1))
		if err != nil {
			t.Fatal(err)
		}
		nodes := randomTree(t, f, depth)
		if want := rootOf(f, nodes.leaves()); *nodes.root() != want {
			t.Errorf("%s: the root is %x, should be %x", name, *nodes.root(), want)
		}
		solves := func(change func(*treeCircuit), index int) bool {
			c := nodes.assignment(f, fr.NewElement(9), []int{index})
			change(c)
			w, err := frontend.NewWitness(c, field)
			if err != nil {
				t.Fatal(err)
			}
			return system.IsSolved(w) == nil
		}
		for index := range 1 << depth {
			if !solves(func(*treeCircuit) {}, index) {
				t.Errorf("%s: the opening of leaf %d does not satisfy the circuit", name, index)
			}
		}
		wrong := map[string]func(*treeCircuit){
			"another index":                  func(c *treeCircuit) { c.Openings[0].Index = 2 },
			"another leaf":                   func(c *treeCircuit) { c.Openings[0].Leaf = f.values(&nodes[7]) },
			"another sibling":                func(c *treeCircuit) { c.Openings[0].Path[1] = f.values(&nodes[7]) },
			"another root":                   func(c *treeCircuit) { c.Root[0] = 1 },
			"a way that is no bit":           func(c *treeCircuit) { c.Openings[0].Right[0], c.Openings[0].Right[1] = 3, -1 },
			"a tag of zero, which is no tag": func(c *treeCircuit) { c.Tag = 0 },
		}
		for what, change := range wrong {
			if solves(change, 1) {
				t.Errorf("%s: %s satisfies the circuit", name, what)
			}
		}
	}
}
