package calibrate_test

import (
	"math"
	"testing"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/trace"
)

// regions returns a trace of one kernel after the other on each device, from begin to end as given.
func regions(devices ...[][2]model.Instant) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{Kinds: []model.Kind{{Name: "small", Partitions: 1}}}}
	t.Header.Config.GPU.Devices = model.Count(len(devices))
	for d, list := range devices {
		for i, r := range list {
			task := model.Task{Stage: model.Kernel, Lane: int32(d)}
			job := int32(100*d + i)
			t.Records = append(t.Records,
				model.Record{At: r[0], Effects: []model.Effect{{Op: model.Start, Device: uint8(d), Job: job, Task: task}}},
				model.Record{At: r[1], Input: model.Input{Op: model.Done, Task: task}, Begin: r[0], End: r[1]})
		}
	}
	return t
}

func TestTheShareOfDevicesIsThatOfTheMiddleOfTheRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		devices [][][2]model.Instant
		want    float64
	}{
		{"always busy", [][][2]model.Instant{{{100, 500}, {500, 900}}}, 1},
		{"a gap in the middle", [][][2]model.Instant{{{100, 440}, {500, 900}}}, 0.9},
		{"gaps at the ends", [][][2]model.Instant{{{100, 110}, {160, 840}, {890, 900}}}, 1},
		{"one device of two", [][][2]model.Instant{{{100, 900}}, nil}, 0.5},
		{"nothing ran", [][][2]model.Instant{nil}, math.NaN()},
	} {
		got, err := calibrate.DeviceShare(regions(c.devices...))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-c.want) > 1e-9 || math.IsNaN(got) != math.IsNaN(c.want) {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
