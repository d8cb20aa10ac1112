package groth16

import (
	"os"
	"unsafe"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"golang.org/x/sys/unix"
)

// withoutHugePages makes residence exact. Neighbouring blocks are one mapping to the kernel, so a huge page could
// span two of them, be resident before it is written, and stay charged to the cgroup after one of them is gone.
// A kernel built without huge pages refuses the advice and needs none.
func withoutHugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_NOHUGEPAGE) }

// giveBack gives the pages that lie within the values back to the system. The runtime does the same with spans that are
// free, and takes such memory as it takes all that is not known to be zero; it does not look into values without
// pointers. A refusal costs memory for a while and is no failure.
func giveBack(v fr.Vector) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*fr.Bytes)
	page := os.Getpagesize()
	first := int(-uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) & uintptr(page-1))
	if whole := (len(bytes) - first) &^ (page - 1); whole > 0 {
		_ = unix.Madvise(bytes[first:first+whole], unix.MADV_DONTNEED)
	}
}
