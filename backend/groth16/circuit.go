package groth16

import (
	"fmt"
	"math/bits"
	"os"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"headroom/model"
)

// The families of circuits.
const (
	// MiMC hashes the tree with MiMC: few constraints a node, every wire full-size. Leaves are digested with
	// SHA-256 outside the circuit.
	MiMC = "mimc"
	// SHA256 hashes the tree with SHA-256's compression, bit by bit: bit wires and a sparse B.
	SHA256 = "sha256"
)

// circuit is a valid description of what a partition proves: that challenged leaves belong to the Merkle tree over
// its data.
type circuit model.Circuit

// String names the circuit, as "mimc-2^13-64MiB".
func (c circuit) String() string {
	return fmt.Sprintf("%s-2^%d-%v", c.Family, c.Log2Constraints, c.Data)
}

// shape is what the knobs of a valid circuit come down to.
type shape struct {
	depth      int         // levels from a tree leaf to the root
	challenges int         // tree leaves opened in the circuit
	unit       model.Bytes // data digested into one tree leaf: one leaf, or several where the tree is too small for all
	units      int         // tree leaves that hold data; those after them are zero
}

// shape picks the deepest tree, up to one tree leaf for each leaf, whose openings still give at least nine tenths
// of the constraints that the best depth gives: depth makes synthesis real, and a full domain the proof.
func (c circuit) shape() shape {
	f, leaves := families[c.Family], int64(c.Data/c.Leaf)
	full := bits.Len64(uint64(leaves - 1))
	most := 0
	for depth := 1; depth <= full; depth++ {
		most = max(most, f.extent(depth, f.challenges(c.Log2Constraints, depth)).constraints)
	}
	depth := full
	for 10*f.extent(depth, f.challenges(c.Log2Constraints, depth)).constraints < 9*most {
		depth--
	}
	group := (leaves + 1<<depth - 1) >> depth
	return shape{
		depth:      depth,
		challenges: f.challenges(c.Log2Constraints, depth),
		unit:       model.Bytes(group) * c.Leaf,
		units:      int((leaves + group - 1) / group),
	}
}

// Sizes is the memory that one partition holds outside the Go heap, in whole pages.
type Sizes struct {
	Vectors    model.Bytes // a, b, c, data and tree; from synthesis to FreeVectors
	Pinned     model.Bytes // of them, from the first on: a, b and c, which a device reads
	Assignment model.Bytes // every wire; from synthesis to FreeAssignment
	Scalars    model.Bytes // the assignment split by density; from prep to FreeAssignment
}

// SizesOf returns what a partition of the valid circuit will map, exactly.
func SizesOf(c model.Circuit) Sizes { return circuit(c).sizes() }

func (c circuit) sizes() Sizes {
	s := c.shape()
	e := families[c.Family].extent(s.depth, s.challenges)
	return Sizes{
		Vectors:    wholePages(c.layout().size),
		Pinned:     c.layout().data,
		Assignment: wholePages(fr.Bytes * model.Bytes(e.wires)),
		Scalars:    wholePages(fr.Bytes * model.Bytes(e.inA+e.inB)),
	}
}

// layout says where the parts of the vectors block begin: a, b and c at 0, 1 and 2 domains, then data, then tree.
type layout struct {
	domain           int // elements in each of a, b and c
	data, tree, size model.Bytes
}

func (c circuit) layout() layout {
	domain := 1 << c.Log2Constraints
	data := 3 * fr.Bytes * model.Bytes(domain)
	tree := data + c.Data
	return layout{domain: domain, data: data, tree: tree, size: tree + nodeBytes<<(c.shape().depth+1)}
}

func wholePages(size model.Bytes) model.Bytes {
	page := model.Bytes(os.Getpagesize())
	return (size + page - 1) / page * page
}
