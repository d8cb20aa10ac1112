package calibrate_test

import (
	"testing"

	"headroom/calibrate"
	"headroom/model"
)

// What a pool pins of the vectors is what a header says, and never more than all of them.
func TestWhatAPoolPinsIsToldByAHeader(t *testing.T) {
	traces := recordings()
	for _, told := range []model.Bytes{0, 30 * model.MiB, 500 * model.MiB} {
		traces[1].Header.Blocks = map[string]model.Blocks{"small": {Pinned: told}}
		p, err := calibrate.FitUnjudged(traces, "pinned")
		if err != nil {
			t.Fatal(err)
		}
		f := &p.Kinds[0].Footprint
		if want := min(told, f.Vectors.Value); f.Pinned.Value != want {
			t.Errorf("a header tells %s: %s are pinned, want %s", told.Short(), f.Pinned.Value.Short(), want.Short())
		}
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
}
