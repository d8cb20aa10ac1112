//go:build !linux || !cgo

package cuda

import (
	"errors"
	"unsafe"

	"headroom/model"
)

// functions has no library behind it in this build: load fails, so no method is ever called.
type functions = interface {
	open(card int, cap model.Bytes) (unsafe.Pointer, error)
	close(card unsafe.Pointer) error
	memory(card unsafe.Pointer) (Book, error)
	newBuffer(card unsafe.Pointer, size model.Bytes) (unsafe.Pointer, error)
	freeBuffer(buffer unsafe.Pointer) error
	pin(card unsafe.Pointer, memory []byte) error
	unpin(card unsafe.Pointer, memory []byte) error
	newStream(card unsafe.Pointer) (unsafe.Pointer, error)
	freeStream(stream unsafe.Pointer) error
	wait(stream unsafe.Pointer) error
	upload(stream unsafe.Pointer, to Slice, from []byte) error
	download(stream unsafe.Pointer, to []byte, from Slice) error
	nttSize(card unsafe.Pointer, log int) (Size, error)
	newNTT(card unsafe.Pointer, log int) (unsafe.Pointer, error)
	freeNTT(ntt unsafe.Pointer) error
	transform(stream, ntt unsafe.Pointer, t Transform, data Slice) error
	quotient(stream, ntt unsafe.Pointer, a, b, c Slice) error
	msmSize(card unsafe.Pointer, g Group, n int) (Size, error)
	msm(stream unsafe.Pointer, g Group, points, scalars Slice, n int, workspace, result Slice) error
	multiplesSize(card unsafe.Pointer, g Group) (Size, error)
	multiples(stream unsafe.Pointer, g Group, base, scalars Slice, n int, workspace, points Slice) error
}

func load(string) (functions, error) {
	return nil, errors.New("this build cannot load it: cards are used on Linux only, by a build with cgo (CGO_ENABLED=1)")
}
