package probe

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

const sampled = `-- proc/7/status --
VmHWM:	     900 kB
VmRSS:	     600 kB
RssAnon:	     300 kB
RssFile:	     200 kB
RssShmem:	     100 kB
-- proc/pressure/memory --
some avg10=0.00 avg60=0.00 avg300=0.00 total=20
full avg10=0.00 avg60=0.00 avg300=0.00 total=10`

// sampling returns a sampler with a clock that adds a second a reading; every sample comes through the channel, which has
// room for one.
func sampling(t *testing.T, root Root) (s *Sampler, samples chan Sample) {
	t.Helper()
	var now model.Instant
	clock := func() model.Instant { now += model.Instant(model.Second); return now }
	samples = make(chan Sample, 1)
	s, err := NewSampler(root, 7, clock, func(s Sample) { samples <- s })
	if err != nil {
		t.Fatal(err)
	}
	return s, samples
}

func TestTheSamplerSamplesAtOnceAtEachTickAndAtTheEnd(t *testing.T) {
	root := plant(t, "7", sampled, docker)
	sampler, samples := sampling(t, root)
	if len(sampler.Warnings) > 0 {
		t.Errorf("warnings: %v", sampler.Warnings)
	}
	tick := make(chan time.Time)
	stop := sampler.Start(tick)
	if len(samples) != 1 {
		t.Fatal("what the caller does next can be in the first sample")
	}
	want := Sample{
		At: model.Instant(model.Second), Resident: 600 * model.KiB, Anon: 300 * model.KiB, File: 200 * model.KiB, Shmem: 100 * model.KiB,
		CgroupCurrent: 1000000000, CgroupPeak: 1200000000, MemorySome: 20 * model.Microsecond, MemoryFull: 10 * model.Microsecond,
	}
	if diff := cmp.Diff(want, <-samples); diff != "" {
		t.Errorf("first sample (-want +got):\n%s", diff)
	}
	write(t, root.path("sys/fs/cgroup/memory/memory.usage_in_bytes"), "1100000000\n")
	write(t, root.path("sys/fs/cgroup/memory/memory.max_usage_in_bytes"), "1300000000\n")
	tick <- time.Time{}
	want.At, want.CgroupCurrent, want.CgroupPeak = model.Instant(2*model.Second), 1100000000, 1300000000
	if diff := cmp.Diff(want, <-samples); diff != "" {
		t.Errorf("sample of the tick (-want +got):\n%s", diff)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	want.At = model.Instant(3 * model.Second)
	if diff := cmp.Diff(want, <-samples); diff != "" {
		t.Errorf("last sample (-want +got):\n%s", diff)
	}
	if err := stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

func TestTheSamplerEndsWithTheProcess(t *testing.T) {
	root := plant(t, "7", sampled, docker)
	sampler, samples := sampling(t, root)
	tick := make(chan time.Time)
	stop := sampler.Start(tick)
	<-samples
	if err := os.Remove(root.path("proc/7/status")); err != nil {
		t.Fatal(err)
	}
	tick <- time.Time{}
	if err := stop(); !errors.Is(err, ErrEnded) {
		t.Errorf("error is %v, want ErrEnded", err)
	}
}

func TestTheSamplerWarnsOfWhatTheMachineDoesNotTell(t *testing.T) {
	root := plant(t, "7", sampled[:strings.Index(sampled, "\n-- proc/pressure")], "-- proc/7/cgroup --\n0::/\n-- proc/7/mountinfo --\n22 27 0:21 / /proc rw - proc proc rw")
	sampler, samples := sampling(t, root)
	if len(sampler.Warnings) != 2 || !errors.Is(sampler.Warnings[0], ErrNoController) {
		t.Errorf("warnings are %v, want one of the cgroup and one of the pressure", sampler.Warnings)
	}
	stop := sampler.Start(nil)
	got := <-samples
	if err := stop(); err != nil {
		t.Error(err)
	}
	if got.Resident != 600*model.KiB || got.CgroupCurrent != 0 || got.MemorySome != 0 {
		t.Errorf("sample is %+v, want only the process", got)
	}
	if _, err := NewSampler(root, 8, nil, nil); !errors.Is(err, ErrEnded) {
		t.Errorf("sampler of a process that is not there: %v", err)
	}
}
