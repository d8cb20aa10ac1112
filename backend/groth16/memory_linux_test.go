package groth16

import (
	"bytes"
	"context"
	"os"
	"testing"
	"unsafe"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"headroom/model"
)

// resident reads how much anonymous memory of the process is resident. The kernel walks its pages to tell; the counters
// in other files are off by some pages for each core, and files come and go besides.
func resident(t *testing.T) model.Bytes {
	t.Helper()
	rollup, err := self(t).ProcSMapsRollup()
	if err != nil {
		t.Fatal(err)
	}
	return model.Bytes(rollup.Anonymous)
}

func self(t *testing.T) procfs.Proc {
	t.Helper()
	p, err := procfs.Self()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// highWater reads the most that was resident of the process.
func highWater(t *testing.T) model.Bytes {
	t.Helper()
	status, err := self(t).NewStatus()
	if err != nil {
		t.Fatal(err)
	}
	return model.Bytes(status.VmHWM)
}

// settled is resident without what was made before: pools give up what they hold at the second collection.
func settled(t *testing.T) model.Bytes {
	t.Helper()
	ReturnHeap()
	ReturnHeap()
	return resident(t)
}

// touched returns how much of a block is resident.
func touched(t *testing.T, b Block) model.Bytes {
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
			Block
			want model.Bytes
		}{
			{"vectors", part.vectors, want.Vectors},
			{"assignment", part.assignment, want.Assignment},
			{"scalars", part.scalars, want.Scalars},
		} {
			if mapped, in := model.Bytes(len(b.bytes)), touched(t, b.Block); mapped != b.want || in != b.want {
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
	before := settled(t)
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

// What the solver makes is moved out of the heap, so a partition in synthesis is never resident twice: a, b, c and the
// wires would be, for a while, if they were copied.
func TestASynthesisIsNeverResidentTwice(t *testing.T) {
	c := circuit{Family: MiMC, Log2Constraints: 15, Data: 256 * model.KiB, Leaf: model.DefaultLeaf}
	p := openProver(t, c, Threads{})
	synthesize(t, p, 0, 1)
	settled(t)
	// Writing 5 sets the high-water mark to what is resident: proc(5).
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skipf("NOT TESTED: the kernel does not reset high-water marks (%v). To run it, on a Linux that lets a process "+
			"write to its own clear_refs: go test -run NeverResidentTwice ./backend/groth16", err)
	}
	mark := highWater(t)
	synthesize(t, p, 0, 0)
	sizes := SizesOf(model.Circuit(c))
	blocks := sizes.Vectors + sizes.Assignment
	if most := highWater(t) - mark; most > blocks+blocks/3 {
		t.Errorf("a synthesis made %v resident, should make its blocks of %v and at most a third more",
			most.Short(), blocks.Short())
	}
}

// A block that one partition gives up is the next one's: the same memory, resident all the time, and the proof is the
// one that memory of its own would give.
func TestVectorsAreTakenFromOnePartitionToTheNext(t *testing.T) {
	c := smallest(MiMC)
	p := openProver(t, c, Threads{})
	want := prove(t, synthesize(t, p, 1, 1))
	vectors, err := p.NewVectors(nil)
	if err != nil {
		t.Fatal(err)
	}
	first, size := &vectors.bytes[0], SizesOf(model.Circuit(c)).Vectors
	for partition := range 2 {
		if in := touched(t, vectors); in != size {
			t.Errorf("before partition %d %v of the block are resident, should be %v", partition, in, size)
		}
		part, err := p.SynthesizeInto(t.Context(), vectors, 1, partition)
		if err != nil {
			t.Fatal(err)
		}
		var proof Proof
		finish := func() (err error) { proof, err = part.Finish(); return err }
		takeVectors := func() (err error) { vectors, err = part.TakeVectors(); return err }
		for _, stage := range []func() error{part.Prep, part.Kernel, takeVectors, part.Tail, finish, part.FreeAssignment} {
			if err := stage(); err != nil {
				t.Fatal(err)
			}
		}
		if part.FreeVectors() == nil {
			t.Error("vectors that were taken can be freed")
		}
		if &vectors.bytes[0] != first {
			t.Error("the block that comes back is another one")
		}
		if partition == 1 && proof != want {
			t.Error("the proof depends on what the block held before")
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.SynthesizeInto(stopped, vectors, 1, 0); err == nil {
		t.Error("a synthesis that was stopped succeeds")
	}
	if err := vectors.Unmap(); err != nil {
		t.Errorf("the block of a synthesis that failed is not the caller's: %v", err)
	}
	if _, err := p.SynthesizeInto(t.Context(), vectors, 1, 0); err == nil {
		t.Error("vectors have room in a block without any")
	}
}

// Keys take their memory along when they are unloaded and bring it when they are loaded again.
func TestKeysAreResidentWhileTheyAreLoaded(t *testing.T) {
	c := circuit{Family: MiMC, Log2Constraints: 12, Data: 64 * model.KiB, Leaf: model.DefaultLeaf}
	p := openProver(t, c, Threads{})
	with, size := settled(t), p.keys.Size()
	slack := size / 3 // the runtime keeps some
	p.keys.Unload()
	without := resident(t)
	if given := with - without; p.keys.Loaded() || given < size-slack || given > size+slack {
		t.Errorf("unloaded: %v: %v went, should be about %v", !p.keys.Loaded(), given.Short(), size.Short())
	}
	if _, err := p.Synthesize(t.Context(), 0, 0); err == nil {
		t.Error("there is a synthesis without keys")
	}
	if err := p.keys.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if taken := resident(t) - without; !p.keys.Loaded() || taken < size-slack || taken > size+slack {
		t.Errorf("loaded: %v: %v came, should be about %v", p.keys.Loaded(), taken.Short(), size.Short())
	}
	part := synthesize(t, p, 0, 0)
	if err := p.keys.Verify(part.Statement, prove(t, part)); err != nil {
		t.Error(err)
	}
}
