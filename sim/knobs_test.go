package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// bulky is a kind whose partitions take 10 s to synthesize and 4 s on the GPU, and hold 12 and 4 GiB.
func bulky(name string, partitions int) profile.Kind {
	k := kindOf(partitions, map[model.Stage]profile.Work{model.Synth: seconds(10), model.Kernel: seconds(4)})
	k.Name = name
	k.Footprint = profile.Footprint{Vectors: profile.Exactly(12 * model.GiB), Assignment: profile.Exactly(4 * model.GiB)}
	return k
}

func TestABatchTakesTheBytesOfAllItsJobsAndTheTimeThatEachAdds(t *testing.T) {
	k := bulky("job", 1)
	w := k.Work[model.Synth]
	w.Batch = new(profile.Exactly(0.0))
	k.Work[model.Synth] = w
	c := openConfig()
	c.Batch = &model.Batch{Size: 2, Wait: 5 * model.Second}
	got, _ := run(t, planOf(c, k, profile.Interference{}, 3))
	// Two jobs are synthesized until 10 s and take the GPU until 18 s; the third waits for others until 5 s, is
	// synthesized until 15 s and takes the GPU until 22 s.
	if got.Makespan != 22*model.Second || got.JobsDone != 3 || got.Peak != 48*model.GiB {
		t.Errorf("%d jobs in %s with a peak of %s, want 3 in 22s with 48 GiB", got.JobsDone, got.Makespan, got.Peak)
	}
}

func TestAPoolKeepsWhatOneKindFreedWhileAnotherRuns(t *testing.T) {
	a, b := bulky("a", 1), bulky("b", 1)
	b.Footprint.Vectors = profile.Exactly(20 * model.GiB)
	c := openConfig()
	c.JobsInFlight = 1
	p := planOf(c, a, profile.Interference{}, 2)
	p.Profile.Kinds = append(p.Profile.Kinds, b)
	p.Workload.Shares = append(p.Workload.Shares, model.Share{Kind: "b", Jobs: 1})
	if got, _ := run(t, p); got.Peak != 24*model.GiB {
		t.Errorf("without a pool the peak is %s, want 24 GiB", got.Peak)
	}
	p.Config.Pool = model.PoolRetain
	got, records := run(t, p)
	if got.Peak != 36*model.GiB {
		t.Errorf("with a pool the peak is %s, want 36 GiB", got.Peak)
	}
	pool := slices.IndexFunc(got.AtPeak, func(h sim.Holding) bool { return h.Owner == sim.OwnPool })
	if pool < 0 || got.AtPeak[pool] != (sim.Holding{Owner: sim.OwnPool, Count: 1, Bytes: 12 * model.GiB}) {
		t.Errorf("at the peak there is %v, want 12 GiB in the pool", got.AtPeak)
	}
	reused := 0
	for _, r := range records {
		for _, e := range r.Effects {
			if e.Reused {
				reused++
			}
		}
	}
	if reused != 1 {
		t.Errorf("%d partitions reused vectors, want the second of kind a", reused)
	}
}

func TestDataOnDemandIsLoadedFirstAndEvictedForOthers(t *testing.T) {
	a, b := bulky("a", 1), bulky("b", 1)
	b.Footprint.Pinned = profile.Exactly(12 * model.GiB)
	c := openConfig()
	c.JobsInFlight = 1
	demand := model.Demand{Reserve: 16 * model.GiB, ReleaseAfterKernel: 12 * model.GiB}
	c.Admission.Budget = &model.Budget{Total: 30 * model.GiB, Kinds: map[string]model.Demand{"a": demand, "b": demand}}
	key := func(kind string, bytes, transient model.Bytes) model.Resident {
		return model.Resident{
			Name: "key of " + kind, Bytes: bytes, Transient: transient, LoadTime: 5 * model.Second, OnDemand: true, Evictable: true, Kinds: []string{kind},
			Pinned: true,
		}
	}
	c.Resident = []model.Resident{key("a", 10*model.GiB, 3*model.GiB), key("b", 12*model.GiB, 0)}
	p := planOf(c, a, profile.Interference{}, 1)
	p.Profile.Kinds = append(p.Profile.Kinds, b)
	p.Workload.Shares = append(p.Workload.Shares, model.Share{Kind: "b", Jobs: 1})
	got, records := run(t, p)
	// Each job loads for 5 s, is synthesized for 10 s and takes the GPU for 4 s. The key of a makes room for b's partition.
	if got.Makespan != 38*model.Second || got.Peak != 28*model.GiB || got.LedgerPeak != 28*model.GiB {
		t.Errorf("%s with a peak of %s and %s reserved, want 38s, 28 GiB and 28 GiB", got.Makespan, got.Peak, got.LedgerPeak)
	}
	if got.PinnedPeak != 24*model.GiB {
		t.Errorf("%s are pinned at the most, want the 12 GiB of b's key and those of its vectors: that of a is gone by then", got.PinnedPeak)
	}
	evicted := 0
	for _, r := range records {
		for _, e := range r.Effects {
			if e.Op == model.Evict && e.Task.Slot == 0 {
				evicted++
			}
		}
	}
	if evicted != 1 {
		t.Errorf("the key of a is evicted %d times, want once", evicted)
	}
	p.Config.Admission.Budget = &model.Budget{Total: 27 * model.GiB, Kinds: p.Config.Admission.Budget.Kinds}
	if got, _ := run(t, p); got.Verdict != sim.Stall || !strings.Contains(got.Reason, "16.0 GiB") {
		t.Errorf("with 1 GiB too little: %s: %s", got.Verdict, got.Reason)
	}
}

func TestTheLedgerAdmitsWhatFits(t *testing.T) {
	c := openConfig()
	c.Admission.Budget = &model.Budget{Total: 50 * model.GiB, Margin: 10 * model.GiB, Kinds: map[string]model.Demand{
		"job": {Reserve: 16 * model.GiB, ReleaseAfterKernel: 12 * model.GiB},
	}}
	got, _ := run(t, planOf(c, bulky("job", 4), profile.Interference{}, 1))
	// Two at a time: synthesized until 10 s, on the GPU until 14 and 18 s. The next ones begin as these end.
	if got.Makespan != 32*model.Second || got.Peak != 32*model.GiB || got.LedgerPeak != 32*model.GiB {
		t.Errorf("%s with a peak of %s and %s reserved, want 32s, 32 GiB and 32 GiB", got.Makespan, got.Peak, got.LedgerPeak)
	}
	if got.Bound.Partitions != 2 {
		t.Errorf("the bound is %s, want 2", got.Bound.Formula)
	}
}

func TestADeviceThatIsTooSmallIsAnOOMOfItsOwn(t *testing.T) {
	k := bulky("job", 2)
	k.Work[model.Prep] = seconds(1)
	k.Footprint.VRAM = map[model.Stage]profile.Quantity[model.Bytes]{
		model.Prep: profile.Exactly(11 * model.GiB), model.Kernel: profile.Exactly(6 * model.GiB),
	}
	c := openConfig()
	c.GPU.WorkersPerDevice = 2
	p := planOf(c, k, profile.Interference{}, 1)
	p.Profile.DeviceBaseline = profile.Exactly(model.GiB)
	p.Machine = model.Machine{RAM: 64 * model.GiB, GPUs: []model.GPUSpec{{VRAM: 16 * model.GiB}}}
	p.Config.GPU.Prep = model.PrepBeforeLock
	got, _ := run(t, p)
	if got.Verdict != sim.OOM || got.Limit != (model.Limit{Bytes: 16 * model.GiB, Name: "vram of gpu 0"}) {
		t.Errorf("two staged sets: %s: %s (limit %+v)", got.Verdict, got.Reason, got.Limit)
	}
	if want := "passes vram of gpu 0 of 16.0 GiB after 10 s, with 0 jobs done: prep of job holds 22.0 GiB in 2 partitions"; got.Reason != want {
		t.Errorf("the reason is %q, want %q", got.Reason, want)
	}
	if got.Makespan != 10*model.Second {
		t.Errorf("the limit is crossed after %s, want 10s", got.Makespan)
	}
	p.IgnoreLimit = true
	want := []sim.DevicePeak{{Peak: 23 * model.GiB, Limit: 16 * model.GiB, AtPeak: sim.DeviceHoldings{
		{Kind: "job", Stage: model.Prep, Count: 2, Bytes: 22 * model.GiB},
	}}}
	got, _ = run(t, p)
	if diff := cmp.Diff(want, got.Devices); got.Verdict != sim.OOM || !strings.HasSuffix(got.Reason, "over vram of gpu 0: prep of job holds 22.0 GiB in 2 partitions") || diff != "" {
		t.Errorf("the limit ignored: %s: %s; devices (-want +got):\n%s", got.Verdict, got.Reason, diff)
	}
	p.IgnoreLimit = false
	p.Config.GPU.WorkersPerDevice = 1
	if got, _ = run(t, p); got.Verdict != sim.Fits || got.Devices[0].Peak != 12*model.GiB {
		t.Errorf("one worker: %s: %s, %+v", got.Verdict, got.Reason, got.Devices)
	}
}

func TestADeviceIsFilledByThePartitionsOfSeveralKinds(t *testing.T) {
	a, b := bulky("a", 1), bulky("b", 1)
	a.Work[model.Kernel], b.Work[model.Prep] = seconds(40), seconds(8)
	a.Footprint.VRAM = map[model.Stage]profile.Quantity[model.Bytes]{model.Kernel: profile.Exactly(10 * model.GiB)}
	b.Footprint.VRAM = map[model.Stage]profile.Quantity[model.Bytes]{model.Prep: profile.Exactly(2 * model.GiB), model.Kernel: profile.Exactly(9 * model.GiB)}
	c := openConfig()
	c.GPU.WorkersPerDevice, c.GPU.Prep = 3, model.PrepBeforeLock
	p := planOf(c, a, profile.Interference{}, 1)
	p.Profile.Kinds = append(p.Profile.Kinds, b)
	p.Workload.Shares = append(p.Workload.Shares, model.Share{Kind: "b", Jobs: 2})
	got, _ := run(t, p)
	// While the kernel of a has the device, both of b are prepared and wait for it with what they hold.
	want := sim.DeviceHoldings{{Kind: "a", Stage: model.Kernel, Count: 1, Bytes: 10 * model.GiB}, {Kind: "b", Stage: model.Prep, Count: 2, Bytes: 4 * model.GiB}}
	if diff := cmp.Diff(want, got.Devices[0].AtPeak); diff != "" || got.Devices[0].Peak != 14*model.GiB {
		t.Errorf("a peak of %s (-want +got):\n%s", got.Devices[0].Peak, diff)
	}
}

// TestPinnedAndSharedMemoryHaveLimitsOfTheirOwn has two partitions of 12 GiB each, pinned beside data of 3 GiB, or shared.
func TestPinnedAndSharedMemoryHaveLimitsOfTheirOwn(t *testing.T) {
	pinned, shared := bulky("job", 2), bulky("job", 2)
	pinned.Footprint.Pinned = profile.Exactly(12 * model.GiB)
	shared.Footprint.Shm = profile.Exactly(12 * model.GiB)
	for _, c := range []struct {
		kind    profile.Kind
		data    model.Bytes // pinned
		limit   string
		machine func(model.Bytes) model.Machine
		peak    func(*sim.Result) model.Bytes
	}{
		{pinned, 3 * model.GiB, "machine.memlock", func(b model.Bytes) model.Machine { return model.Machine{Memlock: b} }, func(r *sim.Result) model.Bytes { return r.PinnedPeak }},
		{shared, 0, "machine.shm", func(b model.Bytes) model.Machine { return model.Machine{Shm: b} }, func(r *sim.Result) model.Bytes { return r.SharedPeak }},
	} {
		p := planOf(openConfig(), c.kind, profile.Interference{}, 1)
		if c.data > 0 {
			p.Config.Resident = []model.Resident{{Name: "key", Bytes: c.data, Pinned: true}}
		}
		for limit, want := range map[model.Bytes]sim.Verdict{
			c.data + 12*model.GiB - 1: sim.Refuse, // not one
			c.data + 12*model.GiB:     sim.OOM,    // one, and both come
			c.data + 24*model.GiB - 1: sim.OOM,
			c.data + 24*model.GiB:     sim.Fits,
		} {
			p.Machine = c.machine(limit)
			got, _ := run(t, p)
			if got.Verdict != want || want != sim.Fits && got.Limit != (model.Limit{Bytes: limit, Name: c.limit}) {
				t.Errorf("%s of %s: %s: %s; want %s", c.limit, limit, got.Verdict, got.Reason, want)
			}
			if want != sim.Refuse && c.peak(got) != c.data+24*model.GiB {
				t.Errorf("%s of %s: a peak of %s, want two partitions beside %s", c.limit, limit, c.peak(got), c.data)
			}
		}
		p.Machine = c.machine(c.data + 12*model.GiB)
		p.Config.Admission.Permits, p.Config.Admission.Release = 1, model.AfterFinish
		if got, _ := run(t, p); got.Verdict != sim.Fits || c.peak(got) != c.data+12*model.GiB {
			t.Errorf("%s, one at a time: %s: %s", c.limit, got.Verdict, got.Reason)
		}
	}
}

func TestDataThatIsPinnedOnDemandCountsForThoseThatNeedIt(t *testing.T) {
	k := bulky("job", 1)
	k.Footprint.Pinned = profile.Exactly(12 * model.GiB)
	p := planOf(openConfig(), k, profile.Interference{}, 1)
	key := model.Resident{Name: "key", Bytes: 3 * model.GiB, Pinned: true, OnDemand: true, Evictable: true}
	p.Machine = model.Machine{Memlock: 14 * model.GiB}
	for kind, want := range map[string]sim.Verdict{"job": sim.Refuse, "other": sim.Fits} {
		key.Kinds = []string{kind}
		p.Config.Resident = []model.Resident{key}
		if got, _ := run(t, p); got.Verdict != want {
			t.Errorf("a key of kind %s: %s: %s; want %s", kind, got.Verdict, got.Reason, want)
		}
	}
}

func TestABacklogComesFirstAndTheRestAtTheRate(t *testing.T) {
	p := planOf(openConfig(), bulky("job", 1), profile.Interference{}, 5)
	p.Workload.Arrival = model.Arrival{Pattern: model.Backlog, Backlog: 3, Rate: 1e-3}
	_, records := run(t, p)
	var arrivals []model.Instant
	for _, r := range records {
		if r.Input.Op == model.Arrive {
			for range r.Input.Count {
				arrivals = append(arrivals, r.At)
			}
		}
	}
	if len(arrivals) != 5 || arrivals[2] != 0 || arrivals[3] == 0 || arrivals[4] <= arrivals[3] {
		t.Errorf("jobs arrive at %v, want three at 0 and two later", arrivals)
	}
	p.Workload.Arrival = model.Arrival{Pattern: model.Listed, Instants: []model.Instant{0, 2e9, 2e9, 7e9, 9e9, 11e9}}
	got, _ := run(t, p)
	// The last one arrives at 9 s and is synthesized by 19 s, when the GPU is busy with the others until 30 s.
	if got.Makespan != 30*model.Second {
		t.Errorf("listed arrivals take %s, want 30s", got.Makespan)
	}
}

func TestContradictionsAreSaidWithTheirNumbers(t *testing.T) {
	c := openConfig()
	c.Admission.Budget = &model.Budget{Total: 30 * model.GiB, Kinds: map[string]model.Demand{"job": {Reserve: 14 * model.GiB}}}
	c.Resident = []model.Resident{{Name: "key", Bytes: 20 * model.GiB}}
	p := planOf(c, bulky("job", 2), profile.Interference{}, 1)
	p.Machine = model.Machine{RAM: 24 * model.GiB}
	got := p.Contradictions()
	for i, want := range []string{
		"the ledger may reserve 30GiB, and machine.ram minus machine.reserve is 24GiB",
		"a partition of job can never begin: with the data that it needs it reserves 14GiB, and 10GiB can be had",
		"a partition of job reserves 14GiB and holds up to 16GiB",
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("contradictions %q, want %q as number %d", got, want, i)
		}
	}
	p.Config.Admission.Budget = nil
	if got := p.Contradictions(); len(got) > 0 {
		t.Errorf("without a ledger: %q", got)
	}
}

func TestARiskNamesTheLimitThatIsPassed(t *testing.T) {
	k := bulky("job", 2)
	k.Footprint.VRAM = map[model.Stage]profile.Quantity[model.Bytes]{model.Kernel: profile.Exactly(17 * model.GiB)}
	p := planOf(openConfig(), k, profile.Interference{}, 1)
	p.Machine = model.Machine{GPUs: []model.GPUSpec{{VRAM: 16 * model.GiB}}}
	got, err := sim.AssessRisk(p, 40, sim.RiskBound, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Verdict != sim.OOM || got.Limit.Name != "vram of gpu 0" || got.OOMSecondsMean != 10 {
		t.Errorf("%s: %s, limit %+v after %v s", got.Verdict, got.Reason, got.Limit, got.OOMSecondsMean)
	}
}
