package groth16

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	cs "github.com/consensys/gnark/constraint/bls12-381"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"headroom/model"
)

// Threads is how many threads a stage of one partition may use; 0 means one, which keeps the interference
// between stages plain.
type Threads struct{ Synthesize, Kernel, Tail, Finish int }

// Prover synthesizes partitions. It is safe for concurrent use.
type Prover struct {
	keys    *Keys
	data    *os.File
	threads Threads
}

// NewProver opens the circuit's data file in dir, which it makes if there is none, beside the keys or elsewhere.
func NewProver(ctx context.Context, dir string, keys *Keys, threads Threads) (*Prover, error) {
	data, err := openData(ctx, dir, keys.circuit.Data)
	if err != nil {
		return nil, err
	}
	return &Prover{keys, data, threads}, nil
}

// Close closes the data file. Partitions that are synthesized already can still be proved.
func (p *Prover) Close() error { return p.data.Close() }

// NewVectors maps a block that has room for the vectors of a partition, makes it resident as a whole and has of it what
// a device reads pinned: a, b and c.
func (p *Prover) NewVectors(pin Pin) (Block, error) {
	sizes := p.keys.circuit.sizes()
	b, err := NewFullBlock("vectors", sizes.Vectors)
	if err == nil {
		err = b.Pin(pin, sizes.Pinned)
	}
	if err != nil {
		return Block{}, errors.Join(fmt.Errorf("groth16: %w", err), b.Unmap())
	}
	return b, nil
}

// Synthesize reads and hashes the partition's data, builds its tree and solves the circuit. It stops early when the
// context ends. After an error nothing is held; a partition that is returned holds its vectors and its assignment
// until they are freed.
func (p *Prover) Synthesize(ctx context.Context, job, partition int) (*Partition, error) {
	vectors, err := NewBlock("vectors", p.keys.circuit.sizes().Vectors)
	if err != nil {
		return nil, fmt.Errorf("groth16: synthesize job %d partition %d: %w", job, partition, err)
	}
	part, err := p.SynthesizeInto(ctx, vectors, job, partition)
	if err != nil {
		return nil, errors.Join(err, vectors.Unmap())
	}
	return part, nil
}

// SynthesizeInto is Synthesize with the vectors in a block that NewVectors made, whatever is in it. The partition that
// is returned has the block until it is freed or taken; after an error the block is the caller's.
func (p *Prover) SynthesizeInto(ctx context.Context, vectors Block, job, partition int) (_ *Partition, err error) {
	c := p.keys.circuit
	s, sizes := c.shape(), c.sizes()
	part := &Partition{
		Statement: Statement{Job: job, Partition: partition}, keys: p.keys, threads: p.threads, vectors: vectors,
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("groth16: synthesize job %d partition %d: %w", job, partition, err),
				part.assignment.Unmap())
		}
		ReturnHeap()
	}()
	if !p.keys.Loaded() {
		return nil, errors.New("the keys are not loaded")
	}
	if have := model.Bytes(len(vectors.bytes)); have < sizes.Vectors {
		return nil, fmt.Errorf("the block for vectors has %v and should have %v", have, sizes.Vectors)
	}
	if part.assignment, err = NewBlock("assignment", sizes.Assignment); err != nil {
		return nil, err
	}
	l := c.layout()
	tree := part.vectors.nodes(l.tree, 2<<s.depth)
	tree[0] = node{}
	if err := readLeaves(ctx, p.data, c, part.vectors.bytes[l.data:l.tree], tree.leaves(), job, partition); err != nil {
		return nil, err
	}
	if err := tree.build(families[c.Family], ctx.Err); err != nil {
		return nil, err
	}
	part.Statement.Root = *tree.root()
	if err := part.solve(tree); err != nil {
		return nil, err
	}
	return part, nil
}

// solve computes every wire and a, b, c. gnark's solver works on the Go heap; what it made is moved to the blocks, so
// that a partition is never resident twice.
func (p *Partition) solve(t tree) error {
	c := p.keys.circuit
	assignment := t.assignment(families[c.Family], p.Statement.tag(), p.Statement.indices(c))
	witness, err := frontend.NewWitness(assignment, ecc.BLS12_381.ScalarField())
	if err != nil {
		return err
	}
	result, err := p.keys.system.Solve(witness, solver.WithNbTasks(threads(p.threads.Synthesize)))
	if err != nil {
		return err
	}
	solution := result.(*cs.R1CSSolution)
	move(p.assignment.elements(0, len(solution.W)), solution.W)
	for i, vector := range []fr.Vector{solution.A, solution.B, solution.C} {
		padded := p.vector(i)
		move(padded, vector)
		clear(padded[len(vector):])
	}
	return nil
}

func threads(n int) int { return max(1, n) }
