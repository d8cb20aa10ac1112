package calibrate

import (
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
)

func TestTheTimelineCountsWhoRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var busy []interval
		for range rapid.IntRange(0, 12).Draw(t, "intervals") {
			begin := rapid.Int64Range(0, 20).Draw(t, "begin")
			busy = append(busy, interval{
				stage: model.Stage(rapid.IntRange(1, int(model.NumStages)-1).Draw(t, "stage")),
				begin: model.Instant(begin), end: model.Instant(begin + rapid.Int64Range(0, 10).Draw(t, "length")),
			})
		}
		line := newTimeline(busy)
		for at := model.Instant(-1); at < 32; at++ {
			var want, got occupancy
			for _, b := range busy {
				if b.begin <= at && at < b.end {
					want[b.stage]++
				}
			}
			if i := line.segment(at); i >= 0 {
				got = line.who[i]
			}
			if got != want {
				t.Fatalf("at %d: %v run, the timeline says %v", at, want, got)
			}
		}
	})
}
