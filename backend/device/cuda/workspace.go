package cuda

import (
	"errors"
	"fmt"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"headroom/model"
)

// Workspace is what a worker holds on the card to prove with a key: vectors, scalars, the MSMs' memory and their
// results. It is used for one partition after another.
type Workspace struct {
	key                               *Key
	stream                            *Stream
	vectors, scalars, scratch, result *Buffer
}

// Sums are the MSMs over a partition's assignment.
type Sums struct {
	L, A, B1 curve.G1Jac
	B2       curve.G2Jac // where the key is with b_g2
}

// workspaceSizes are the sizes of a workspace's buffers.
type workspaceSizes struct{ vectors, scalars, scratch, result model.Bytes }

func (k *Key) workspaceSizes() (w workspaceSizes, err error) {
	w.vectors = 3 * fr.Bytes << k.log
	w.result = g2Jacobian
	for _, s := range []pointSet{k.z, k.l, k.a, k.b, k.b2} {
		if s.n == 0 {
			continue
		}
		size, err := k.card.MSMSize(s.group, s.n)
		if err != nil {
			return w, err
		}
		w.scalars = max(w.scalars, fr.Bytes*model.Bytes(s.n))
		w.scratch = max(w.scratch, size.Device)
	}
	return w, nil
}

// WorkspaceSize returns what NewWorkspace takes: exactly.
func (k *Key) WorkspaceSize() (Size, error) {
	w, err := k.workspaceSizes()
	return Size{Device: w.vectors + w.scalars + w.scratch + w.result}, err
}

// NewWorkspace takes a workspace. After an error nothing is taken.
func (k *Key) NewWorkspace() (workspace *Workspace, err error) {
	w := &Workspace{key: k}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("workspace for a key of 2^%d: %w", k.log, err), w.Free())
		}
	}()
	sizes, err := k.workspaceSizes()
	if err != nil {
		return nil, err
	}
	if w.stream, err = k.card.NewStream(); err != nil {
		return nil, err
	}
	for _, b := range []struct {
		buffer **Buffer
		size   model.Bytes
	}{{&w.vectors, sizes.vectors}, {&w.scalars, sizes.scalars}, {&w.scratch, sizes.scratch}, {&w.result, sizes.result}} {
		if *b.buffer, err = k.card.Allocate(b.size); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Free gives the workspace back.
func (w *Workspace) Free() error {
	var faults []error
	for _, b := range []**Buffer{&w.vectors, &w.scalars, &w.scratch, &w.result} {
		if *b != nil {
			faults = append(faults, (*b).Free())
			*b = nil
		}
	}
	if w.stream != nil {
		faults = append(faults, w.stream.Free())
		w.stream = nil
	}
	return errors.Join(faults...)
}

// Quotient computes h from the values of a, b and c on the domain, and returns its MSM. The vectors stay as they are.
func (w *Workspace) Quotient(a, b, c fr.Vector) (h curve.G1Jac, err error) {
	n := 1 << w.key.log
	var at [3]Slice
	for i, v := range []fr.Vector{a, b, c} {
		if len(v) != n {
			return h, fmt.Errorf("cuda: vector %c has %d values, should have the domain's %d", "abc"[i], len(v), n)
		}
		at[i] = w.vectors.At(fr.Bytes * model.Bytes(i*n))
		if err := w.stream.Upload(at[i], memory(v)); err != nil {
			return h, err
		}
	}
	if err := w.stream.Quotient(w.key.ntt, at[0], at[1], at[2]); err != nil {
		return h, err
	}
	return sum[curve.G1Jac](w, w.key.z, at[0])
}

// Assignment computes the MSMs of l, a and b over the private wires, the wires that are in A and those in B.
func (w *Workspace) Assignment(private, inA, inB fr.Vector) (s Sums, err error) {
	if s.L, err = dot[curve.G1Jac](w, "l", w.key.l, private); err != nil {
		return s, err
	}
	if s.A, err = dot[curve.G1Jac](w, "a", w.key.a, inA); err != nil {
		return s, err
	}
	if s.B1, err = dot[curve.G1Jac](w, "b_g1", w.key.b, inB); err != nil {
		return s, err
	}
	if w.key.b2.n > 0 {
		s.B2, err = dot[curve.G2Jac](w, "b_g2", w.key.b2, inB)
	}
	return s, err
}

// dot uploads scalars and multiplies.
func dot[J any](w *Workspace, name string, points pointSet, scalars fr.Vector) (j J, err error) {
	if len(scalars) != points.n {
		return j, fmt.Errorf("cuda: %s has %d scalars, should have the key's %d", name, len(scalars), points.n)
	}
	if points.n == 0 {
		return j, nil
	}
	if err := w.stream.Upload(w.scalars.At(0), memory(scalars)); err != nil {
		return j, err
	}
	return sum[J](w, points, w.scalars.At(0))
}

// sum multiplies scalars that are on the card, and waits for the result.
func sum[J any](w *Workspace, points pointSet, scalars Slice) (j J, err error) {
	if points.n == 0 {
		return j, nil
	}
	err = w.stream.MSM(points.group, points.buffer.At(0), scalars, points.n, w.scratch.At(0), w.result.At(0))
	if err != nil {
		return j, err
	}
	result := make([]J, 1)
	if err := w.stream.Download(memory(result), w.result.At(0)); err != nil {
		return j, err
	}
	return result[0], w.stream.Wait()
}
