package cpu_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"headroom/backend"
	"headroom/backend/device/cpu"
	"headroom/model"
)

func TestCloseDoesNotWaitForACompletionThatNobodyTakes(t *testing.T) {
	d, err := cpu.New(t.Context(), cpu.Setup{})
	if err != nil {
		t.Fatal(err)
	}
	d.Open(backend.StartClock(), make(chan []backend.Completion))
	d.Submit(0, []model.Effect{{Op: model.Start, Task: model.Task{Stage: model.Parse}}}) // a stage that the device lacks
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhatTheDeviceCannotDoIsRefused(t *testing.T) {
	config := model.DefaultConfig(1)
	config.GPU.BG2 = model.OnDevice
	config.Resident = []model.Resident{
		{Name: "keys of small", OnDemand: true, Background: true, Kinds: []string{"large"}},
		{Name: "keys of none", OnDemand: true, Background: true},
	}
	err := cpu.Check(&config, []string{"small", "large"})
	for _, want := range []string{
		"config.gpu.b_g2 is device: host with the device cpu",
		"config.resident[0].background is true of keys of small: jobs cannot do without their keys",
		"config.resident[0].kinds are [large] of keys of small: small must be among them",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "resident[1]") {
		t.Errorf("error %v is about keys of no kind, which are a block like any other", err)
	}
}

// A load that takes hours ends with the run, and fails.
func TestALoadEndsWithItsRun(t *testing.T) {
	config := model.DefaultConfig(1)
	config.Resident = []model.Resident{{Name: "slow", Bytes: model.MiB, Transient: model.MiB, LoadTime: 3600 * model.Second, OnDemand: true}}
	ctx, stop := context.WithCancelCause(t.Context())
	d, err := cpu.New(ctx, cpu.Setup{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	over, stopped := make(chan []backend.Completion), errors.New("that is enough")
	d.Open(backend.StartClock(), over)
	load := model.Task{Stage: model.Load}
	d.Submit(0, []model.Effect{{Op: model.Start, Task: load}})
	stop(stopped)
	if c := (<-over)[0]; c.Input != (model.Input{Op: model.Failed, Task: load}) || !errors.Is(c.Err, stopped) || !strings.Contains(c.Err.Error(), "cpu: load of slow: ") {
		t.Errorf("the load ended with %+v", c)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
