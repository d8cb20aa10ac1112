package groth16

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Sequences of steps are judged by a twin that looks through the history, one rule after the other.
func TestStepsAreTakenOnceAndInOrder(t *testing.T) {
	all := []steps{prep, kernel, tail, finish, freeVectors, freeAssignment}
	rapid.Check(t, func(t *rapid.T) {
		var p Partition
		var history []steps
		has := func(s steps) bool { return slices.Contains(history, s) }
		for _, s := range rapid.SliceOfN(rapid.SampledFrom(all), 0, 20).Draw(t, "steps") {
			allowed := !has(s)
			switch s {
			case prep:
				allowed = allowed && !has(freeAssignment)
			case kernel:
				allowed = allowed && !has(freeVectors) && !has(freeAssignment)
			case tail:
				allowed = allowed && has(prep) && has(kernel) && !has(freeAssignment)
			case finish:
				allowed = allowed && has(tail) && !has(freeAssignment)
			}
			ran := false
			err := p.take(s, func() error { ran = true; return nil })
			if ran != allowed || (err == nil) != allowed {
				t.Fatalf("%s after %s: ran %v with error %v, should be %v", names(s), names(p.done), ran, err, allowed)
			}
			if allowed {
				history = append(history, s)
			}
		}
	})
}

func TestMemoryIsNotFreedUnderARunningStage(t *testing.T) {
	for _, c := range []struct{ running, free steps }{
		{kernel, freeVectors},
		{prep, freeAssignment}, {kernel, freeAssignment}, {tail, freeAssignment}, {finish, freeAssignment},
	} {
		running, free := c.running, c.free
		p := Partition{done: prep | kernel | tail}
		err := p.take(running, func() error {
			if p.take(free, func() error { return nil }) == nil {
				t.Errorf("%s succeeds during %s", names(free), names(running))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := p.take(free, func() error { return nil }); err != nil {
			t.Errorf("%s after %s: %v", names(free), names(running), err)
		}
	}
}

func TestUseAfterFreeIsAnErrorAndNotACrash(t *testing.T) {
	part := synthesize(t, openProver(t, smallest(MiMC), Threads{}), 0, 0)
	for _, free := range []func() error{part.FreeVectors, part.FreeAssignment} {
		if err := free(); err != nil {
			t.Fatal(err)
		}
		if free() == nil {
			t.Error("memory can be freed twice")
		}
	}
	for _, stage := range []func() error{part.Prep, part.Kernel, part.Tail} {
		if stage() == nil {
			t.Error("a stage runs on freed memory")
		}
	}
}
