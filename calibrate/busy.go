package calibrate

import (
	"math"

	"headroom/model"
	"headroom/model/trace"
)

// edge is the part of a run at each of its ends that is no steady state: the pipeline fills and empties.
const edge = 0.125

// DeviceShare returns the part of the steady state of a recorded run for which a stage of the kernel region ran on the
// devices, on average over them: 0 to 1. The steady state is the middle three quarters of the time from the first begin
// of such a stage to the last end. It is NaN if none ran, and an error if the trace is not of a pipeline.
func DeviceShare(t *trace.Trace) (float64, error) {
	h, err := newHistory("the trace", t, make([]int, len(t.Header.Kinds)))
	if err != nil {
		return 0, err
	}
	regions := make([][]zone, max(1, t.Header.Config.GPU.Devices))
	begin, end := model.Instant(math.MaxInt64), model.Instant(0)
	for i := range h.busy {
		b := &h.busy[i]
		if (b.stage == model.Kernel || b.stage == model.Tail) && int(b.device) < len(regions) {
			regions[b.device] = append(regions[b.device], zone{b.begin, b.end})
			begin, end = min(begin, b.begin), max(end, b.end)
		}
	}
	if begin >= end {
		return math.NaN(), nil
	}
	margin := model.Instant(edge * float64(end-begin))
	begin, end = begin+margin, end-margin
	busy := model.Span(0)
	for _, zones := range regions {
		sortChanges(nil, zones)
		for _, z := range merge(zones) {
			busy += max(0, min(z.end, end).Sub(max(z.begin, begin)))
		}
	}
	return busy.Seconds() / end.Sub(begin).Seconds() / float64(len(regions)), nil
}
