package render

import (
	"bytes"
	"strings"
	"testing"

	"headroom/backend/record"
	"headroom/model"
	"headroom/model/trace"
	"headroom/sim"
)

// A run on cards tells what each held: measured, by the size queries and as predicted.
func TestARunTellsWhatItsDevicesHeld(t *testing.T) {
	recorded := &trace.Trace{
		Header: trace.Header{
			Config: model.DefaultConfig(2), Kinds: []model.Kind{{Name: "small"}, {Name: "large"}},
			Blocks:  map[string]model.Blocks{"small": {Device: 10 * model.MiB}, "large": {Device: 150 * model.MiB}},
			Devices: []trace.Device{{Used: 700 * model.MiB}, {Used: 600 * model.MiB}},
		},
		End: &trace.End{Outcome: trace.Finished, VRAMPeakBytes: []model.Bytes{990 * model.MiB, 760 * model.MiB}},
	}
	predicted := &sim.RiskReport{
		PeakQuantiles: make([]model.Bytes, len(sim.RiskQuantiles)),
		Median:        &sim.Result{Devices: []sim.DevicePeak{{Peak: 1010 * model.MiB}}},
	}
	result := NewRecording(&record.Outcome{Trace: recorded}, predicted, "run.jsonl", nil)
	var out bytes.Buffer
	Text{W: &out}.Recording(&result)
	for _, want := range []string{
		"700.0 MiB before the first job, 990.0 MiB at the most, 1000.0 MiB by the size queries, 1010.0 MiB predicted",
		"600.0 MiB before the first job, 760.0 MiB at the most, 900.0 MiB by the size queries",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	delete(recorded.Header.Blocks, "large")
	recorded.End.VRAMPeakBytes = nil
	d := NewRecording(&record.Outcome{Trace: recorded}, nil, "", nil).Devices[0]
	if d.PeakBytes != nil || d.QueriedBytes != nil || d.PredictedBytes != nil || d.BaselineBytes != int64(700*model.MiB) {
		t.Errorf("a run of which little is known has %+v", d)
	}
}
