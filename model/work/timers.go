package work

import (
	"cmp"
	"slices"

	"headroom/model"
)

// Timers are the wakes that the core has asked for, for the simulator and the live driver alike. The zero value has
// none.
type Timers struct {
	set []alarm // in order of time, those of one instant by the timer's number
}

type alarm struct {
	at   model.Instant
	task model.Task
}

// Note sets the timers that a step's effects ask for.
func (t *Timers) Note(now model.Instant, effects []model.Effect) {
	for i := range effects {
		if e := &effects[i]; e.Op == model.WakeAt {
			a := alarm{now + model.Instant(e.After), e.Task}
			at, _ := slices.BinarySearchFunc(t.set, a, func(b, a alarm) int {
				return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.task.Slot, a.task.Slot), -1)
			})
			t.set = slices.Insert(t.set, at, a)
		}
	}
}

// Next returns the instant of the next wake, or Forever.
func (t *Timers) Next() model.Instant {
	if len(t.set) == 0 {
		return Forever
	}
	return t.set[0].at
}

// Due takes out the next wake that is due at an instant and reports whether there was one. Wakes that are set from
// here on at the same instant belong to the next round; none is, since every span is above zero.
func (t *Timers) Due(now model.Instant) (model.Input, bool) {
	if t.Next() > now {
		return model.Input{}, false
	}
	task := t.set[0].task
	t.set = t.set[1:]
	return model.Input{Op: model.Wake, Task: task}, true
}
