//go:build linux && cgo

package cuda

import (
	"fmt"
	"strings"
	"testing"

	"headroom/backend"
	"headroom/backend/device/cpu"
	prover "headroom/backend/groth16"
	"headroom/model"
)

// fakeLibrary is a library whose cards count memory and whose sums are all infinity.
func fakeLibrary(t *testing.T) *Library {
	t.Helper()
	l, err := Load(library(t, `#include "testdata/fake.c"`))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestDeviceWithoutACard holds that proofs from wrong sums are refused, and that all that failed is freed on both sides.
func TestDeviceWithoutACard(t *testing.T) {
	l, dir := fakeLibrary(t), t.TempDir()
	for name, set := range map[string]func(*model.Config){
		"b_g2 on the host": func(*model.Config) {},
		"b_g2 on the card": func(c *model.Config) { c.GPU.BG2 = model.OnDevice },
		"pool":             func(c *model.Config) { c.Pool = model.PoolRetain },
		"keys on demand":   keysOnDemand,
	} {
		config := treeConfig()
		config.GPU.Devices = 2
		set(&config)
		_, summary := runTree(t, config, onCards(t, l, 0), dir)
		if summary.JobsFailed != treeJobs {
			t.Errorf("%s: %+v, want every proof refused", name, summary)
		}
		for _, err := range summary.Failures {
			if !strings.Contains(err.Error(), "finish: groth16: proof of job ") {
				t.Errorf("%s: %v, want a proof refused", name, err)
			}
		}
	}
}

func TestDeviceOnASmallCardWithoutACard(t *testing.T) { smallCard(t, fakeLibrary(t)) }

// driven is a device that a test drives in the core's place.
type driven struct {
	*Device
	t    *testing.T
	over chan []backend.Completion
}

// drive opens a device with both kinds.
func drive(t *testing.T, l *Library, dir string, cap model.Bytes, set func(*model.Config)) *driven {
	t.Helper()
	config := treeConfig()
	set(&config)
	s := DeviceSetup{Setup: cpu.Setup{Kinds: openTrees(t, dir, twins...), Config: config}, Library: l, Cap: cap}
	device, err := NewDevice(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	d := &driven{Device: device, t: t, over: make(chan []backend.Completion)}
	d.Open(backend.StartClock(), d.over)
	return d
}

// stage runs a stage to its end.
func (d *driven) stage(e model.Effect) error {
	e.Op = model.Start
	d.Submit(0, []model.Effect{e})
	return (<-d.over)[0].Err
}

// holds compares what is taken of the first card, and what its driver shows, with what should be.
func (d *driven) holds(when string, want Size) {
	d.t.Helper()
	book, err := d.cards[0].Memory()
	if err != nil {
		d.t.Fatal(err)
	}
	if used := d.baselines[0].Driver + want.Device; book.Taken != want || book.Used() != used {
		d.t.Errorf("%s: %v are taken and %v in use, should be %v and %v", when, book.Taken, book.Used(), want, used)
	}
}

// TestKeysComeAndGo holds that keys are on the cards from a load to an eviction, and that a load for which a card has
// too little memory fails and leaves nothing.
func TestKeysComeAndGo(t *testing.T) {
	l, dir := fakeLibrary(t), t.TempDir()
	key, _ := treeSizes(t, l, dir)
	d := drive(t, l, dir, 2*key-1, func(c *model.Config) {
		keysOnDemand(c)
		c.Resident[0].OnDemand = false
	})
	if b := d.Baselines()[0]; b.Keys != key || b.Used != b.Driver+key || b.Driver == 0 || b.Total <= b.Used {
		t.Errorf("the baseline is %+v, should have one key of %v", b, key)
	}
	if sizes := d.Workspaces(); sizes[0] == 0 || sizes[1] != 0 {
		t.Errorf("the sizes of workspaces are %v, should be known of the first kind alone", sizes)
	}
	load := func(slot int32) error {
		return d.stage(model.Effect{Task: model.Task{Stage: model.Load, Slot: slot}})
	}
	evict := func(slot int32) {
		d.Submit(0, []model.Effect{{Op: model.Evict, Task: model.Task{Slot: slot}}})
	}
	d.holds("at the start", Size{Device: key})
	const failed = "load of keys of twin: cuda: keys of twin on card 0"
	if err := load(1); !OutOfMemory(err) || !strings.Contains(err.Error(), failed) {
		t.Errorf("a load beyond the cap: %v", err)
	}
	d.holds("after a load that failed", Size{Device: key})
	evict(0)
	d.holds("evicted", Size{})
	if err := load(1); err != nil {
		t.Error(err)
	}
	d.holds("loaded", Size{Device: key})
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestAPoolIsPinned holds that blocks are pinned while a pool has them, and that one which cannot be pinned fails a
// synthesis with the bytes wanted and left, and is tried again by the next.
func TestAPoolIsPinned(t *testing.T) {
	pinned := prover.SizesOf(tree).Pinned
	t.Setenv("FAKE_PINNABLE", fmt.Sprint(int64(pinned)))
	l, dir := fakeLibrary(t), t.TempDir()
	d := drive(t, l, dir, 0, func(c *model.Config) { c.Pool = model.PoolRetain })
	keys := d.Baselines()[0].Keys
	synth := func(partition int32, reused bool) error {
		return d.stage(model.Effect{Proofs: 1, Partition: partition, Reused: reused, Task: model.Task{Stage: model.Synth}})
	}
	give := func(partition int32, block model.Block) {
		of := model.Effect{Partition: partition, Task: model.Task{Block: block}}
		if block == model.Vectors {
			of.Op = model.Pooled
		} else {
			of.Task.Stage = model.Dealloc
			if err := d.stage(of); err != nil {
				t.Error(err)
			}
			of.Op, of.Task.Stage = model.Freed, model.NoStage
		}
		d.Submit(0, []model.Effect{of})
	}
	if err := synth(0, false); err != nil {
		t.Fatal(err)
	}
	d.holds("synthesized", Size{keys, pinned})
	err := synth(1, false)
	for _, words := range []string{fmt.Sprintf("pin %d bytes beside %d that are pinned", pinned, pinned), "are left ("} {
		if !OutOfMemory(err) || !strings.Contains(err.Error(), words) {
			t.Errorf("a pin beyond what can be pinned: %v, should say %q", err, words)
		}
	}
	give(1, model.Vectors) // as the core has it: what failed has nothing to give
	give(0, model.Vectors)
	give(0, model.Assignment)
	d.holds("in the pool", Size{keys, pinned})
	if err := synth(2, true); err != nil {
		t.Error(err)
	}
	if err := synth(3, true); !OutOfMemory(err) {
		t.Errorf("a block that the pool lacks is pinned beyond what can be: %v", err)
	}
	give(3, model.Vectors)
	give(2, model.Vectors)
	give(2, model.Assignment)
	d.holds("in the pool again", Size{keys, pinned})
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestAFaultOfTheCardIsTold has every call of the library fail in turn, alone or with all after it. The fault is told, the
// run ends, all other partitions come as far as they do without it, and nothing is left on the card.
func TestAFaultOfTheCardIsTold(t *testing.T) {
	path, dir := library(t, `#include "testdata/fake.c"`), t.TempDir()
	for _, c := range []struct {
		name, fault string
		set         func(*model.Config)
	}{
		{"lock for the kernel", "%d", func(*model.Config) {}},
		{"card lost", "%d+", func(*model.Config) {}},
		{"lock for the call, pool, keys on demand", "%d", func(c *model.Config) {
			c.GPU.Lock, c.GPU.Prep, c.GPU.BG2, c.Pool = model.LockCall, "", model.OnDevice, model.PoolRetain
			keysOnDemand(c)
		}},
	} {
		config := treeConfig()
		c.set(&config)
		told := true
		for call := 1; told; call++ { // until there are not so many calls
			t.Setenv("FAKE_FAULT", fmt.Sprintf(c.fault, call))
			l, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			var others []string
			if told, others = oneJob(t, config, l, dir); len(others) > 0 {
				t.Fatalf("%s: call %d fails: these are other errors than it and refused proofs: %q", c.name, call, others)
			}
		}
	}
}

// oneJob proves a job and returns whether a call of the library failed, and all other errors but refused proofs.
func oneJob(t *testing.T, config model.Config, l *Library, dir string) (told bool, others []string) {
	t.Helper()
	note := func(err error) {
		for _, line := range strings.Split(fmt.Sprint(err), "\n") {
			switch {
			case err == nil:
			case strings.Contains(line, ": fault"):
				told = true
			case !strings.Contains(line, "finish: groth16: proof of job "):
				others = append(others, line)
			}
		}
	}
	s := cpu.Setup{Kinds: openTrees(t, dir, "tree"), Config: config}
	device, err := NewDevice(t.Context(), DeviceSetup{Setup: s, Library: l})
	if note(err); err != nil {
		return told, others
	}
	pipeline := backend.Pipeline{
		Config: config, Device: device, Clock: backend.StartClock(),
		Kinds: []model.Kind{{Name: "tree", Partitions: treePartitions, Stages: cpu.Stages()}},
		Workload: model.Workload{
			Arrival: model.Arrival{Pattern: model.Closed}, Shares: []model.Share{{Kind: "tree", Jobs: 1}},
		},
	}
	summary, err := pipeline.Run(t.Context())
	note(err)
	if err == nil && (summary.Stalled || summary.JobsFailed != 1) {
		t.Errorf("%+v, want the job to fail", summary)
	}
	for _, err := range summary.Failures {
		note(err)
	}
	note(device.Close())
	return told, others
}
