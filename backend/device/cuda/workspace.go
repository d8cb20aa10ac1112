package cuda

import (
	"errors"
	"fmt"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"headroom/model"
)

// Workspace is what a worker holds on the card to prove with a key, one partition after another: vectors, scalars, the
// MSMs' memory and their results. For a partition it is loaded and then computes:
//
//	LoadVectors     a, b and c         before Quotient
//	LoadAssignment  the scalars        before Assignment
//	Quotient        h and its MSM      may run beside LoadAssignment
//	Assignment      the other MSMs
//
// Each returns when it is over. Loading has a stream of its own, so one worker can load while another computes.
type Workspace struct {
	key              *Key
	parts            int
	loading, compute *Stream
	buffer           *Buffer  // of everything: the driver takes whole pages of 2 MiB for each buffer
	vectors          Slice    // a, b and c
	scalars          [3]Slice // of l, a and b
	scratch, result  Slice
}

// Sums are the MSMs over a partition's assignment.
type Sums struct {
	L, A, B1 curve.G1Jac
	B2       curve.G2Jac // where the key is with b_g2
}

// sizes returns the sizes of the parts of a workspace, in the order of [Workspace.slices], as multiples of what the
// card's memory is aligned to.
func (k *Key) sizes(parts int) (sizes [6]model.Bytes, err error) {
	if parts < 1 {
		return sizes, fmt.Errorf("cuda: workspace for MSMs in %d parts: should be at least 1", parts)
	}
	var scratch model.Bytes
	for _, s := range []pointSet{k.z, k.l, k.a, k.b, k.b2} {
		if s.n == 0 {
			continue
		}
		size, err := k.card.MSMSize(s.group, s.part(parts))
		if err != nil {
			return sizes, err
		}
		scratch = max(scratch, size.Device)
	}
	scalars := func(s pointSet) model.Bytes { return fr.Bytes * model.Bytes(s.n) }
	sizes = [6]model.Bytes{3 * fr.Bytes << k.log, scalars(k.l), scalars(k.a), scalars(k.b), scratch, g2Jacobian}
	const alignment = 256
	for i := range sizes {
		sizes[i] = (sizes[i] + alignment - 1) / alignment * alignment
	}
	return sizes, nil
}

func (w *Workspace) slices() [6]*Slice {
	return [6]*Slice{&w.vectors, &w.scalars[0], &w.scalars[1], &w.scalars[2], &w.scratch, &w.result}
}

// WorkspaceSize returns what NewWorkspace takes: exactly.
func (k *Key) WorkspaceSize(parts int) (total Size, err error) {
	sizes, err := k.sizes(parts)
	for _, size := range sizes {
		total.Device += size
	}
	return total, err
}

// NewWorkspace takes a workspace. Its MSMs are cut into so many parts, at least 1: more where the card has too little
// memory for whole ones, at the price of time. After an error nothing is taken.
func (k *Key) NewWorkspace(parts int) (workspace *Workspace, err error) {
	w := &Workspace{key: k, parts: parts}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("workspace for a key of 2^%d: %w", k.log, err), w.Free())
		}
	}()
	sizes, err := k.sizes(parts)
	if err != nil {
		return nil, err
	}
	if w.loading, err = k.card.NewStream(); err != nil {
		return nil, err
	}
	if w.compute, err = k.card.NewStream(); err != nil {
		return nil, err
	}
	var total model.Bytes
	for _, size := range sizes {
		total += size
	}
	if w.buffer, err = k.card.Allocate(total); err != nil {
		return nil, err
	}
	offset := model.Bytes(0)
	for i, slice := range w.slices() {
		*slice = w.buffer.At(offset)
		offset += sizes[i]
	}
	return w, nil
}

// Free gives the workspace back.
func (w *Workspace) Free() error {
	var faults []error
	if w.buffer != nil {
		faults = append(faults, w.buffer.Free())
		w.buffer = nil
	}
	for _, stream := range []**Stream{&w.loading, &w.compute} {
		if *stream != nil {
			faults = append(faults, (*stream).Free())
			*stream = nil
		}
	}
	return errors.Join(faults...)
}

// LoadVectors copies the values of a, b and c on the domain to the card.
func (w *Workspace) LoadVectors(a, b, c fr.Vector) (err error) {
	defer func() { err = errors.Join(err, w.loading.Wait()) }() // until then pinned memory is read
	for i, v := range []fr.Vector{a, b, c} {
		if n := 1 << w.key.log; len(v) != n {
			return fmt.Errorf("cuda: vector %c has %d values, should have the domain's %d", "abc"[i], len(v), n)
		}
		if err := w.loading.Upload(w.vector(i), memory(v)); err != nil {
			return err
		}
	}
	return nil
}

// vector returns where a, b or c (0, 1 or 2) is.
func (w *Workspace) vector(i int) Slice {
	return w.vectors.from(fr.Bytes * model.Bytes(i) << w.key.log)
}

// LoadAssignment copies the private wires, the wires that are in A and those in B to the card.
func (w *Workspace) LoadAssignment(private, inA, inB fr.Vector) (err error) {
	defer func() { err = errors.Join(err, w.loading.Wait()) }()
	for i, s := range []struct {
		name    string
		points  pointSet
		scalars fr.Vector
	}{{"l", w.key.l, private}, {"a", w.key.a, inA}, {"b", w.key.b, inB}} {
		if len(s.scalars) != s.points.n {
			return fmt.Errorf("cuda: %s has %d scalars, should have the key's %d", s.name, len(s.scalars), s.points.n)
		}
		if s.points.n == 0 {
			continue
		}
		if err := w.loading.Upload(w.scalars[i], memory(s.scalars)); err != nil {
			return err
		}
	}
	return nil
}

// Quotient computes h from the vectors, and returns its MSM. The vectors on the card are used up.
func (w *Workspace) Quotient() (h curve.G1Jac, err error) {
	if err := w.compute.Quotient(w.key.ntt, w.vector(0), w.vector(1), w.vector(2)); err != nil {
		return h, err
	}
	return multiply[curve.G1Jac](w, w.key.z, w.vectors)
}

// Assignment computes the MSMs over the assignment.
func (w *Workspace) Assignment() (s Sums, err error) {
	if s.L, err = multiply[curve.G1Jac](w, w.key.l, w.scalars[0]); err != nil {
		return s, err
	}
	if s.A, err = multiply[curve.G1Jac](w, w.key.a, w.scalars[1]); err != nil {
		return s, err
	}
	if s.B1, err = multiply[curve.G1Jac](w, w.key.b, w.scalars[2]); err != nil {
		return s, err
	}
	s.B2, err = multiply[curve.G2Jac](w, w.key.b2, w.scalars[2])
	return s, err
}

// jacobian is what a pointer to one of gnark-crypto's Jacobian points can do.
type jacobian[J any] interface {
	*J
	AddAssign(*J) *J
}

// multiply runs an MSM, part by part. That of no points is infinity.
func multiply[J any, P jacobian[J]](w *Workspace, points pointSet, scalars Slice) (total J, err error) {
	length := points.part(w.parts)
	for first := 0; first < points.n; first += length {
		n := min(length, points.n-first)
		from, by := points.at(first), scalars.from(fr.Bytes*model.Bytes(first))
		if err := w.compute.MSM(points.group, from, by, n, w.scratch, w.result); err != nil {
			return total, err
		}
		part := make([]J, 1)
		if err := w.compute.Download(memory(part), w.result); err != nil {
			return total, err
		}
		if err := w.compute.Wait(); err != nil {
			return total, err
		}
		P(&total).AddAssign(&part[0])
	}
	return total, nil
}
