package model

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheDefaultsAreValid(t *testing.T) {
	for _, gpus := range []int{1, 8} {
		c := DefaultConfig(gpus)
		if err := c.Validate(&Machine{GPUs: make([]GPUSpec, gpus)}); err != nil {
			t.Errorf("%d GPUs: %v", gpus, err)
		}
	}
}

func TestEachWrongKnobIsOneFault(t *testing.T) {
	for _, c := range []struct {
		want string
		set  func(*Config)
	}{
		{"config.jobs_in_flight is 0: at least 1, or unbounded", func(c *Config) { c.JobsInFlight = 0 }},
		{"config.jobs_in_flight is auto: at least 1, or unbounded", func(c *Config) { c.JobsInFlight = Auto }},
		{`config.order is "lifo": one of fifo, priority, oldest_job_first, interleave`, func(c *Config) { c.Order = "lifo" }},
		{"config.admission.permits is -3: at least 1, or unbounded", func(c *Config) { c.Admission.Permits = -3 }},
		{`config.admission.release is "": one of after_synthesis, after_send, after_kernel, after_finish`, func(c *Config) { c.Admission.Release = "" }},
		{"config.admission.budget.total is 0B: from 1B to 1024TiB", func(c *Config) { c.Admission.Budget = &Budget{} }},
		{"config.admission.budget.margin is 2GiB: less than the total, which is 2GiB",
			func(c *Config) { c.Admission.Budget = &Budget{Total: 2 * GiB, Margin: 2 * GiB} }},
		{`config.admission.budget.retry is "never": one of on_release, timed`,
			func(c *Config) { c.Admission.Budget = &Budget{Total: GiB, Retry: "never"} }},
		{"config.admission.budget.eviction_min_idle is -1s: from 0s to 8760h0m0s",
			func(c *Config) { c.Admission.Budget = &Budget{Total: GiB, EvictionMinIdle: -Second} }},
		{"config.admission.budget.kinds.k.release_after_kernel is 2GiB: from 0B to the reserve, which is 1GiB", func(c *Config) {
			c.Admission.Budget = &Budget{Total: GiB, Kinds: map[string]Demand{"k": {Reserve: GiB, ReleaseAfterKernel: 2 * GiB}}}
		}},
		{`config.admission.budget.kinds.k.acquire_order is "both": one of resident_first, working_first`, func(c *Config) {
			c.Admission.Budget = &Budget{Total: GiB, Kinds: map[string]Demand{"k": {Reserve: 1, AcquireOrder: "both"}}}
		}},
		{"config.synthesis.max_parallel is 0: at least 1, or unbounded", func(c *Config) { c.Synthesis.MaxParallel = 0 }},
		{"config.synthesis.handoff is -2: at least 0, or unbounded", func(c *Config) { c.Synthesis.Handoff = -2 }},
		{"config.channel.capacity is -2: at least 0 (a rendezvous), auto or unbounded", func(c *Config) { c.Channel.Capacity = -2 }},
		{"config.channel.lookahead is auto: at least 0, or unbounded", func(c *Config) { c.Channel.Lookahead = Auto }},
		{"config.gpu.devices is 0: at least 1 and at most the number of machine.gpus, which may be 256", func(c *Config) { c.GPU.Devices = 0 }},
		{"config.gpu.devices is unbounded: at least 1 and at most the number of machine.gpus, which may be 256", func(c *Config) { c.GPU.Devices = Unbounded }},
		{"config.gpu.devices is 3: the machine has 2 (machine.gpus lists 2; without any, the CPU stands in for one)", func(c *Config) { c.GPU.Devices = 3 }},
		{"config.gpu.workers_per_device is unbounded: from 1 to 1024", func(c *Config) { c.GPU.WorkersPerDevice = Unbounded }},
		{`config.gpu.lock is "device": one of kernel, call`, func(c *Config) { c.GPU.Lock = "device" }},
		{`config.gpu.prep is "": one of beside_lock, before_lock`, func(c *Config) { c.GPU.Prep = "" }},
		{`config.gpu.prep is "beside_lock": not to be set with config.gpu.lock: call, whose lock covers prep`, func(c *Config) { c.GPU.Lock = LockCall }},
		{`config.gpu.b_g2 is "moon": one of host, device`, func(c *Config) { c.GPU.BG2 = "moon" }},
		{"config.finalizers is 0: at least 1, or unbounded", func(c *Config) { c.Finalizers = 0 }},
		{"config.finalizers is 2: not to be set with config.gpu.split: false, where the worker does the finish",
			func(c *Config) { c.GPU.Split, c.Finalizers = false, 2 }},
		{`config.free_vectors is "after_send": one of after_kernel, after_finish`, func(c *Config) { c.FreeVectors = AfterSend }},
		{"config.dealloc.workers is 0: from 1 to 1024", func(c *Config) { c.Dealloc.Workers = 0 }},
		{`config.pool is "keep": one of none, retain`, func(c *Config) { c.Pool = "keep" }},
		{"config.batch.size is 0: from 1 to 1024", func(c *Config) { c.Batch = &Batch{} }},
		{"config.batch.wait is 0s: above it, since the last jobs of a run would never fill a batch", func(c *Config) { c.Batch = &Batch{Size: 2} }},
		{"config.resident[0].name is missing: each resident needs a name", func(c *Config) { c.Resident = []Resident{{Bytes: 1}} }},
		{`config.resident[1].name is "srs", which another resident has: each needs a name of its own`,
			func(c *Config) { c.Resident = []Resident{{Name: "srs", Bytes: 1}, {Name: "srs", Bytes: 1}} }},
		{"config.resident[0].bytes is 0B: from 1B to 1024TiB", func(c *Config) { c.Resident = []Resident{{Name: "srs"}} }},
		{"config.resident[0].load_time is -1s: from 0s to 8760h0m0s", func(c *Config) { c.Resident = []Resident{{Name: "srs", Bytes: 1, LoadTime: -Second}} }},
		{`config.resident[0].acquire is "spinning": one of blocking, polling`, func(c *Config) { c.Resident = []Resident{{Name: "srs", Bytes: 1, Acquire: "spinning"}} }},
		{"config.resident[0].transient is -1B: from 0B to 1024TiB", func(c *Config) { c.Resident = []Resident{{Name: "srs", Bytes: 1, Transient: -1}} }},
		{"config.resident[0].background is true: only with on_demand, since other data is there from the start",
			func(c *Config) { c.Resident = []Resident{{Name: "srs", Bytes: 1, Background: true}} }},
	} {
		config := DefaultConfig(2)
		c.set(&config)
		err := config.Validate(&Machine{GPUs: make([]GPUSpec, 2)})
		if err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestAMachineWithoutGPUsHasOneDevice(t *testing.T) {
	c := DefaultConfig(1)
	if err := c.Validate(&Machine{}); err != nil {
		t.Errorf("one device: %v", err)
	}
	c.GPU.Devices = 2
	if err := c.Validate(&Machine{}); err == nil {
		t.Error("two devices were accepted")
	}
	if err := c.Validate(nil); err != nil {
		t.Errorf("two devices of no machine in particular: %v", err)
	}
}

func TestEveryFaultOfAConfigurationIsReported(t *testing.T) {
	var c Config
	var keys []string
	for line := range strings.SplitSeq(c.Validate(nil).Error(), "\n") {
		key, _, _ := strings.Cut(line, " ")
		keys = append(keys, strings.TrimPrefix(key, "config."))
	}
	want := []string{
		"jobs_in_flight", "order", "admission.permits", "admission.release", "synthesis.max_parallel", "gpu.devices",
		"gpu.workers_per_device", "gpu.lock", "gpu.prep", "gpu.b_g2", "finalizers", "finalizers", "free_vectors", "dealloc.workers", "pool",
	}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("faults of the zero configuration (-want +got):\n%s", diff)
	}
}

func TestEachWrongPartOfAMachineIsOneFault(t *testing.T) {
	for _, c := range []struct {
		want    string
		machine Machine
	}{
		{"machine.ram is -1B: from 0B to 1024TiB", Machine{RAM: -1}},
		{"machine.ram is 1025TiB: from 0B to 1024TiB", Machine{RAM: 1025 * TiB}},
		{"machine.reserve is 1GiB: only with machine.ram, of which it is a part", Machine{Reserve: GiB}},
		{"machine.reserve is 2GiB: less than machine.ram, which is 2GiB", Machine{RAM: 2 * GiB, Reserve: 2 * GiB}},
		{"machine.gpus[1].vram is -1B: from 0B to 1024TiB", Machine{GPUs: []GPUSpec{{}, {VRAM: -1}}}},
		{"machine.gpus lists 257: at most 256", Machine{GPUs: make([]GPUSpec, 257)}},
		{"machine.cores is -1: at least 1, or 0 for no limit", Machine{Cores: -1}},
		{"machine.memory_bandwidth is -1B: from 0B to 1024TiB", Machine{MemoryBandwidth: -1}},
		{"machine.numa[0].ram is 0B: from 1B to 1024TiB", Machine{NUMA: []NUMANode{{}}}},
		{"machine.numa lists 1025: at most 1024", Machine{NUMA: slices.Repeat([]NUMANode{{RAM: GiB}}, 1025)}},
		{"machine.cgroup_limit is -1B: from 0B to 1024TiB", Machine{CgroupLimit: -1}},
		{"machine.shm is -1B: from 0B to 1024TiB", Machine{Shm: -1}},
		{"machine.memlock is -1B: from 0B to 1024TiB", Machine{Memlock: -1}},
	} {
		if err := c.machine.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if err := (&Machine{}).Validate(); err != nil {
		t.Errorf("a machine without limits: %v", err)
	}
}

func TestEachWrongPartOfAWorkloadIsOneFault(t *testing.T) {
	one := []Share{{Kind: "a", Jobs: 1}}
	for _, c := range []struct {
		want     string
		workload Workload
	}{
		{"workload has no jobs: give a kind and its number of jobs, or a mix of several", Workload{Arrival: Arrival{Pattern: Closed}}},
		{"workload.jobs is 0: from 1 to 1000000000", Workload{[]Share{{Kind: "a"}}, Arrival{Pattern: Closed}}},
		{"workload.kind is missing: the kind of the jobs", Workload{[]Share{{Jobs: 1}}, Arrival{Pattern: Closed}}},
		{"workload.weight is NaN: a finite number above 0", Workload{[]Share{{Kind: "a", Jobs: 1, Weight: math.NaN()}}, Arrival{Pattern: Closed}}},
		{"workload.mix[1].jobs is -1: from 1 to 1000000000", Workload{[]Share{{Kind: "a", Jobs: 1}, {Kind: "b", Jobs: -1}}, Arrival{Pattern: Closed}}},
		{"workload.mix has 2 shares, of which 1 have a weight: all or none",
			Workload{[]Share{{Kind: "a", Jobs: 1, Weight: 2}, {Kind: "b", Jobs: 1}}, Arrival{Pattern: Closed}}},
		{`workload.mix[1].kind is "a", which the mix has already: one share for each kind`,
			Workload{[]Share{{Kind: "a", Jobs: 1}, {Kind: "a", Jobs: 1}}, Arrival{Pattern: Closed}}},
		{"workload has 1000000001 jobs: at most 1000000000", Workload{[]Share{{Kind: "a", Jobs: MaxJobs}, {Kind: "b", Jobs: 1}}, Arrival{Pattern: Closed}}},
		{`workload.arrival is "": one of closed, {poisson: rate}, {file: path}, {backlog: n}`, Workload{Shares: one}},
		{"workload.arrival.poisson is 0 jobs a second: more than 0 and at most 1e9", Workload{one, Arrival{Pattern: Poisson}}},
		{"workload.arrival.poisson is NaN jobs a second: more than 0 and at most 1e9", Workload{one, Arrival{Pattern: Poisson, Rate: math.NaN()}}},
		{"workload.arrival.poisson is +Inf jobs a second: more than 0 and at most 1e9", Workload{one, Arrival{Pattern: Poisson, Rate: math.Inf(1)}}},
		{"workload.arrival.poisson is 1e-09 jobs a second: more, since 1 jobs would take longer than 8760h0m0s to arrive", Workload{one, Arrival{Pattern: Poisson, Rate: 1e-9}}},
		{`workload.arrival.file is "x", which lists 0 instants: at least one for each of the 1 jobs`, Workload{one, Arrival{Pattern: Listed, File: "x"}}},
		{`workload.arrival.file is "x", whose instant 1 is -1ns: from that of the one before (0s) to 8760h0m0s`,
			Workload{one, Arrival{Pattern: Listed, File: "x", Instants: []Instant{-1}}}},
		{"workload.arrival.backlog is 3 jobs: from 1 to the jobs of the workload, which are 1", Workload{one, Arrival{Pattern: Backlog, Backlog: 3}}},
		{"workload.arrival.backlog is 1 of 2 jobs: give poisson too, the rate at which the others arrive, or make them equal",
			Workload{[]Share{{Kind: "a", Jobs: 2}}, Arrival{Pattern: Backlog, Backlog: 1}}},
	} {
		if err := c.workload.Validate(); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	good := Workload{[]Share{{Kind: "a", Jobs: 3, Weight: 1}, {Kind: "b", Jobs: 1, Weight: 2}}, Arrival{Pattern: Poisson, Rate: 0.1}}
	if err := good.Validate(); err != nil {
		t.Errorf("two kinds: %v", err)
	}
}

func TestEachWrongPartOfACircuitIsOneFault(t *testing.T) {
	for _, c := range []struct {
		want    string
		circuit Circuit
	}{
		{`k.circuit is "": one of mimc, sha256`, Circuit{Log2Constraints: 13, Data: 64, Leaf: 32}},
		{"k.log2_constraints is 9: from 10 to 22 for circuit mimc", Circuit{"mimc", 9, 64, 32}},
		{"k.log2_constraints is 14: from 15 to 20 for circuit sha256", Circuit{"sha256", 14, 64, 32}},
		{"k.log2_constraints is 21: from 15 to 20 for circuit sha256", Circuit{"sha256", 21, 64, 32}},
		{"k.data is 0B: a whole number of leaves of 32B, at least two, at most 1TiB", Circuit{"mimc", 13, 0, 32}},
		{"k.data is 65B: a whole number of leaves of 32B, at least two, at most 1TiB", Circuit{"mimc", 13, 65, 32}},
		{"k.data is 32B: a whole number of leaves of 32B, at least two, at most 1TiB", Circuit{"mimc", 13, 32, 32}},
		{"k.data is 2TiB: a whole number of leaves of 32B, at least two, at most 1TiB", Circuit{"mimc", 13, 2 * TiB, 32}},
		{"k.leaf is -1B: from 32B to 1TiB", Circuit{"mimc", 13, 64, -1}},
		{"k.leaf is 31B: from 32B to 1TiB", Circuit{"mimc", 13, 62, 31}},
	} {
		if err := c.circuit.Validate("k"); err == nil || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	if err := (&Circuit{"sha256", 15, 64 * MiB, 4 * KiB}).Validate("k"); err != nil {
		t.Error(err)
	}
}
