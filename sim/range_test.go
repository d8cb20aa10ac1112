package sim_test

import (
	"strings"
	"testing"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// What is out of range is an error that says so: it neither ends early as if it fitted nor eats the machine.
func TestWhatIsOutOfRangeIsRefused(t *testing.T) {
	years := plainPlan(1000)
	for s, w := range years.Profile.Kinds[0].Work {
		w.Mean = profile.Exactly(model.MaxSpan)
		w.Law = profile.Constant
		years.Profile.Kinds[0].Work[s] = w
	}
	crowd := plainPlan(100_000_000)
	mix := plainPlan(100_000_001)
	mix.Config.JobsInFlight = 10
	mix.Workload.Shares = append(mix.Workload.Shares, model.Share{Kind: "other", Jobs: 1})
	mix.Profile.Kinds = append(mix.Profile.Kinds, mix.Profile.Kinds[0])
	mix.Profile.Kinds[1].Name = "other"
	partitions := plainPlan(9_000_000)
	partitions.Config.Admission.Permits = model.Unbounded
	ramps := plainPlan(1000)
	ramps.Config.Admission.Permits = model.Unbounded
	// Their sums would wrap around: 16384 PiB are 2^64 bytes.
	buffers := plainPlan(16384)
	buffers.Profile.Kinds[0].Footprint.Parse = profile.Exactly(model.MaxBytes)
	pinned := plainPlan(16384)
	pinned.Config.Admission.Permits = model.Unbounded
	pinned.Profile.Kinds[0].Footprint = profile.Footprint{
		Vectors: profile.Exactly(model.MaxBytes), Pinned: profile.Exactly(model.MaxBytes),
	}
	pinned.Machine.Memlock = model.MaxBytes
	pinned.IgnoreLimit = true
	for _, c := range []struct {
		name string
		plan sim.Plan
		want string
	}{
		{"time", years, "292 years"},
		{"jobs in flight", crowd, "100000000 jobs may be in flight at once: at most 10000000"},
		{"mix", mix, "a mix of 100000002 jobs: at most 100000000"},
		{"partitions", partitions, "90000000 partitions may be alive at once: at most 20000000"},
		{"ramps", ramps, "more than 8TiB at once"},
		{"buffers", buffers, "more than 4194304TiB are held at once"},
		{"pinned", pinned, "more than 4194304TiB are held of"},
	} {
		if _, err := sim.Run(c.plan, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one with %q", c.name, err, c.want)
		}
	}
}

// A closed workload of one kind takes no memory for its jobs.
func TestManyJobsArriveAsOne(t *testing.T) {
	p := plainPlan(1_000_000_000)
	p.Config.JobsInFlight = 10
	p.Machine.RAM = 10 * model.GiB
	r, err := sim.Run(p, nil)
	if err != nil || r.Verdict != sim.OOM {
		t.Errorf("verdict %+v, error %v: want an oom in the first seconds", r, err)
	}
}

// Busy times add up also where their sum is beyond 64 bits: a thousand partitions that take a year each.
func TestBusyTimesOfYearsAddUp(t *testing.T) {
	p := plainPlan(1000)
	p.Config.Admission.Permits = 1000
	k := &p.Profile.Kinds[0]
	k.Partitions = 1
	k.Work = map[model.Stage]profile.Work{
		model.Synth:  {Law: profile.Constant, Mean: profile.Exactly(model.MaxSpan)},
		model.Kernel: {Law: profile.Constant, Mean: profile.Exactly(model.Millisecond)},
	}
	k.Footprint = profile.Footprint{}
	p.Profile.Interference = profile.Interference{}
	r, err := sim.Run(p, nil)
	if err != nil || r.Bottleneck != "synth" || r.Utilization.Synth < 0.99 || r.Utilization.Synth > 1 {
		t.Errorf("bottleneck %q, synth busy %v, error %v: want synth, nearly all of the time", r.Bottleneck, r.Utilization.Synth, err)
	}
}

// That the ledger has room for nobody is seen at once, and not by asking every job that waits on behalf of every other:
// that would take minutes here.
func TestALedgerWithoutRoomStallsAtOnce(t *testing.T) {
	p := plainPlan(300_000)
	p.Config.JobsInFlight = 300_000
	kind := p.Profile.Kinds[0].Name
	p.Config.Admission.Budget = &model.Budget{Total: model.GiB, Kinds: map[string]model.Demand{kind: {Reserve: model.TiB}}}
	r, err := sim.Run(p, nil)
	if err != nil || r.Verdict != sim.Stall {
		t.Errorf("verdict %+v, error %v: want a stall", r, err)
	}
}
