package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
)

func TestTimersRingInOrderOfTimeAndNumber(t *testing.T) {
	var timers Timers
	wake := func(number int32, after model.Span) model.Effect {
		return model.Effect{Op: model.WakeAt, Task: model.Task{Slot: number}, After: after}
	}
	timers.Note(10, []model.Effect{wake(3, 5), {Op: model.Start, After: 1}, wake(1, 5), wake(2, 1), wake(0, 9)})
	timers.Note(12, []model.Effect{wake(2, 3)})
	var rang []int32
	for _, now := range []model.Instant{10, 11, 15, 18, 19, 30} {
		for {
			in, ok := timers.Due(now)
			if !ok {
				break
			}
			rang = append(rang, int32(now), in.Task.Slot)
		}
	}
	if diff := cmp.Diff([]int32{11, 2, 15, 1, 15, 2, 15, 3, 19, 0}, rang); diff != "" {
		t.Errorf("instants and timers (-want +got):\n%s", diff)
	}
	if timers.Next() != Forever {
		t.Error("a timer is left")
	}
}
