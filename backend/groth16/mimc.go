package groth16

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	native "github.com/consensys/gnark-crypto/ecc/bls12-381/fr/mimc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/hash/mimc"
)

var mimcFamily = &family{
	once:    extent{constraints: 1, wires: 4, inA: 2, inB: 2},
	opening: extent{constraints: 2, wires: 2, inA: 1, inB: 0},
	level:   extent{constraints: 668, wires: 669, inA: 447, inB: 669},
	leaf:    belowModulus,
	hasher:  newMiMCHasher,
	gadget:  newMiMCGadget,
	values:  func(n *node) []frontend.Variable { return []frontend.Variable{n.element()} },
	public:  func(n *node) []fr.Element { return []fr.Element{n.element()} },
}

// belowModulus clears the two highest bits, which makes any digest a field element.
func belowModulus(digest node) node {
	digest[0] &= 0x3f
	return digest
}

// element reads the node as a field element.
func (n *node) element() (e fr.Element) {
	e.SetBytes(n[:])
	return e
}

// newMiMCHasher returns MiMC over two field elements, in Miyaguchi-Preneel mode as gnark has it.
func newMiMCHasher() func(left, right *node) node {
	h := native.NewFieldHasher()
	pair := make([]fr.Element, 2)
	return func(left, right *node) node {
		pair[0], pair[1] = left.element(), right.element()
		h.Reset()
		e := h.SumElements(pair)
		return e.Bytes()
	}
}

// mimcGadget hashes with MiMC in a circuit; a node is one variable.
type mimcGadget struct {
	api  frontend.API
	hash mimc.MiMC
}

func newMiMCGadget(api frontend.API) (gadget, error) {
	h, err := mimc.NewMiMC(api)
	return &mimcGadget{api, h}, err
}

func (g *mimcGadget) assertNode([]frontend.Variable) {} // every field element is a node

func (g *mimcGadget) public(n []frontend.Variable) []frontend.Variable { return n }

func (g *mimcGadget) parent(n, sibling []frontend.Variable, right frontend.Variable) []frontend.Variable {
	left := g.api.Select(right, sibling[0], n[0])
	g.hash.Reset()
	g.hash.Write(left, g.api.Sub(g.api.Add(n[0], sibling[0]), left))
	return []frontend.Variable{g.hash.Sum()}
}
