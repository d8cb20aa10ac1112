package groth16

import (
	"fmt"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"headroom/model"
)

// block is memory outside the Go heap: the collector neither counts nor moves it, and unmap gives it back to the
// system at once. The zero block is unmapped.
type block struct{ bytes []byte }

// newBlock maps a block of whole pages. No page is resident before it is written.
func newBlock(what string, size model.Bytes) (block, error) {
	b, err := mapMemory(int(wholePages(size)))
	if err != nil {
		return block{}, fmt.Errorf("map %v for %s: %w", wholePages(size), what, err)
	}
	return block{b}, nil
}

// unmap gives the block's memory back. Unmapping the zero block does nothing.
func (b *block) unmap() error {
	if b.bytes == nil {
		return nil
	}
	bytes := b.bytes
	b.bytes = nil
	if err := unmapMemory(bytes); err != nil {
		return fmt.Errorf("unmap %v: %w", model.Bytes(len(bytes)), err)
	}
	return nil
}

// elements views the n field elements that begin at the offset, which the caller keeps a multiple of their size.
func (b *block) elements(offset model.Bytes, n int) fr.Vector {
	part := b.bytes[offset : offset+fr.Bytes*model.Bytes(n)]
	return unsafe.Slice((*fr.Element)(unsafe.Pointer(unsafe.SliceData(part))), n)
}

// nodes views the n nodes that begin at the offset.
func (b *block) nodes(offset model.Bytes, n int) tree {
	part := b.bytes[offset : offset+nodeBytes*model.Bytes(n)]
	return unsafe.Slice((*node)(unsafe.Pointer(unsafe.SliceData(part))), n)
}
