package cpu_test

import (
	"os"
	"testing"

	"headroom/backend"
	"headroom/backend/device/cpu"
	"headroom/backend/groth16"
	"headroom/backend/probe"
	"headroom/model"
)

// driven is a device that a test drives in the core's place.
type driven struct {
	*cpu.Device
	t    *testing.T
	over chan []backend.Completion
	base model.Bytes
	// slack is what the runtime may keep or give back besides, and what readings may be off by.
	slack model.Bytes
}

// drive opens a device. What the process takes is counted from here on.
func drive(t *testing.T, config model.Config, kinds ...cpu.Kind) *driven {
	t.Helper()
	machine, err := probe.Live.Machine()
	if err != nil {
		t.Fatal(err)
	}
	d := &driven{t: t, over: make(chan []backend.Completion), slack: 3*model.MiB + machine.CounterError()}
	groth16.ReturnHeap()
	groth16.ReturnHeap() // pools give up what they hold at the second collection
	d.base = d.memory().Resident
	if d.Device, err = cpu.New(t.Context(), cpu.Setup{Kinds: kinds, Config: config}); err != nil {
		t.Fatal(err)
	}
	d.Open(backend.StartClock(), d.over)
	return d
}

func (d *driven) memory() probe.Process {
	d.t.Helper()
	p, err := probe.Live.Process(os.Getpid())
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

// holds compares what the process holds, above what it held before there was the device, with what it should.
func (d *driven) holds(when string, want model.Bytes) {
	d.t.Helper()
	groth16.ReturnHeap()
	if got := d.memory().Resident - d.base; got < want-d.slack || got > want+d.slack {
		d.t.Errorf("%s: %s are held, should be %s", when, got.Short(), want.Short())
	}
}

// stage runs a stage to its end.
func (d *driven) stage(e model.Effect) {
	d.t.Helper()
	e.Op = model.Start
	d.Submit(0, []model.Effect{e})
	if c := (<-d.over)[0]; c.Err != nil {
		d.t.Fatal(c.Err)
	}
}

func (d *driven) effect(e model.Effect) { d.Submit(0, []model.Effect{e}) }

func TestResidentDataIsRealMemory(t *testing.T) {
	config := model.DefaultConfig(1)
	config.Resident = []model.Resident{
		{Name: "from the start", Bytes: 20 * model.MiB, Transient: 15 * model.MiB, Evictable: true},
		{Name: "on demand", Bytes: 30 * model.MiB, Transient: 50 * model.MiB, LoadTime: 5 * model.Millisecond, OnDemand: true, Evictable: true},
	}
	d := drive(t, config)
	d.holds("at the start", 20*model.MiB)
	if err := probe.Live.ResetHighWater(); err != nil {
		t.Fatal(err)
	}
	d.stage(model.Effect{Task: model.Task{Stage: model.Load, Slot: 1}})
	if peak := d.memory().HighWater - d.base; peak < 100*model.MiB-d.slack || peak > 100*model.MiB+d.slack {
		t.Errorf("the peak of loading is %s, should be 100 MiB", peak.Short())
	}
	d.holds("loaded", 50*model.MiB)
	d.effect(model.Effect{Op: model.Evict, Task: model.Task{Slot: 0}})
	d.holds("evicted", 30*model.MiB)
	d.stage(model.Effect{Task: model.Task{Stage: model.Load, Slot: 0}})
	d.holds("loaded again", 50*model.MiB)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	d.holds("at the end", 0)
}

// A pool holds its blocks whole from the start of the first synthesis on, and gives none back.
func TestAPoolKeepsWhatItHas(t *testing.T) {
	circuit := circuits["small"]
	circuit.Data = 24 * model.MiB
	keys, err := groth16.OpenKeys(t.Context(), keyDir, circuit, nil)
	if err != nil {
		t.Fatal(err)
	}
	prover, err := groth16.NewProver(t.Context(), keyDir, keys, groth16.Threads{})
	if err != nil {
		t.Fatal(err)
	}
	config := model.DefaultConfig(1)
	config.Pool = model.PoolRetain
	d := drive(t, config, cpu.Kind{Name: "small", Keys: keys, Prover: prover})
	size := groth16.SizesOf(circuit).Vectors
	for partition := range int32(3) {
		of := model.Effect{Proofs: 1, Partition: partition, Reused: partition > 0}
		of.Task.Stage = model.Synth
		d.stage(of)
		d.holds("synthesized", size)
		of.Op, of.Task = model.Pooled, model.Task{Block: model.Vectors}
		d.effect(of)
		of.Op, of.Task = model.Start, model.Task{Stage: model.Dealloc, Block: model.Assignment}
		d.stage(of)
		of.Op, of.Task = model.Freed, model.Task{Block: model.Assignment}
		d.effect(of)
		d.holds("in the pool", size)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	d.holds("at the end", 0)
}
