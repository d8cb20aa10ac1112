package sim_test

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/stat/combin"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

func TestTheBinomialIntervalHasItsKnownValues(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 400, 0, 1 - math.Pow(0.025, 1.0/400)},
		{10, 10, math.Pow(0.025, 1.0/10), 1},
		{5, 10, 0.187086, 0.812914},
		{1, 20, 0.001265, 0.248733},
		{0, 1, 0, 0.975},
	} {
		low, high := sim.BinomialInterval(c.k, c.n, 0.95)
		if math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: the interval is [%.6f, %.6f], want [%.6f, %.6f]", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

// TestTheEndsOfABinomialIntervalLeaveOutTheirTails is the definition: were P at an end, the count or one still
// further away would be seen in one case of forty.
func TestTheEndsOfABinomialIntervalLeaveOutTheirTails(t *testing.T) {
	tail := func(from, to, n int, p float64) float64 {
		sum := 0.0
		for k := from; k <= to; k++ {
			sum += float64(combin.Binomial(n, k)) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
		}
		return sum
	}
	const n = 30
	for k := range n + 1 {
		low, high := sim.BinomialInterval(k, n, 0.95)
		if above := tail(k, n, n, low); k > 0 && math.Abs(above-0.025) > 1e-9 {
			t.Errorf("%d of %d: with P = %v so many or more come in %v of the cases, want 0.025", k, n, low, above)
		}
		if below := tail(0, k, n, high); k < n && math.Abs(below-0.025) > 1e-9 {
			t.Errorf("%d of %d: with P = %v so many or fewer come in %v of the cases, want 0.025", k, n, high, below)
		}
	}
}

// riskyPlan is a plan whose profile is uncertain about what a partition holds.
func riskyPlan(limit model.Bytes) sim.Plan {
	work := map[model.Stage]profile.Work{
		model.Synth:  {Law: profile.Lognormal, Mean: profile.Exactly(model.SpanOf(5)), CV: profile.Exactly(0.3)},
		model.Kernel: seconds(1),
	}
	k := kindOf(4, work)
	k.Footprint.Vectors = profile.Quantity[model.Bytes]{Value: model.GiB, Low: 900 * model.MiB, High: 1200 * model.MiB}
	p := planOf(openConfig(), k, profile.Interference{}, 2)
	p.Machine.RAM = limit
	return p
}

func TestARiskReportIsWhatItsReplicationsSay(t *testing.T) {
	const n = 60
	p := riskyPlan(5 * model.GiB)
	var ticks atomic.Int32
	got, err := sim.AssessRisk(p, n, 0.01, func() { ticks.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	var peaks []model.Bytes
	var ooms, oomSeconds, done, jobs, seconds, sum float64
	for i := range uint32(n) {
		p.Replication, p.IgnoreLimit = i+1, false
		cut, _ := run(t, p)
		p.IgnoreLimit = true
		whole, _ := run(t, p)
		peaks = append(peaks, whole.Peak)
		sum += float64(whole.Peak)
		jobs += float64(cut.JobsDone)
		if cut.Verdict == sim.OOM {
			ooms++
			oomSeconds += cut.PeakAt.Seconds()
		} else {
			done++
			seconds += cut.SecondsPerJob
		}
	}
	if ooms == 0 || done == 0 {
		t.Fatalf("%v of %d replications run out of memory: the case is to have both", ooms, n)
	}
	if got.OOMs != int(ooms) || got.POOM != ooms/n || got.Replications != n || ticks.Load() != n {
		t.Errorf("%d of %d replications run out of memory (P %v, %d reported), want %v", got.OOMs, got.Replications, got.POOM, ticks.Load(), ooms)
	}
	for what, pair := range map[string][2]float64{
		"seconds to an oom": {got.OOMSecondsMean, oomSeconds / ooms}, "seconds a job": {got.SecondsPerJobMean, seconds / done},
		"jobs done": {got.JobsDoneMean, jobs / n}, "peak": {float64(got.PeakMean), math.Round(sum / n)},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
			t.Errorf("the mean of %s is %v, want %v", what, pair[0], pair[1])
		}
	}
	slices.Sort(peaks)
	// Nearest rank: of 60 values the 1st, 3rd, 30th, 57th and 60th.
	if want := []model.Bytes{peaks[0], peaks[2], peaks[29], peaks[56], peaks[59]}; !slices.Equal(got.PeakQuantiles, want) {
		t.Errorf("the quantiles of the peak are %v, want %v", got.PeakQuantiles, want)
	}
}

func TestTheVerdictOfARiskFollowsTheInterval(t *testing.T) {
	for _, c := range []struct {
		name  string
		limit model.Bytes
		n     int
		bound float64
		want  sim.Verdict
	}{
		{"never out of memory, often enough tried", 16 * model.GiB, 400, 0.01, sim.Fits},
		{"never out of memory, too seldom tried", 16 * model.GiB, 50, 0.01, sim.Risk},
		{"never out of memory, with a bound for few trials", 16 * model.GiB, 50, 0.1, sim.Fits},
		{"always out of memory", model.GiB, 50, 0.01, sim.OOM},
		{"always out of memory, too seldom tried", model.GiB, 2, 0.01, sim.Risk},
		{"sometimes out of memory", 5 * model.GiB, 60, 0.01, sim.Risk},
	} {
		got, err := sim.AssessRisk(riskyPlan(c.limit), c.n, c.bound, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Verdict != c.want {
			t.Errorf("%s: the verdict is %s, want %s: %s", c.name, got.Verdict, c.want, got.Reason)
		}
	}
}

// TestARefusedReplicationIsOneThatRunsOutOfMemory draws a baseline that is above the limit in half of the replications.
func TestARefusedReplicationIsOneThatRunsOutOfMemory(t *testing.T) {
	const n = 40
	p := riskyPlan(5 * model.GiB)
	p.Profile.Baseline = profile.Quantity[model.Bytes]{Value: 5 * model.GiB, Low: 4 * model.GiB, High: 6 * model.GiB}
	got, err := sim.AssessRisk(p, n, sim.RiskBound, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Verdict != sim.OOM || got.POOM != 1 || got.Refusals == 0 || got.Refusals == n {
		t.Errorf("%s: %s, with %d refused of %d: want oom with some", got.Verdict, got.Reason, got.Refusals, n)
	}
	p.Profile.Baseline = profile.Exactly(6 * model.GiB)
	if got, err = sim.AssessRisk(p, n, sim.RiskBound, nil); err != nil {
		t.Fatal(err)
	}
	want := "each of 40 replications is refused: in the median one machine.ram minus machine.reserve of 5.0 GiB is over-committed by 1.0 GiB"
	if got.Verdict != sim.Refuse || got.POOM != 1 || got.Refusals != n || !strings.HasPrefix(got.Reason, want) {
		t.Errorf("%s: %s; want refuse: %s", got.Verdict, got.Reason, want)
	}
	if got.PeakMean <= 6*model.GiB || got.JobsDoneMean != 0 {
		t.Errorf("a mean peak of %s and %v jobs done: want what the runs would need, and none", got.PeakMean, got.JobsDoneMean)
	}
}

func TestRiskWithoutReplicationsIsAnError(t *testing.T) {
	if _, err := sim.AssessRisk(riskyPlan(0), 0, 0.01, nil); err == nil {
		t.Error("no replications are no error")
	}
}

func TestAKindThatTheProfileDoesNotHaveIsAnError(t *testing.T) {
	p := riskyPlan(0)
	p.Workload.Shares = append(p.Workload.Shares, model.Share{Kind: "other", Jobs: 1}, model.Share{Kind: "third", Jobs: 1})
	_, err := sim.Run(p, nil)
	if want := "sim: the workload has jobs of kind \"other\", which profile \"test\" does not have\n" +
		"sim: the workload has jobs of kind \"third\", which profile \"test\" does not have"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if _, err := sim.Replicate(p, 1, 3, nil); err == nil {
		t.Error("replications of it are no error")
	}
}
