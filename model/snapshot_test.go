package model

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// unkeyed are the fields that no key holds, with the reason why no future depends on them but by a name.
var unkeyed = map[string]string{
	"Core.config":        "is the same for all states",
	"Core.policy":        "follows from the configuration",
	"Core.kinds":         "are the same for all states",
	"Core.capacity":      "follows from the configuration",
	"Core.deviceOf":      "follows from the configuration",
	"Core.lockWaits":     "follows from the devices' queues",
	"Core.traits":        "follow from the configuration and the kinds",
	"Core.batch":         "is told by the job's phase",
	"Core.turns":         "is the next place in turn, of which only the order matters",
	"ledger.total":       "follows from the configuration",
	"ledger.timed":       "follows from the configuration",
	"timer.gen":          "is part of a name",
	"data.idled":         "is the next place among idle data, of which only the order matters",
	"data.lanes":         "are names",
	"datum.bytes":        "follows from the configuration",
	"datum.transient":    "follows from the configuration",
	"datum.evictable":    "follows from the configuration",
	"datum.polling":      "follows from the configuration",
	"datum.background":   "follows from the configuration",
	"datum.gen":          "is part of a name",
	"datum.lane":         "is a name",
	"member.number":      "is a name",
	"keyed.key":          "is told by where its line stands",
	"partition.key":      "is told by the job and the number, or in turn by the order of all",
	"waiting.n":          "follows from the runs",
	"Core.arrived":       "is the next job's name",
	"Core.done":          "counts what is over",
	"Core.stalled":       "is about the last step",
	"Core.out":           "is what the last step said",
	"Core.parseLanes":    "are names",
	"Core.synthLanes":    "are names",
	"Core.finishLanes":   "are names",
	"dealloc.lanes":      "are names",
	"partitions.free":    "is the next slot, a name",
	"jobs.free":          "is the next slot, a name",
	"partition.job":      "is a name",
	"partition.index":    "is a name",
	"partition.slot":     "is a name",
	"partition.gen":      "is part of a name",
	"partition.worker":   "is a name among the workers of its device",
	"partition.lane":     "is a name",
	"partition.freeLane": "is a name",
	"partition.stages":   "follow from the kind",
	"job.number":         "is a name",
	"job.gen":            "is part of a name",
	"job.lane":           "is a name",
	"jobRun.first":       "is a name",
	"queue.tail":         "follows from the links",
	"queue.n":            "follows from the links",
}

// field is a field of the core or of a part of it, in one place.
type field struct {
	name  string // type and field
	value reflect.Value
}

// fieldsOf lists the fields of everything that a value holds.
func fieldsOf(name string, v reflect.Value, visit func(field)) {
	if _, known := unkeyed[name]; known {
		visit(field{name, v})
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fieldsOf(v.Type().Name()+"."+v.Type().Field(i).Name, v.Field(i), visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fieldsOf(name, v.Index(i), visit)
		}
	default:
		visit(field{name, v})
	}
}

// TestEveryFieldIsInTheKeyOrANamedException changes each field of cores in the middle of runs. A change that some key
// shows, or over which it panics, is of a field that the key reads.
func TestEveryFieldIsInTheKeyOrANamedException(t *testing.T) {
	seen, kept := map[string]bool{}, map[string]bool{}
	for seed := range uint64(40) {
		core := someCore(t, seed)
		before := core.Fingerprint(nil, true)
		fieldsOf("Core", reflect.ValueOf(core).Elem(), func(f field) {
			seen[f.name] = true
			if _, exempt := unkeyed[f.name]; !exempt && !kept[f.name] {
				kept[f.name] = !bytes.Equal(before, keyWithout(core, f.value))
			}
		})
	}
	for name := range seen {
		if reason, exempt := unkeyed[name]; !exempt && !kept[name] {
			t.Errorf("%s is in no key: add it to Fingerprint, or here with the reason why no future depends on it", name)
		} else if exempt && reason == "" {
			t.Errorf("%s has no reason", name)
		}
	}
	for name := range unkeyed {
		if !seen[name] {
			t.Errorf("there is no field %s", name)
		}
	}
}

// keyWithout returns the key with a number or flag changed and changes it back.
func keyWithout(core *Core, v reflect.Value) (key []byte) {
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	defer v.Set(old)
	defer func() {
		if problem := recover(); problem != nil {
			key = []byte(fmt.Sprint(problem))
		}
	}()
	switch {
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanUint():
		v.SetUint(v.Uint() ^ 1)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	}
	return core.Fingerprint(nil, true)
}

// shared are the parts that no step changes, so that copies may share them.
var shared = []string{"Core.config", "Core.kinds", "Core.traits", "Core.deviceOf"}

func TestACopySharesNothingThatChanges(t *testing.T) {
	reused := new(Core)
	for seed := range uint64(40) {
		core := someCore(t, seed)
		core.CopyTo(reused)
		for _, clone := range []*Core{core.Clone(), reused} {
			if !bytes.Equal(core.Fingerprint(nil, true), clone.Fingerprint(nil, true)) {
				t.Fatalf("seed %d: the copy has another key", seed)
			}
			apart(t, "Core", reflect.ValueOf(core).Elem(), reflect.ValueOf(clone).Elem())
		}
	}
}

// apart reports memory that two values share.
func apart(t *testing.T, name string, a, b reflect.Value) {
	t.Helper()
	if slices.Contains(shared, name) {
		return
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			apart(t, a.Type().Name()+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Array:
		for i := range a.Len() {
			apart(t, name, a.Index(i), b.Index(i))
		}
	case reflect.Slice:
		if a.Cap() > 0 && a.Pointer() == b.Pointer() {
			t.Fatalf("the copy shares %s", name)
		}
		for i := range min(a.Len(), b.Len()) {
			apart(t, name, a.Index(i), b.Index(i))
		}
	case reflect.Map, reflect.Pointer, reflect.Interface, reflect.Chan, reflect.Func:
		if !a.IsNil() {
			t.Fatalf("%s is a %s: say here how it is copied", name, a.Kind())
		}
	}
}

// someCore returns a core in the middle of a random run.
func someCore(t *testing.T, seed uint64) *Core {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 5))
	config := DefaultConfig(2)
	config.JobsInFlight, config.Finalizers = 4, 1
	config.Order = []Order{FIFO, ByPriority, OldestJobFirst, Interleave}[seed%4]
	config.Admission.Permits = Count(1 + rng.IntN(5))
	config.Channel.Capacity = Count(rng.IntN(3))
	config.GPU.Split = rng.IntN(2) == 0
	if !config.GPU.Split {
		config.Finalizers = Unbounded
	}
	config.Synthesis = Synthesis{MaxParallel: Count(1 + rng.IntN(3)), Handoff: Count(rng.IntN(2))}
	config.Pool = []Pool{PoolNone, PoolRetain}[rng.IntN(2)]
	if rng.IntN(2) == 0 {
		config.Batch = &Batch{Size: 2, Wait: Second}
	}
	config.Admission.Budget = &Budget{Total: 20, EvictionMinIdle: Second, Retry: []Retry{RetryOnRelease, RetryTimed}[rng.IntN(2)], Kinds: map[string]Demand{
		"a": {Reserve: 3, ReleaseAfterKernel: 2},
		"b": {Reserve: 2, ReleaseAfterKernel: 1, AcquireOrder: []AcquireOrder{ResidentFirst, WorkingFirst}[rng.IntN(2)]},
	}}
	config.Resident = []Resident{
		{Name: "key", Bytes: 2},
		{Name: "of a", Bytes: 5, Evictable: true, Kinds: []string{"a"}},
		{Name: "of b", Bytes: 6, Transient: 2, OnDemand: true, Evictable: true, Kinds: []string{"b"}, Acquire: []Acquire{AcquireBlocking, AcquirePolling}[rng.IntN(2)]},
		{Name: "beside", Bytes: 3, Transient: 1, OnDemand: true, Background: true, Acquire: AcquirePolling},
	}
	if err := config.Validate(nil); err != nil {
		t.Fatal(err)
	}
	stages := StageSet(0).With(Parse, Synth, Prep, Kernel, Tail, Finish, Dealloc)
	core, err := NewCore(config, []Kind{{Name: "a", Partitions: 3, Stages: stages}, {Name: "b", Priority: 1, Partitions: 2, Stages: stages}})
	if err != nil {
		t.Fatal(err)
	}
	var running []Task
	step := func(in Input) {
		effects, err := core.Step(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range effects {
			if e.Op == Start {
				running = append(running, e.Task)
			}
		}
	}
	for job := range int32(6) {
		step(Input{Op: Arrive, Job: job, Kind: uint16(rng.IntN(2)), Count: 1})
	}
	for range rng.IntN(60) {
		if len(running) == 0 {
			break
		}
		i := rng.IntN(len(running))
		task := running[i]
		running = slices.Delete(running, i, i+1)
		op := Done
		if task.Stage != Dealloc && rng.IntN(30) == 0 {
			op = Failed
		}
		step(Input{Op: op, Task: task})
	}
	return core
}

// Two partitions of a job, and two jobs of a kind, change places without a change of the key.
func TestEqualPartitionsMayChangePlaces(t *testing.T) {
	config := DefaultConfig(1)
	config.JobsInFlight, config.Admission.Permits = 2, 4
	core, err := NewCore(config, []Kind{{Name: "a", Partitions: 2, Stages: StageSet(0).With(Synth, Kernel)}})
	if err != nil {
		t.Fatal(err)
	}
	effects, err := core.Step(Input{Op: Arrive, Count: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, e := range effects {
		if e.Op != Start {
			continue
		}
		next := core.Clone()
		if _, err := next.Step(Input{Op: Done, Task: e.Task}, nil); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, string(next.Fingerprint(nil, false)))
	}
	if len(keys) != 4 || len(slices.Compact(keys)) != 1 {
		t.Errorf("%d syntheses end in states with %d keys, want 4 and 1", len(effects), len(slices.Compact(keys)))
	}
	if strings.Contains(keys[0], string(core.Fingerprint(nil, false))) {
		t.Error("a step did not change the key")
	}
}
