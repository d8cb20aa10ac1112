// Package cuda drives the kernels of the folder cuda: transforms over the scalar field of BLS12-381 and multi-scalar
// multiplications, on a card. The kernels are a shared library that is loaded when a program asks for it, so a build
// needs no CUDA and one binary runs with and without a card.
//
// A [Key] is a proving key of gnark's on a card, a [Workspace] what a worker proves partitions with. Below them, memory
// on the card is taken by [Card.Allocate] and [Card.NewNTT] alone, and a cap on it makes any card a small one. Several
// goroutines may use a card, each with a stream or a workspace of its own.
package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"headroom/model"
)

// The codes of an [Error]; HR_ARGUMENT, HR_MEMORY and HR_CUDA of headroom.h.
const (
	CodeArgument = 1 // an argument is out of its range
	CodeMemory   = 2 // the card, the cap or the host has too little memory left
	CodeCUDA     = 3 // the card or its driver failed
)

// Error is what the library reports.
type Error struct {
	Op      string // what was to be done
	Code    int
	Message string // the value, and what would be right
}

// Error says what was to be done and what the library says about it.
func (e *Error) Error() string { return fmt.Sprintf("cuda: %s: %s", e.Op, e.Message) }

// OutOfMemory says whether an error means that the card, the cap or the host has too little memory left.
func OutOfMemory(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == CodeMemory
}

// Group is a group of BLS12-381.
type Group int

// The groups, numbered as in headroom.h.
const (
	G1 Group = 1
	G2 Group = 2
)

// Transform is a transform that gnark's prover makes. A coset is that of the generator 7.
type Transform int

// The transforms, numbered as in headroom.h.
const (
	Inverse      Transform = iota // values in natural order to coefficients in bit-reversed order
	CosetForward                  // coefficients in bit-reversed order to values on the coset in natural order
	CosetInverse                  // values on the coset in natural order to coefficients in bit-reversed order
)

// Size is what something takes.
type Size struct {
	Device model.Bytes // of the card's memory
	Pinned model.Bytes // of page-locked host memory
}

// Book is what a card's user has taken, and what the card's driver shows: what the driver itself and other programs hold
// is in that too.
type Book struct {
	Taken, Peak Size
	Cap         model.Bytes // on Taken.Device; 0 means none
	Total       model.Bytes // of the card
	Free        model.Bytes // what nobody has of it
	Most        model.Bytes // the most that somebody had of it since Open: at a peak and whenever it was asked for
}

// Used is what somebody has of the card.
func (b Book) Used() model.Bytes { return b.Total - b.Free }

// Library is the loaded kernels.
type Library struct{ functions functions }

// Card is a card in use.
type Card struct {
	library *Library
	handle  unsafe.Pointer
}

// Buffer is memory on a card.
type Buffer struct {
	card   *Card
	handle unsafe.Pointer
	size   model.Bytes
}

// Slice is a part of a buffer: what begins at the offset.
type Slice struct {
	Buffer *Buffer
	Offset model.Bytes // a multiple of 16
}

// Stream is an order of work on a card.
type Stream struct {
	card   *Card
	handle unsafe.Pointer
}

// NTT is the factors of the transforms of one size.
type NTT struct {
	card   *Card
	handle unsafe.Pointer
}

// Open begins to use a card, 0 for the first. cap bounds the memory of buffers and factors; 0 means the card's own
// bound.
func (l *Library) Open(card int, cap model.Bytes) (*Card, error) {
	handle, err := l.functions.open(card, cap)
	if err != nil {
		return nil, err
	}
	return &Card{l, handle}, nil
}

// Close ends the use of the card. It is an error while something of it is left.
func (c *Card) Close() error { return c.library.functions.close(c.handle) }

// Memory returns the card's book.
func (c *Card) Memory() (Book, error) { return c.library.functions.memory(c.handle) }

// Allocate takes memory on the card. Where there is too little, [OutOfMemory] holds and nothing is taken.
func (c *Card) Allocate(size model.Bytes) (*Buffer, error) {
	handle, err := c.library.functions.newBuffer(c.handle, size)
	if err != nil {
		return nil, err
	}
	return &Buffer{c, handle, size}, nil
}

// Free gives the memory back.
func (b *Buffer) Free() error { return b.card.library.functions.freeBuffer(b.handle) }

// Size returns the size of the buffer.
func (b *Buffer) Size() model.Bytes { return b.size }

// At returns the part of the buffer that begins at the offset, a multiple of 16.
func (b *Buffer) At(offset model.Bytes) Slice { return Slice{b, offset} }

// from returns the part that begins so far behind the begin of the slice.
func (s Slice) from(offset model.Bytes) Slice { return Slice{s.Buffer, s.Offset + offset} }

// Pin locks host memory for the copies of all cards: they are fast and asynchronous then. It is outside the Go heap, or
// held there by a runtime.Pinner, and must stay mapped until Unpin.
func (c *Card) Pin(memory []byte) error { return c.library.functions.pin(c.handle, memory) }

// Unpin unlocks what Pin locked.
func (c *Card) Unpin(memory []byte) error { return c.library.functions.unpin(c.handle, memory) }

// NewStream makes a stream.
func (c *Card) NewStream() (*Stream, error) {
	handle, err := c.library.functions.newStream(c.handle)
	if err != nil {
		return nil, err
	}
	return &Stream{c, handle}, nil
}

// Free ends the stream.
func (s *Stream) Free() error { return s.card.library.functions.freeStream(s.handle) }

// Wait blocks until all work of the stream is over, and reports what failed on the way.
func (s *Stream) Wait() error { return s.card.library.functions.wait(s.handle) }

// Upload copies to the card. From pinned memory it returns at once, and the memory must stay as it is until Wait.
func (s *Stream) Upload(to Slice, from []byte) error {
	return s.card.library.functions.upload(s.handle, to, from)
}

// Download copies from the card. To pinned memory it returns at once.
func (s *Stream) Download(to []byte, from Slice) error {
	return s.card.library.functions.download(s.handle, to, from)
}

// NTTSize returns what NewNTT takes for transforms of 2^log values, log from 0 to 28.
func (c *Card) NTTSize(log int) (Size, error) { return c.library.functions.nttSize(c.handle, log) }

// NewNTT computes the factors of transforms of 2^log values.
func (c *Card) NewNTT(log int) (*NTT, error) {
	handle, err := c.library.functions.newNTT(c.handle, log)
	if err != nil {
		return nil, err
	}
	return &NTT{c, handle}, nil
}

// Free gives the factors back.
func (n *NTT) Free() error { return n.card.library.functions.freeNTT(n.handle) }

// Transform enqueues a transform, in place.
func (s *Stream) Transform(n *NTT, t Transform, data Slice) error {
	return s.card.library.functions.transform(s.handle, n.handle, t, data)
}

// Quotient enqueues h = (ab - c) / (X^n - 1) from the values of a, b and c on the domain: into a, in bit-reversed
// order, which is that of the points of gnark's proving key. b and c are overwritten.
func (s *Stream) Quotient(n *NTT, a, b, c Slice) error {
	return s.card.library.functions.quotient(s.handle, n.handle, a, b, c)
}

// MSMSize returns the workspace of a multiplication of n points, 1 to 2^26.
func (c *Card) MSMSize(g Group, n int) (Size, error) {
	return c.library.functions.msmSize(c.handle, g, n)
}

// MSM enqueues the sum of scalar times point for n of each: one Jacobian point. Scalars are gnark's elements, points
// gnark's affine points.
func (s *Stream) MSM(g Group, points, scalars Slice, n int, workspace, result Slice) error {
	return s.card.library.functions.msm(s.handle, g, points, scalars, n, workspace, result)
}

// MultiplesSize returns the workspace of Multiples.
func (c *Card) MultiplesSize(g Group) (Size, error) {
	return c.library.functions.multiplesSize(c.handle, g)
}

// Multiples enqueues scalar times base, n times: affine points.
func (s *Stream) Multiples(g Group, base, scalars Slice, n int, workspace, points Slice) error {
	return s.card.library.functions.multiples(s.handle, g, base, scalars, n, workspace, points)
}
