package generations

import (
	"math"

	"headroom/model"
	"headroom/model/profile"
)

// Time is how long a stage of a generation takes, and where that is from.
type Time struct {
	Kind    string
	Stage   model.Stage
	Seconds float64
	// Loaded says that the time was read while about ten partitions were synthesized.
	Loaded bool
	// Batch is what each further proof of a batch adds, as a part of Seconds; negative: as much as the first.
	Batch float64
	From  profile.Source
	Why   string
}

// Times lists the times that the generations do not share. A partition's other times are those of the shared fit.
func Times() []Time {
	const alone = -1
	return []Time{
		{Whole, model.Synth, 54.7, false, 55.3/54.7 - 1, profile.Measured, "ten circuits 54.7 s, twenty 55.3 s: the cores are not full with ten"},
		{Whole, model.Kernel, 34.0, false, 69.4/34.0 - 1, profile.Measured, "one call for all circuits with its freeing: ten 34.0 s, twenty 69.4 s"},

		{Phase8, model.Prep, 1.5, false, alone, profile.Measured, "1.3 to 1.7 s"},
		{Phase8, model.Kernel, 3.746 - 0.765, true, alone, profile.Derived, "the device is held for 3.746 s, of which the tail is 0.765 s"},
		{Phase8, model.Tail, 0.765, false, alone, profile.Measured, "batch additions 0.640 s and tail multiplications 0.125 s"},
		{Phase8, model.Finish, 0.8, false, alone, profile.Derived, "G2 multiplication and epilogue 0.7 s, and giving memory back 0 to 0.2 s"},

		{Phase9, model.Prep, 1.909, true, alone, profile.Measured, "with one worker, loaded"},
		{Phase9, model.Kernel, 0.69, true, alone, profile.Measured, "with one worker, loaded"},
		{Phase9, model.Tail, 0.733, false, alone, profile.Measured, "batch additions 0.650 s and tail multiplications 0.083 s"},
		{Phase9, model.Finish, 0.584, false, alone, profile.Derived, "G2 multiplication 0.484 s, and giving memory back 0 to 0.2 s"},

		{Today, model.Synth, 50.6, true, alone, profile.Derived, "ten circuits at once 50.4 to 50.9 s; of more nothing is published"},
		{Today, model.Kernel, 0.95 - 0.733, false, alone, profile.Derived, "with pinned vectors 0.95 s on the device, on a machine that is not named"},
		{Today, model.Tail, 0.733, false, alone, profile.Measured, "as in phase 9"},
		{Today, model.Finish, 1.7, false, alone, profile.Measured, "G2 multiplication with 32 threads"},
	}
}

// work returns the distribution of the time: that of a known stage with another mean. What was read under load is divided
// by what the load slows the stage.
func (t *Time) work(known profile.Work, slowdown float64) profile.Work {
	seconds := t.Seconds
	if t.Loaded {
		seconds /= slowdown
	}
	w := known
	w.Mean = profile.Quantity[model.Span]{Value: model.Span(math.Round(seconds*1000)) * model.Millisecond, Source: t.From}
	if t.Batch >= 0 {
		w.Batch = &profile.Quantity[float64]{Value: math.Round(t.Batch*10000) / 10000, Source: t.From}
	}
	return w
}
