package groth16

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark/frontend"
)

// nodeBytes is the size of a node of the tree.
const nodeBytes = 32

// node is a node of the tree: a field element in big-endian bytes, or SHA-256 state words in their usual order.
type node [nodeBytes]byte

// extent counts what gnark's compiler makes of a circuit or of a part of it.
type extent struct {
	constraints int
	wires       int // the constant one, public, secret and internal
	inA, inB    int // wires that occur in A and in B: what the MSMs of a and b run over
}

func (e extent) add(times int, part extent) extent {
	return extent{
		constraints: e.constraints + times*part.constraints,
		wires:       e.wires + times*part.wires,
		inA:         e.inA + times*part.inA,
		inB:         e.inB + times*part.inB,
	}
}

// family is what two kinds of trees differ in, natively and in the circuit.
type family struct {
	// A circuit's extent is affine in its openings and their levels; a test holds the numbers to the compiler.
	once, opening, level extent

	leaf   func(digest node) node              // the tree leaf for a digest
	hasher func() func(left, right *node) node // a parent from its children, with its own scratch memory
	gadget func(frontend.API) (gadget, error)  // the same in the circuit
	values func(n *node) []frontend.Variable   // a node as the circuit's secret input
	public func(n *node) []fr.Element          // a node as the circuit's public input
}

// gadget hashes in a circuit, where a node is one or several variables.
type gadget interface {
	// assertNode constrains a node that comes from outside to be well-formed.
	assertNode(n []frontend.Variable)
	// parent returns the parent of a node and its sibling; the node is the right child where right is 1.
	parent(n, sibling []frontend.Variable, right frontend.Variable) []frontend.Variable
	// public returns the node in the form of public inputs.
	public(n []frontend.Variable) []frontend.Variable
}

var families = map[string]*family{MiMC: mimcFamily, SHA256: sha256Family}

// extent returns the extent of a whole circuit.
func (f *family) extent(depth, challenges int) extent {
	return f.once.add(challenges, f.opening.add(depth, f.level))
}

// challenges returns how many openings of this depth a domain of 2^log2 has room for.
func (f *family) challenges(log2, depth int) int {
	return (1<<log2 - f.once.constraints) / f.opening.add(depth, f.level).constraints
}
