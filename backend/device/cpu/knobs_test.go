package cpu_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"testing"

	"headroom/backend"
	"headroom/backend/device/cpu"
	"headroom/backend/groth16"
	"headroom/model"
	"headroom/model/check"
)

// keyDir is shared by all tests, which would else each make keys.
var keyDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cpu")
	if err != nil {
		panic(err)
	}
	keyDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// circuits are of the kinds that tests prove, by name.
var circuits = map[string]model.Circuit{
	"large": {Family: "mimc", Log2Constraints: 10, Data: 2 * model.MiB, Leaf: 4 * model.KiB},
	"small": {Family: "mimc", Log2Constraints: 10, Data: 128 * model.KiB, Leaf: 4 * model.KiB},
}

const partitions = 2

// openKinds returns large and small, in this order.
func openKinds(t *testing.T) []cpu.Kind {
	t.Helper()
	var kinds []cpu.Kind
	for _, name := range slices.Sorted(maps.Keys(circuits)) {
		keys, err := groth16.OpenKeys(t.Context(), keyDir, circuits[name], nil)
		if err != nil {
			t.Fatal(err)
		}
		prover, err := groth16.NewProver(t.Context(), keyDir, keys, groth16.Threads{})
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, cpu.Kind{Name: name, Keys: keys, Prover: prover})
	}
	return kinds
}

// run is what a live run came to.
type run struct {
	proofs   map[int32][]byte
	records  []model.Record
	effects  map[model.EffectOp]int
	reused   int
	failures []error
	joined   uint16 // the most proofs of one batch
}

// prove runs a small job, a large one and two small ones, none of which may fail, and judges every step. Nothing may be
// held at the end.
func prove(t *testing.T, config model.Config, cancels ...model.Cancellation) run {
	t.Helper()
	r := proveWith(t, config, func(*cpu.Setup) {}, cancels...)
	if len(r.failures) > 0 {
		t.Errorf("failures: %v", r.failures)
	}
	return r
}

// proveWith is prove on a device that is set up otherwise, and stages may fail, and so may freeing by errRefused.
func proveWith(t *testing.T, config model.Config, set func(*cpu.Setup), cancels ...model.Cancellation) run {
	t.Helper()
	r := run{proofs: map[int32][]byte{}, effects: map[model.EffectOp]int{}}
	setup := cpu.Setup{
		Kinds: openKinds(t), Config: config,
		Proved: func(job int32, proof []byte) { r.proofs[job] = proof },
	}
	set(&setup)
	device, err := cpu.New(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	pipeline := backend.Pipeline{
		Config: config, Device: device, Clock: backend.StartClock(), Cancels: cancels,
		Workload: model.Workload{Arrival: model.Arrival{Pattern: model.Closed}},
		Record: func(s *model.Record) {
			r.records = append(r.records, *s)
			for _, e := range s.Effects {
				r.effects[e.Op]++
				r.joined = max(r.joined, e.Proofs)
				if e.Reused {
					r.reused++
				}
			}
		},
	}
	for i, k := range setup.Kinds {
		pipeline.Kinds = append(pipeline.Kinds, model.Kind{Name: k.Name, Partitions: partitions, Priority: len(k.Name), Stages: cpu.Stages()})
		pipeline.Workload.Shares = append(pipeline.Workload.Shares, model.Share{Kind: k.Name, Jobs: 1 + 2*i})
	}
	summary, err := pipeline.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := device.Close(); err != nil && !errors.Is(err, errRefused) {
		t.Error(err)
	}
	r.failures = summary.Failures
	if summary.Stalled || summary.JobsDone != len(r.proofs) {
		t.Errorf("%d proofs of %+v", len(r.proofs), summary)
	}
	for _, f := range check.Run(check.Stream{Config: config, Kinds: pipeline.Kinds, Records: r.records, Finished: true}) {
		t.Errorf("checker: %s", f)
	}
	return r
}

// plain is a configuration with no knob set that is not always there.
func plain() model.Config {
	c := model.DefaultConfig(1)
	c.JobsInFlight = 2
	c.Admission.Permits = 2
	return c
}

func budget(total model.Bytes) *model.Budget {
	d := model.Demand{Reserve: 2 * model.MiB, ReleaseAfterKernel: model.MiB}
	return &model.Budget{Total: total, Kinds: map[string]model.Demand{"large": d, "small": d}}
}

// knobs are configurations and an effect that only their knob has.
var knobs = []struct {
	name   string
	set    func(*model.Config)
	effect model.EffectOp
}{
	{"budget and turns", func(c *model.Config) {
		c.Order, c.Admission.Budget = model.Interleave, budget(3*model.MiB)
	}, model.JobDone},
	{"working first", func(c *model.Config) {
		b := budget(5 * model.MiB)
		for kind, d := range b.Kinds {
			d.AcquireOrder = model.WorkingFirst
			b.Kinds[kind] = d
		}
		c.Admission.Budget = b
	}, model.Reserve},
	{"handoff and priority", func(c *model.Config) {
		c.Order, c.Synthesis = model.ByPriority, model.Synthesis{MaxParallel: 1, Handoff: 1}
	}, model.Admit},
	{"pool", func(c *model.Config) { c.Pool = model.PoolRetain }, model.Pooled},
	{"batch", func(c *model.Config) {
		c.JobsInFlight, c.Batch = 4, &model.Batch{Size: 2, Wait: model.Millisecond}
	}, model.Join},
	{"batch from a pool", func(c *model.Config) {
		c.JobsInFlight, c.Admission.Permits = 4, 1
		c.Batch, c.Pool = &model.Batch{Size: 2, Wait: model.Millisecond, Kinds: []string{"small"}}, model.PoolRetain
	}, model.Join},
	{"data on demand", func(c *model.Config) {
		c.Admission.Budget = budget(9 * model.MiB)
		c.Resident = []model.Resident{
			{Name: "a", Bytes: 4 * model.MiB, Transient: model.MiB, LoadTime: model.Millisecond, OnDemand: true, Evictable: true, Kinds: []string{"small"}},
			{Name: "b", Bytes: 5 * model.MiB, OnDemand: true, Evictable: true, Kinds: []string{"large"}},
		}
		c.JobsInFlight = 1
	}, model.Evict},
	{"keys on demand", func(c *model.Config) {
		c.Admission.Budget = budget(5 * model.MiB)
		c.Resident = []model.Resident{
			{Name: cpu.KeysOf("small"), Bytes: 574 * model.KiB, OnDemand: true, Evictable: true, Kinds: []string{"small"}},
			{Name: cpu.KeysOf("large"), Bytes: 574 * model.KiB, Evictable: true, Kinds: []string{"large"}},
			{Name: "other", Bytes: 2 * model.MiB},
		}
		c.JobsInFlight = 1
	}, model.Evict},
	{"in the background", func(c *model.Config) {
		c.Resident = []model.Resident{
			{Name: "table", Bytes: model.MiB, LoadTime: model.Millisecond, OnDemand: true, Background: true},
			{Name: "other", Bytes: model.MiB, Transient: model.MiB, OnDemand: true, Acquire: model.AcquirePolling},
		}
	}, model.Loaded},
}

// Whatever the configuration, every job gets the proof that it gets without any knob: a proof depends on its job and
// its data alone.
func TestEveryKnobProvesTheSame(t *testing.T) {
	want := prove(t, plain()).proofs
	for _, k := range knobs {
		t.Run(k.name, func(t *testing.T) {
			config := plain()
			k.set(&config)
			if err := config.Validate(nil); err != nil {
				t.Fatal(err)
			}
			got := prove(t, config)
			if got.effects[k.effect] == 0 {
				t.Errorf("nothing of it happened: there is no %s", k.effect)
			}
			if config.Pool == model.PoolRetain && got.reused == 0 {
				t.Error("no vectors came from the pool")
			}
			if config.Batch != nil && got.joined != 2 {
				t.Errorf("at most %d proofs were joined, want 2", got.joined)
			}
			if !maps.EqualFunc(got.proofs, want, bytes.Equal) {
				t.Error("the proofs differ from those without the knob")
			}
		})
	}
}

// A job that is given up leaves nothing behind, and the one that it was joined with gets its proof.
func TestAJobThatIsGivenUpHoldsNothing(t *testing.T) {
	want := prove(t, plain()).proofs
	config := plain()
	config.JobsInFlight = 4
	config.Pool, config.Batch = model.PoolRetain, &model.Batch{Size: 2, Wait: model.Millisecond}
	got := prove(t, config, model.Cancellation{At: 1, Job: 2})
	delete(want, 2)
	if !maps.EqualFunc(got.proofs, want, bytes.Equal) {
		t.Errorf("the proofs of jobs %v are not those of %v without a batch", slices.Sorted(maps.Keys(got.proofs)), slices.Sorted(maps.Keys(want)))
	}
}
