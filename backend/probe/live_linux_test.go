package probe

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"headroom/model"
)

// hold takes memory and touches every page; give returns it to the kernel.
func hold(t *testing.T, size model.Bytes) (give func()) {
	t.Helper()
	block, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Munmap(block); err != nil {
			t.Error(err)
		}
	}
}

func TestThisProcessIsSeenToGrowAndItsPeakToBeReset(t *testing.T) {
	const size = 64 * model.MiB
	machine, err := Live.Machine()
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	slack := machine.CounterError()
	before, err := Live.Process(os.Getpid())
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	give := hold(t, size)
	during, err := Live.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	give()
	if grown := during.Anon - before.Anon; grown < size-slack {
		t.Errorf("grew by %s, want %s", grown, size)
	}
	if sum := during.Anon + during.File + during.Shmem; sum != during.Resident {
		t.Errorf("the parts add up to %s of %s", sum, during.Resident)
	}
	peak, err := Live.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if peak.HighWater < during.Resident-slack || peak.Resident > during.Resident-size+slack {
		t.Errorf("after it was given back: %+v", peak)
	}
	if err := Live.ResetHighWater(); errors.Is(err, fs.ErrPermission) {
		t.Skipf("NOT TESTED: %v; to test it, run where /proc/self/clear_refs may be written", err)
	} else if err != nil {
		t.Fatal(err)
	}
	reset, err := Live.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if reset.HighWater > peak.HighWater-size+2*slack {
		t.Errorf("the mark is %s after the reset and was %s", reset.HighWater, peak.HighWater)
	}
}

func TestThisMachineAnswersEveryQuestion(t *testing.T) {
	machine, err := Live.Machine()
	if err != nil {
		t.Fatal(err)
	}
	if machine.Cores < machine.CoresAllowed || machine.CoresAllowed < 1 {
		t.Errorf("machine is %+v", machine)
	}
	examination, err := Live.Examine(t.Context(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	binding, limited := examination.Limits.Binding(HostMemory)
	if !limited || binding.Bytes > machine.RAM || binding.Bytes < model.MiB {
		t.Errorf("machine is %+v, binding limit %+v", machine, binding)
	}
	for _, l := range examination.Limits {
		t.Logf("%s: %s of %s: %s in %s", l.Of, l.Used.Short(), l.Bytes.Short(), l.Name, l.File)
	}
	for _, f := range examination.Findings {
		if f.About == "unreadable" {
			t.Errorf("unreadable: %s", f.Text)
		}
		t.Logf("%s: %s", f.About, f.Text)
	}
	sampler, err := NewSampler(Live, os.Getpid(), func() model.Instant { return 0 }, func(Sample) {})
	if err != nil {
		t.Fatal(err)
	}
	stop := sampler.Start(make(chan time.Time))
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("warnings: %v", sampler.Warnings)
}

func BenchmarkProcess(b *testing.B) {
	for b.Loop() {
		if _, err := Live.Process(os.Getpid()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	sampler, err := NewSampler(Live, os.Getpid(), func() model.Instant { return 0 }, func(Sample) {})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := sampler.sample(); err != nil {
			b.Fatal(err)
		}
	}
}
