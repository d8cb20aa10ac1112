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
	parts                             int
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

func (k *Key) workspaceSizes(parts int) (w workspaceSizes, err error) {
	if parts < 1 {
		return w, fmt.Errorf("cuda: workspace for MSMs in %d parts: should be at least 1", parts)
	}
	w.vectors = 3 * fr.Bytes << k.log
	w.result = g2Jacobian
	for _, s := range []pointSet{k.z, k.l, k.a, k.b, k.b2} {
		if s.n == 0 {
			continue
		}
		n := s.part(parts)
		size, err := k.card.MSMSize(s.group, n)
		if err != nil {
			return w, err
		}
		w.scalars = max(w.scalars, fr.Bytes*model.Bytes(n))
		w.scratch = max(w.scratch, size.Device)
	}
	return w, nil
}

// WorkspaceSize returns what NewWorkspace takes: exactly.
func (k *Key) WorkspaceSize(parts int) (Size, error) {
	w, err := k.workspaceSizes(parts)
	return Size{Device: w.vectors + w.scalars + w.scratch + w.result}, err
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
	sizes, err := k.workspaceSizes(parts)
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
	for first := 0; first < w.key.z.n; first += w.key.z.part(w.parts) {
		scalars := at[0].Buffer.At(at[0].Offset + fr.Bytes*model.Bytes(first))
		part, err := sum[curve.G1Jac](w, w.key.z, first, scalars)
		if err != nil {
			return h, err
		}
		h.AddAssign(&part)
	}
	return h, nil
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

// jacobian is what a pointer to one of gnark-crypto's Jacobian points can do.
type jacobian[J any] interface {
	*J
	AddAssign(*J) *J
}

// dot uploads scalars and multiplies, part by part.
func dot[J any, P jacobian[J]](w *Workspace, name string, points pointSet, scalars fr.Vector) (total J, err error) {
	if len(scalars) != points.n {
		return total, fmt.Errorf("cuda: %s has %d scalars, should have the key's %d", name, len(scalars), points.n)
	}
	length := points.part(w.parts)
	for first := 0; first < points.n; first += length {
		part := scalars[first:min(first+length, points.n)]
		if err := w.stream.Upload(w.scalars.At(0), memory(part)); err != nil {
			return total, err
		}
		s, err := sum[J](w, points, first, w.scalars.At(0))
		if err != nil {
			return total, err
		}
		P(&total).AddAssign(&s)
	}
	return total, nil
}

// sum multiplies one part, from a point on, by scalars that are on the card, and waits for the result.
func sum[J any](w *Workspace, points pointSet, first int, scalars Slice) (j J, err error) {
	n := min(points.part(w.parts), points.n-first)
	from := points.buffer.At(points.buffer.Size() / model.Bytes(points.n) * model.Bytes(first))
	if err := w.stream.MSM(points.group, from, scalars, n, w.scratch.At(0), w.result.At(0)); err != nil {
		return j, err
	}
	result := make([]J, 1)
	if err := w.stream.Download(memory(result), w.result.At(0)); err != nil {
		return j, err
	}
	return result[0], w.stream.Wait()
}
