package model_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
)

func TestNearestIsRound(t *testing.T) {
	for _, x := range []float64{0, 0.5, -0.5, 0.49999999999999994, 1.5, -2.5, 1 << 52, 1<<52 - 0.5, 1 << 62, -1 << 63} {
		if got, want := model.Nearest(x), int64(math.Round(x)); got != want {
			t.Errorf("nearest to %v is %d: want %d", x, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-1<<62, 1<<62).Draw(t, "x")
		if got, want := model.Nearest(x), int64(math.Round(x)); got != want {
			t.Fatalf("nearest to %v is %d: want %d", x, got, want)
		}
	})
}
