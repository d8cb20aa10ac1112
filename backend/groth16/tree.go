package groth16

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark/frontend"
)

// treeCircuit proves that each opening's leaf is at its public index in the tree of the public root.
type treeCircuit struct {
	Tag      frontend.Variable   `gnark:",public"` // ties the proof to its job and partition
	Root     []frontend.Variable `gnark:",public"`
	Openings []opening

	gadget func(frontend.API) (gadget, error)
}

// opening is one challenged leaf and its way to the root.
type opening struct {
	Index frontend.Variable `gnark:",public"`
	Leaf  []frontend.Variable
	Right []frontend.Variable // for each level from the leaf up, 1 where the way comes from the right child
	Path  [][]frontend.Variable
}

// newTreeCircuit returns the circuit of a shape with unassigned variables.
func newTreeCircuit(f *family, depth, challenges int) *treeCircuit {
	var zero node
	secret, public := len(f.values(&zero)), len(f.public(&zero))
	c := &treeCircuit{
		Root:     make([]frontend.Variable, public),
		Openings: make([]opening, challenges),
		gadget:   f.gadget,
	}
	for i := range c.Openings {
		o := &c.Openings[i]
		o.Leaf = make([]frontend.Variable, secret)
		o.Right = make([]frontend.Variable, depth)
		o.Path = make([][]frontend.Variable, depth)
		for level := range o.Path {
			o.Path[level] = make([]frontend.Variable, secret)
		}
	}
	return c
}

// Define implements [frontend.Circuit].
func (c *treeCircuit) Define(api frontend.API) error {
	g, err := c.gadget(api)
	if err != nil {
		return err
	}
	// A public input that no constraint has would not be bound by the proof.
	api.AssertIsDifferent(c.Tag, 0)
	for _, o := range c.Openings {
		g.assertNode(o.Leaf)
		current, index := o.Leaf, frontend.Variable(0)
		for level, sibling := range o.Path {
			g.assertNode(sibling)
			api.AssertIsBoolean(o.Right[level])
			index = api.Add(index, api.Mul(o.Right[level], 1<<level))
			current = g.parent(current, sibling, o.Right[level])
		}
		api.AssertIsEqual(index, o.Index)
		for i, v := range g.public(current) {
			api.AssertIsEqual(v, c.Root[i])
		}
	}
	return nil
}

// tree is a complete binary tree in heap order: the root at 1, the children of i at 2i and 2i+1.
type tree []node

func (t tree) root() *node    { return &t[1] }
func (t tree) leaves() []node { return t[len(t)/2:] }

// build fills all nodes above the leaves.
func (t tree) build(f *family, stop func() error) error {
	parent := f.hasher()
	for i := len(t)/2 - 1; i > 0; i-- {
		t[i] = parent(&t[2*i], &t[2*i+1])
		if i%256 == 0 {
			if err := stop(); err != nil {
				return err
			}
		}
	}
	return nil
}

// assignment returns the circuit's inputs for the opened leaves.
func (t tree) assignment(f *family, tag fr.Element, indices []int) *treeCircuit {
	c := &treeCircuit{Tag: tag, Openings: make([]opening, len(indices))}
	for _, e := range f.public(t.root()) {
		c.Root = append(c.Root, e)
	}
	for k, index := range indices {
		o := &c.Openings[k]
		i := len(t)/2 + index
		o.Index, o.Leaf = index, f.values(&t[i])
		for ; i > 1; i /= 2 {
			o.Right = append(o.Right, i%2)
			o.Path = append(o.Path, f.values(&t[i^1]))
		}
	}
	return c
}
