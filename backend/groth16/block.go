package groth16

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"headroom/model"
)

// Block is memory outside the Go heap: the collector neither counts nor moves it, and Unmap gives it back to the
// system at once. The zero Block is unmapped. A copy is the same memory.
type Block struct {
	bytes []byte
	unpin func() error // nil: no part of it is pinned
}

// Pin locks memory for the copies of a device and returns what unlocks it.
type Pin func(memory []byte) (unpin func() error, err error)

// NewBlock maps a block of whole pages. No page is resident before it is written.
func NewBlock(what string, size model.Bytes) (Block, error) {
	b, err := mapMemory(int(wholePages(size)))
	if err != nil {
		return Block{}, fmt.Errorf("map %v for %s: %w", wholePages(size), what, err)
	}
	return Block{bytes: b}, nil
}

// NewFullBlock maps a block and writes to each of its pages, so that it is resident as a whole.
func NewFullBlock(what string, size model.Bytes) (Block, error) {
	b, err := NewBlock(what, size)
	for at := 0; at < len(b.bytes); at += os.Getpagesize() {
		b.bytes[at] = 0
	}
	return b, err
}

// Pin has the first bytes of the block pinned, once, until it is unmapped. A pin that is nil pins nothing.
func (b *Block) Pin(pin Pin, size model.Bytes) (err error) {
	if pin != nil {
		b.unpin, err = pin(b.bytes[:size])
	}
	return err
}

// Unmap gives the block's memory back, after what is pinned of it was unpinned. Unmapping the zero Block does nothing.
func (b *Block) Unmap() error {
	if b.bytes == nil {
		return nil
	}
	if b.unpin != nil {
		if err := b.unpin(); err != nil {
			return err // a device may still read it
		}
	}
	bytes := b.bytes
	*b = Block{}
	if err := unmapMemory(bytes); err != nil {
		return fmt.Errorf("unmap %v: %w", model.Bytes(len(bytes)), err)
	}
	return nil
}

// elements views the n field elements that begin at the offset, which the caller keeps a multiple of their size.
func (b *Block) elements(offset model.Bytes, n int) fr.Vector {
	part := b.bytes[offset : offset+fr.Bytes*model.Bytes(n)]
	return unsafe.Slice((*fr.Element)(unsafe.Pointer(unsafe.SliceData(part))), n)
}

// nodes views the n nodes that begin at the offset.
func (b *Block) nodes(offset model.Bytes, n int) tree {
	part := b.bytes[offset : offset+nodeBytes*model.Bytes(n)]
	return unsafe.Slice((*node)(unsafe.Pointer(unsafe.SliceData(part))), n)
}
