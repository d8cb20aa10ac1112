package generations

import (
	"cmp"
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
	// Batch is what each further proof of a batch adds, as a part of Seconds; 0 where there are no batches.
	Batch float64
	From  profile.Source
	Why   string
}

// Times lists the times that the generations do not share. A partition's other times are those of the shared fit.
func Times() []Time {
	return []Time{
		{Kind: Whole, Stage: model.Synth, Seconds: 54.7, Batch: 55.3/54.7 - 1, From: profile.Measured,
			Why: "ten circuits 54.7 s, twenty 55.3 s: ten do not fill the cores"},
		{Kind: Whole, Stage: model.Kernel, Seconds: 34, Batch: 69.4/34 - 1, From: profile.Measured,
			Why: "one call for all circuits with its freeing: ten 34.0 s, twenty 69.4 s"},

		{Kind: Phase8, Stage: model.Prep, Seconds: 1.5, From: profile.Measured, Why: "1.3 to 1.7 s"},
		{Kind: Phase8, Stage: model.Kernel, Seconds: 3.746 - 0.765, Loaded: true, From: profile.Derived,
			Why: "the device is held for 3.746 s, of which the tail is 0.765 s"},
		{Kind: Phase8, Stage: model.Tail, Seconds: 0.765, From: profile.Measured,
			Why: "batch additions 0.640 s and tail multiplications 0.125 s"},
		{Kind: Phase8, Stage: model.Finish, Seconds: 0.8, From: profile.Derived,
			Why: "G2 multiplication and epilogue 0.7 s, and giving memory back 0 to 0.2 s"},

		{Kind: Phase9, Stage: model.Prep, Seconds: 1.909, Loaded: true, From: profile.Measured,
			Why: "with one worker, loaded"},
		{Kind: Phase9, Stage: model.Kernel, Seconds: 0.69, Loaded: true, From: profile.Measured,
			Why: "with one worker, loaded"},
		{Kind: Phase9, Stage: model.Tail, Seconds: 0.733, From: profile.Measured,
			Why: "batch additions 0.650 s and tail multiplications 0.083 s"},
		{Kind: Phase9, Stage: model.Finish, Seconds: 0.584, From: profile.Derived,
			Why: "G2 multiplication 0.484 s, and giving memory back 0 to 0.2 s"},

		{Kind: Today, Stage: model.Synth, Seconds: 50.6, Loaded: true, From: profile.Derived,
			Why: "ten circuits at once 50.4 to 50.9 s; of more nothing is published"},
		{Kind: Today, Stage: model.Kernel, Seconds: 0.95 - 0.733, From: profile.Derived,
			Why: "with pinned vectors 0.95 s on the device, on a machine that is not named"},
		{Kind: Today, Stage: model.Tail, Seconds: 0.733, From: profile.Measured, Why: "as in phase 9"},
		{Kind: Today, Stage: model.Finish, Seconds: 1.7, From: profile.Measured,
			Why: "G2 multiplication with 32 threads"},
	}
}

// work returns the distribution of the time: that of a known stage with another mean, or a constant where there is
// none. What was read under load is divided by what the load slows the stage.
func (t *Time) work(known profile.Work, slowdown float64) profile.Work {
	seconds := t.Seconds
	if t.Loaded {
		seconds /= slowdown
	}
	w := known
	w.Law = cmp.Or(w.Law, profile.Constant)
	w.Mean = profile.Quantity[model.Span]{
		Value: model.Span(math.Round(1e3*seconds)) * model.Millisecond, Source: t.From,
	}
	if t.Batch > 0 {
		w.Batch = &profile.Quantity[float64]{Value: math.Round(1e4*t.Batch) / 1e4, Source: t.From}
	}
	return w
}
