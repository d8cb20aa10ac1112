package calibrate

import (
	"slices"
	"testing"

	"headroom/model"
	"headroom/model/trace"
)

// Samples within two milliseconds of a change, and those after the last step, are left out; the others see what came before.
func TestSamplesNearAChangeAreLeftOut(t *testing.T) {
	const ms = model.Instant(model.Millisecond)
	h := &history{end: 30 * ms, trace: &trace.Trace{}}
	for _, at := range []model.Instant{0, 8*ms - 1, 8 * ms, 10 * ms, 12 * ms, 12*ms + 1, 30 * ms, 30*ms + 1, 40 * ms} {
		h.trace.Samples = append(h.trace.Samples, trace.Sample{At: at})
	}
	h.held = []holding{{proofs: 3, begin: 10 * ms, end: 100 * ms}}
	c := columns{kinds: 1}
	changes, unsure := h.changes(c)
	counts := make([]float64, c.count())
	var seen []model.Instant
	var held []float64
	dropped := h.walk(counts, changes, unsure, func(s *trace.Sample) {
		seen, held = append(seen, s.At), append(held, counts[c.class(0, vectors)])
	})
	if want := []model.Instant{0, 8*ms - 1, 12*ms + 1, 30 * ms}; !slices.Equal(seen, want) || dropped != 5 {
		t.Errorf("seen are %v and %d left out, want %v and 5", seen, dropped, want)
	}
	if want := []float64{0, 0, 3, 3}; !slices.Equal(held, want) {
		t.Errorf("held are %v, want %v", held, want)
	}
}
