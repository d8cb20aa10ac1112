package groth16

import (
	"bytes"
	"os"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"headroom/model"
)

// resident reads the process's resident size.
func resident(t *testing.T) model.Bytes {
	t.Helper()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(string(bytes.Fields(statm)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return model.Bytes(pages * os.Getpagesize())
}

// touched returns how much of a block is resident.
func touched(t *testing.T, b block) model.Bytes {
	t.Helper()
	pages := make([]byte, len(b.bytes)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b.bytes[0])), uintptr(len(b.bytes)), uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	return model.Bytes(bytes.Count(pages, []byte{1}) * os.Getpagesize())
}

func TestSizesAreWhatIsMappedAndTouched(t *testing.T) {
	for _, c := range []circuit{
		smallest(MiMC), smallest(SHA256),
		{Family: MiMC, Log2Constraints: 11, Data: 100 * 1000, Leaf: 1000}, // pads the tree and the last page
	} {
		part := synthesize(t, openProver(t, c, Threads{}), 0, 0)
		if err := part.Prep(); err != nil {
			t.Fatal(err)
		}
		want := SizesOf(model.Circuit(c))
		for _, b := range []struct {
			name string
			block
			want model.Bytes
		}{
			{"vectors", part.vectors, want.Vectors},
			{"assignment", part.assignment, want.Assignment},
			{"scalars", part.scalars, want.Scalars},
		} {
			if mapped, in := model.Bytes(len(b.bytes)), touched(t, b.block); mapped != b.want || in != b.want {
				t.Errorf("%v: %s: %v mapped and %v touched, should be %v", c, b.name, mapped, in, b.want)
			}
		}
	}
}

// Held partitions are resident with their blocks and nothing more, and go when they are freed. The slack is for what
// the runtime keeps; gnark's solver leaves ten times as much in all when the heap is not returned.
func TestPartitionsAreResidentUntilTheyAreFreed(t *testing.T) {
	const count, slack = 20, 3 * model.MiB
	c := circuit{Family: MiMC, Log2Constraints: 12, Data: model.MiB, Leaf: model.DefaultLeaf}
	p := openProver(t, c, Threads{})
	synthesize(t, p, 0, count) // what the runtime needs once
	parts, sizes := make([]*Partition, count), SizesOf(model.Circuit(c))
	before := resident(t)
	grown := func(what string, want model.Bytes) {
		t.Helper()
		ReturnHeap()
		if got := resident(t) - before; got < want-slack || got > want+slack {
			t.Errorf("%s: grown by %v, should be %v", what, got.Short(), want.Short())
		}
	}
	for i := range parts {
		parts[i] = synthesize(t, p, 0, i)
	}
	grown("synthesized", count*(sizes.Vectors+sizes.Assignment))
	for _, part := range parts {
		if err := part.FreeVectors(); err != nil {
			t.Fatal(err)
		}
	}
	grown("vectors freed", count*sizes.Assignment)
	for _, part := range parts {
		if err := part.FreeAssignment(); err != nil {
			t.Fatal(err)
		}
	}
	grown("assignments freed", 0)
}
