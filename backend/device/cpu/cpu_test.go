package cpu_test

import (
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
