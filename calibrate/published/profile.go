package published

import (
	"math"

	"headroom/model"
	"headroom/model/profile"
)

// quantile is the half width of a 95 % interval in standard deviations.
const quantile = 1.96

// known is what is known of the numbers: their values and standard deviations. A deviation of 0 gives no interval.
type known struct {
	value, deviation vector
}

func (k *known) seconds(i int) profile.Quantity[model.Span] { return quantity(k, i, toSpan) }

func (k *known) bytes(i int) profile.Quantity[model.Bytes] { return quantity(k, i, toBytes) }

func (k *known) part(i int) profile.Quantity[float64] { return quantity(k, i, toPart) }

func quantity[T ~int64 | ~float64](k *known, i int, round func(float64) T) profile.Quantity[T] {
	value, deviation := k.value[i], k.deviation[i]
	q := profile.Quantity[T]{Value: round(value), Source: numbers[i].source}
	if deviation > 0 {
		q.Low, q.High = round(max(0, value-quantile*deviation)), round(value+quantile*deviation)
	}
	return q
}

// Numbers are rounded to what a reader of the file can make sense of.
func toSpan(seconds float64) model.Span { return model.SpanOf(math.Round(seconds*1000) / 1000) }
func toBytes(gib float64) model.Bytes   { return mebibytes(model.Bytes(gib * float64(model.GiB))) }
func toPart(x float64) float64          { return math.Round(x*10_000) / 10_000 }

func mebibytes(b model.Bytes) model.Bytes { return (b + model.MiB/2) / model.MiB * model.MiB }

func of[T ~int64 | ~float64](value T, source profile.Source) profile.Quantity[T] {
	return profile.Quantity[T]{Value: value, Source: source}
}

// profile builds the profile from the numbers.
func (k *known) profile(name string) *profile.Profile {
	return &profile.Profile{
		Name:     name,
		Baseline: k.bytes(baseline),
		Resident: []model.Resident{
			{Name: "pce", Bytes: mebibytes(pceBytes)},
			{Name: "srs", Bytes: mebibytes(srsBytes), Transient: k.bytes(loadSize).Value},
		},
		Interference: profile.Interference{Slowdowns: []profile.Slowdown{
			{Stage: model.Synth, By: model.Synth, Points: []profile.SlowdownPoint{
				{N: 2, Factor: k.part(synthOf2)},
				{N: 5, Factor: k.part(synthOf5)},
				{N: 10, Factor: k.part(synthOf10)},
				{N: 20, Factor: k.part(synthOf20)},
				{N: 30, Factor: k.part(synthOf30)},
			}},
			{Stage: model.Kernel, By: model.Synth, Points: []profile.SlowdownPoint{
				{N: 1, Factor: of(1.0, profile.Derived)},
				{N: 10, Factor: k.part(kernelBeside10)},
			}},
		}},
		Kinds: []profile.Kind{{Name: Kind, Partitions: partitions, Work: k.work(), Footprint: k.footprint()}},
	}
}

func (k *known) work() map[model.Stage]profile.Work {
	constant := func(q profile.Quantity[model.Span]) profile.Work {
		return profile.Work{Law: profile.Constant, Mean: q}
	}
	return map[model.Stage]profile.Work{
		model.Parse:   constant(of(toSpan(parseSeconds), profile.Measured)),
		model.Synth:   {Law: profile.Lognormal, Mean: k.seconds(synthTime), CV: k.part(synthSpread)},
		model.Prep:    constant(of(toSpan(prepSeconds), profile.Measured)),
		model.Kernel:  constant(k.seconds(kernelTime)),
		model.Tail:    constant(of(toSpan(tailSeconds), profile.Measured)),
		model.Finish:  constant(of(toSpan(finishSeconds), profile.Assumed)),
		model.Dealloc: constant(k.seconds(deallocTime)),
	}
}

// footprint has the witness grow up to the point where a, b and c begin to fill; from there on the witness is held
// twice, until synthesis ends.
func (k *known) footprint() profile.Footprint {
	point := func(progress float64, bytes model.Bytes) profile.Point {
		return profile.Point{Progress: progress, Bytes: of(mebibytes(bytes), profile.Derived)}
	}
	begin := toPart(k.value[fillBegin])
	return profile.Footprint{
		Parse:      of(parseBytes, profile.Assumed),
		Vectors:    of(mebibytes(vectorBytes), profile.Derived),
		Assignment: of(mebibytes(assignmentBytes), profile.Derived),
		Call:       k.bytes(callSize),
		During: map[model.Stage][]profile.Point{model.Synth: {
			point(0, 0),
			point(begin, witnessBytes),
			point(begin, 2*witnessBytes),
			point(1, vectorBytes+assignmentBytes+witnessBytes),
		}},
	}
}
