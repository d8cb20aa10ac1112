package scenarios_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"headroom/model"
	"headroom/model/reach"
	"headroom/sim"
)

// within fails unless a number is as expected up to a relative tolerance.
func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got/want-1) <= tolerance) {
		t.Errorf("%s is %.4g, want %.4g within %.0f %%", what, got, want, 100*tolerance)
	}
}

// means replicates a plan with the limit ignored and returns the mean seconds per job and the mean peak in GiB.
func means(t *testing.T, scenario, settings string) (seconds, peak float64) {
	t.Helper()
	const n = 20
	p := plan(t, scenario, settings)
	p.IgnoreLimit = true
	results, err := sim.Replicate(p, 1, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		seconds += r.SecondsPerJob / n
		peak += r.Peak.GiB() / n
	}
	return seconds, peak
}

// G01: finished partitions wait without a bound where the permit returns early; where it stays until the channel has
// the partition, the bound is the workers, the channel and the GPU workers together, and not the workers alone.
func TestG01TheReleasePointBoundsWhatWaits(t *testing.T) {
	const late = "config.admission.release=after_send config.channel.capacity=12"
	killed := simulate(t, "g01-early-permit", "")
	waiting := slices.IndexFunc(killed.AtPeak, func(h sim.Holding) bool { return h.Owner == sim.OwnSend })
	if waiting < 0 || killed.AtPeak[waiting].Count < 20 || killed.AtPeak[waiting].Count > 30 {
		t.Errorf("when it is killed %+v hold memory: want 20 to 30 partitions that wait in send", killed.AtPeak)
	}
	_, twenty := means(t, "g01-early-permit", "")
	_, sixty := means(t, "g01-early-permit", "workload.jobs=60")
	if sixty < 2*twenty {
		t.Errorf("20 jobs peak at %.0f GiB and 60 at %.0f: want it to go on rising", twenty, sixty)
	}
	_, fixed := means(t, "g01-early-permit", late)
	within(t, "the peak with release after_send, GiB", fixed, 400, 0.1)
	if r := simulate(t, "g01-early-permit", late); r.Bound.Formula != "permits 12 + channel 12 + gpu workers 2 = 26" {
		t.Errorf("the bound is %q", r.Bound.Formula)
	}
}

// G02: beyond the knee more workers gain nothing, and far beyond it they lose two fifths.
func TestG02MoreWorkersOnTheSameGPUGainNothing(t *testing.T) {
	ten, _ := means(t, "phase8", "")
	for _, workers := range []int{12, 15, 18, 20} {
		s, _ := means(t, "phase8", fmt.Sprintf("config.admission.permits=%d", workers))
		within(t, fmt.Sprintf("seconds per job of %d workers", workers), s, ten, 0.04)
	}
	thirty, _ := means(t, "phase8", "config.admission.permits=30")
	if slower := thirty/ten - 1; slower < 0.3 || slower > 0.45 {
		t.Errorf("30 workers are %.0f %% slower than 10: want 30 to 45", 100*slower)
	}
}

// G04: from memory that is not pinned the upload is the bottleneck, and no further worker or GPU worker helps.
func TestG04TheUploadIsTheBottleneck(t *testing.T) {
	slow := simulate(t, "g04-slow-upload", "")
	fast := simulate(t, "g04-slow-upload", "workload.kind=g04-pinned")
	if slow.Bottleneck != "gpu" || fast.Bottleneck != "synth" {
		t.Errorf("the bottlenecks are %s and %s: want gpu, and synth once the vectors are pinned",
			slow.Bottleneck, fast.Bottleneck)
	}
	if slow.SecondsPerJob < 1.9*fast.SecondsPerJob {
		t.Errorf("%.1f s a job, and %.1f pinned: want half or less", slow.SecondsPerJob, fast.SecondsPerJob)
	}
}

// G11: the part of the measured times above the deadline was 33 of 54.
func TestG11TheDeadlineIsNotTheMean(t *testing.T) {
	const deadline, n = 1590.0, 1000
	results, err := sim.Replicate(plan(t, "g11-deadline", ""), 1, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	missed := 0
	for _, r := range results {
		if r.SecondsPerJob > deadline {
			missed++
		}
	}
	low, high := sim.BinomialInterval(33, 54, 0.95)
	if part := float64(missed) / n; part < low || part > high {
		t.Errorf("%.2f of the runs miss the deadline: 33 of 54 did, which is %.2f to %.2f", part, low, high)
	}
	alone, behind := simulate(t, "g11-deadline", ""), simulate(t, "g11-inversion", "")
	if alone.Makespan >= behind.Makespan {
		t.Errorf("alone it takes %s, behind a job of lower priority %s", alone.Makespan, behind.Makespan)
	}
	within(t, "seconds behind a job that has the GPU from 900 s to 2400", behind.Makespan.Seconds(), 2400+600, 0.001)
}

// G14 and G21: what is made faster than it is used fills the memory after limit / ((in - out) x bytes).
func TestG14AQueueWithoutABoundFillsTheMemoryInTime(t *testing.T) {
	for _, c := range []struct {
		scenario string
		in, out  float64 // a second
		bytes    model.Bytes
		limit    model.Bytes
	}{
		{"g14-unpaused", 1, 0.5, 512 * model.MiB, 64 * model.GiB},
		{"g21-unbounded-queue", 10, 1, 64 * model.MiB, 16 * model.GiB},
	} {
		want := float64(c.limit) / ((c.in - c.out) * float64(c.bytes))
		got := simulate(t, c.scenario, "").PeakAt.Seconds()
		within(t, c.scenario+": seconds to the limit", got, want, 0.05)
	}
}

// G19: a key that is uploaded for each proof costs its load time, and a second worker on a card with one lock gains
// only what is not on the card.
func TestG19UploadsCostTimeAndALockedCardIsNotDoubled(t *testing.T) {
	switching := simulate(t, "g19-keys-on-demand", "")
	one := simulate(t, "g19-keys-on-demand", "workload.mix=[{kind:g19-a,jobs:20}]")
	within(t, "seconds per job that an upload costs", switching.SecondsPerJob-one.SecondsPerJob, 2, 0.1)
	const pair = "workload.mix=[{kind:g19-a,jobs:20}] config.jobs_in_flight=2"
	single := simulate(t, "g19-keys-on-demand", pair)
	double := simulate(t, "g19-keys-on-demand", pair+" config.gpu.workers_per_device=2")
	within(t, "seconds per job of two workers", double.SecondsPerJob, single.SecondsPerJob, 0.01)
}

// G21: parents that wait in a pool for children which need it too are found by following every order of events, and are
// none with a thread more.
func TestG21ThePoolThatWaitsForItselfIsFound(t *testing.T) {
	for _, c := range []struct {
		settings string
		jobs     int
		want     reach.Verdict
	}{{"", 2, reach.Clear}, {"", 3, reach.Stall}, {"config.admission.budget.total=4B", 3, reach.Clear}} {
		p := plan(t, "g21-same-pool", c.settings)
		space := reach.Space{Config: p.Config, Jobs: c.jobs}
		for _, share := range p.Workload.Shares {
			space.Kinds = append(space.Kinds, p.Profile.Kind(share.Kind).Model())
		}
		answer, err := reach.Search(space, nil)
		if err != nil || answer.Verdict != c.want {
			t.Errorf("%d jobs %s: %+v, %v; want %s", c.jobs, c.settings, answer, err, c.want)
		}
	}
}

// G21: what keeps a GPU busy that takes one partition at a time is about synthesis over GPU time, and the one that is
// on the GPU.
func TestG21HowManyPartitionsTheGPUNeedsDependsOnTheRatio(t *testing.T) {
	seconds := func(kind string, permits int) float64 {
		settings := fmt.Sprintf("machine.ram=1TiB workload.kind=%s config.admission.permits=%d", kind, permits)
		return simulate(t, "g21-all-ten", settings).SecondsPerJob
	}
	even := seconds("g21-circuit-even", 20)
	within(t, "seconds per job of one in synthesis, times equal", seconds("g21-circuit-even", 1), even, 0.03)
	all := seconds("g21-circuit", 20)
	within(t, "seconds per job of nine in synthesis, 29 s against 3.3", seconds("g21-circuit", 9), all, 0.03)
	if few := seconds("g21-circuit", 5); few < 1.5*all {
		t.Errorf("five in synthesis take %.1f s a job, twenty %.1f: want far more", few, all)
	}
}
