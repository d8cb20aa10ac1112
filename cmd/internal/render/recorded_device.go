package render

import (
	"fmt"

	"headroom/model"
	"headroom/model/trace"
	"headroom/sim"
)

// RecordedDevice is a device of a run on cards, in bytes of its memory that are in use as its driver shows it: what has
// no value is nil.
type RecordedDevice struct {
	BaselineBytes int64  `json:"vram_baseline_bytes"` // before the first job
	PeakBytes     *int64 `json:"vram_peak_bytes"`     // measured
	// QueriedBytes is the most that it can be by the size queries: the baseline and a partition for each worker.
	QueriedBytes   *int64 `json:"vram_queried_bytes"`
	PredictedBytes *int64 `json:"vram_predicted_bytes"` // by the profile
}

// recordedDevices returns the devices of a run. The prediction may be nil.
func recordedDevices(t *trace.Trace, prediction *sim.RiskReport) []RecordedDevice {
	list := []RecordedDevice{}
	above, known := queried(&t.Header)
	for i, d := range t.Header.Devices {
		r := RecordedDevice{BaselineBytes: int64(d.Used)}
		if known {
			r.QueriedBytes = new(int64(d.Used + above))
		}
		if i < len(t.End.VRAMPeakBytes) {
			r.PeakBytes = new(int64(t.End.VRAMPeakBytes[i]))
		}
		if prediction != nil && i < len(prediction.Median.Devices) && prediction.Median.Devices[i].Peak > 0 {
			r.PredictedBytes = new(int64(prediction.Median.Devices[i].Peak))
		}
		list = append(list, r)
	}
	return list
}

// queried returns the most that the workers of a device take of it by the size queries; false if that of a kind is not
// known.
func queried(h *trace.Header) (model.Bytes, bool) {
	var most model.Bytes
	for _, k := range h.Kinds {
		size := h.Blocks[k.Name].Device
		if size == 0 {
			return 0, false
		}
		most = max(most, size)
	}
	if b := h.Config.Batch; b != nil {
		most *= model.Bytes(b.Size)
	}
	return most * model.Bytes(h.Config.GPU.WorkersPerDevice), true
}

// fact says what a device held at the most.
func (d *RecordedDevice) fact(number int) [2]string {
	text := bytesShort(d.BaselineBytes) + " before the first job"
	for _, more := range []struct {
		format string
		bytes  *int64
	}{{"%s at the most", d.PeakBytes}, {"%s by the size queries", d.QueriedBytes}, {"%s predicted", d.PredictedBytes}} {
		if more.bytes != nil {
			text += ", " + fmt.Sprintf(more.format, bytesShort(*more.bytes))
		}
	}
	return [2]string{fmt.Sprintf("vram of gpu %d", number), text}
}
