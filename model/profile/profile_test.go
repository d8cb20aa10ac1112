package profile_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
)

// write returns what the profile is written as.
func write(p *profile.Profile) ([]byte, error) {
	var b bytes.Buffer
	err := p.Write(&b)
	return b.Bytes(), err
}

func TestReadingWhatWasWrittenGivesAnEqualProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		data, err := write(p)
		if err != nil {
			t.Fatalf("write: %v", err)
		}
		got, err := profile.Read(data, "drawn.yaml")
		if err != nil {
			t.Fatalf("read: %v\n%s", err, data)
		}
		if diff := cmp.Diff(p, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("differs (-written +read):\n%s\n%s", diff, data)
		}
		again, err := write(got)
		if err != nil || !bytes.Equal(data, again) {
			t.Fatalf("written again it differs: %v\n%s", err, cmp.Diff(string(data), string(again)))
		}
		if p.Hash() != got.Hash() {
			t.Fatalf("hash %s became %s", p.Hash(), got.Hash())
		}
	})
}

func TestTheHashChangesWithEveryNumber(t *testing.T) {
	p := small()
	before := p.Hash()
	p.Kinds[0].Footprint.Vectors.Value++
	if p.Hash() == before {
		t.Error("one more byte has the same hash")
	}
}

func small() *profile.Profile {
	return &profile.Profile{Name: "small", Kinds: []profile.Kind{{
		Name: "job", Partitions: 1,
		Work: map[model.Stage]profile.Work{
			model.Synth:  {Law: profile.Constant, Mean: profile.Exactly(model.Second)},
			model.Kernel: {Law: profile.Constant, Mean: profile.Exactly(model.Second)},
		},
	}}}
}

var (
	sizes = rapid.Custom(func(t *rapid.T) model.Bytes {
		return model.Bytes(rapid.Int64Range(0, int64(model.MaxBytes)).Draw(t, "size"))
	})
	spans = rapid.Custom(func(t *rapid.T) model.Span {
		return model.Span(rapid.Int64Range(0, int64(model.MaxSpan)).Draw(t, "span"))
	})
	ratios     = rapid.Float64Range(0, 1e6)
	factor     = rapid.Float64Range(math.SmallestNonzeroFloat64, 1e6)
	capacities = rapid.Float64Range(1e-3, 1e6)
	texts      = rapid.OneOf(rapid.StringMatching(`[a-z][a-z0-9_./-]{0,20}`), rapid.StringN(1, 20, -1),
		rapid.SampledFrom([]string{"true", "null", "1e5", "- a", "a: b", "# c", "~", "no", "\u0085\u2028\ufeff\x00\x7f\a", "é\n\t", "0x10", "{", "%%s"}))
	names = rapid.OneOf(rapid.StringMatching(`[a-z][a-z0-9_./-]{0,20}`), rapid.StringOfN(rapid.RuneFrom(nil, unicode.L, unicode.N, unicode.P, unicode.S), 1, 20, -1),
		rapid.SampledFrom([]string{"true", "null", "1e5", "- a", "a: b", "# c", "~", "no", "é n", " ", "0x10", "{", "%%s"}))
	stages = rapid.SampledFrom([]model.Stage{model.Parse, model.Prep, model.Tail, model.Finish, model.Dealloc})
)

// drawQuantity draws a quantity with or without an interval and a source.
func drawQuantity[T ~int64 | ~float64](t *rapid.T, values *rapid.Generator[T], label string) profile.Quantity[T] {
	q := profile.Exactly(values.Draw(t, label))
	if rapid.Bool().Draw(t, "interval") {
		q.Low, q.High = min(q.Value, values.Draw(t, "low")), max(q.Value, values.Draw(t, "high"))
	}
	q.Source = rapid.SampledFrom([]profile.Source{"", profile.Measured, profile.Derived, profile.Fitted, profile.Assumed}).Draw(t, "source")
	return q
}

func drawProfile(t *rapid.T) *profile.Profile {
	p := &profile.Profile{
		Name: names.Draw(t, "name"), Baseline: drawQuantity(t, sizes, "baseline"), DeviceBaseline: drawQuantity(t, sizes, "device baseline"),
		Scatter: drawQuantity(t, sizes, "scatter"),
	}
	p.Provenance = profile.Provenance{
		Machine:  texts.Draw(t, "machine"),
		Versions: rapid.MapOfN(texts, rapid.String(), 0, 3).Draw(t, "versions"),
		Notes:    rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "notes"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "traces") {
		p.Provenance.Traces = append(p.Provenance.Traces, profile.TraceRef{
			Path: texts.Draw(t, "path"), SHA256: rapid.StringMatching(`[0-9a-f]{64}`).Draw(t, "sha"),
			Jobs: rapid.IntRange(0, 1e9).Draw(t, "jobs"), Partitions: rapid.IntRange(0, 1e9).Draw(t, "partitions"),
		})
		p.Provenance.Fit = append(p.Provenance.Fit, profile.FitQuality{
			Trace: texts.Draw(t, "trace"), HeldOut: rapid.Bool().Draw(t, "held out"),
			PeakError: rapid.Float64Range(-1e9, 1e9).Draw(t, "error"), MeasuredPeak: sizes.Draw(t, "peak"),
		})
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "residents") {
		p.Resident = append(p.Resident, model.Resident{
			Name: fmt.Sprint(i, names.Draw(t, "resident")), Bytes: 1 + sizes.Draw(t, "bytes")/2, LoadTime: spans.Draw(t, "load time"),
			OnDemand: true, Background: rapid.Bool().Draw(t, "background"), Pinned: rapid.Bool().Draw(t, "pinned"),
			Kinds: rapid.SliceOfN(texts, 0, 2).Draw(t, "kinds"),
		})
	}
	p.Interference = drawInterference(t)
	for i := range rapid.IntRange(1, 3).Draw(t, "kinds") {
		p.Kinds = append(p.Kinds, drawKind(t, fmt.Sprint(i, names.Draw(t, "kind"))))
	}
	return p
}

func drawInterference(t *rapid.T) profile.Interference {
	var x profile.Interference
	for range rapid.IntRange(0, 2).Draw(t, "slowdowns") {
		s := profile.Slowdown{Stage: stages.Draw(t, "stage"), By: stages.Draw(t, "by")}
		for n := range rapid.IntRange(1, 4).Draw(t, "points") {
			s.Points = append(s.Points, profile.SlowdownPoint{N: n + 1, Factor: drawQuantity(t, factor, "factor")})
		}
		x.Slowdowns = append(x.Slowdowns, s)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "resources") {
		x.Resources = append(x.Resources, profile.Resource{
			Name: fmt.Sprint(i, names.Draw(t, "resource")), Capacity: drawQuantity(t, capacities, "capacity"),
			Demand: map[model.Stage]profile.Quantity[float64]{stages.Draw(t, "stage"): drawQuantity(t, factor, "demand")},
		})
	}
	return x
}

func drawKind(t *rapid.T, name string) profile.Kind {
	k := profile.Kind{
		Name: name, Partitions: rapid.IntRange(1, 100).Draw(t, "partitions"), Priority: rapid.IntRange(-5, 5).Draw(t, "priority"),
		Work: map[model.Stage]profile.Work{},
		Footprint: profile.Footprint{
			Parse: drawQuantity(t, sizes, "parse"), Vectors: drawQuantity(t, sizes, "vectors"),
			Assignment: drawQuantity(t, sizes, "assignment"), Call: drawQuantity(t, sizes, "call"),
			During: map[model.Stage][]profile.Point{}, VRAM: map[model.Stage]profile.Quantity[model.Bytes]{},
		},
	}
	if rapid.Bool().Draw(t, "on a device") {
		k.Footprint.Pinned = profile.Exactly(k.Footprint.Vectors.Value / 2)
		k.Footprint.Shm = profile.Exactly(k.Footprint.Vectors.Value / 3)
		k.Footprint.VRAM[model.Kernel] = drawQuantity(t, sizes, "vram")
		k.Keys = profile.Keys{Host: drawQuantity(t, sizes, "keys"), Device: drawQuantity(t, sizes, "keys on devices")}
		k.BG2 = &profile.BG2{Recorded: model.OnHost, Host: drawQuantity(t, spans, "host"), Device: drawQuantity(t, spans, "device")}
	}
	if rapid.Bool().Draw(t, "shrinks") {
		k.Footprint.Freeing = new(profile.Quantity[float64])
		*k.Footprint.Freeing = drawQuantity(t, rapid.Float64Range(0, 1), "freeing")
	}
	if rapid.Bool().Draw(t, "circuit") {
		leaf := model.Bytes(rapid.IntRange(32, 1<<20).Draw(t, "leaf"))
		k.Circuit = &model.Circuit{Family: "mimc", Log2Constraints: 13, Leaf: leaf, Data: leaf * 8}
	}
	for _, s := range []model.Stage{model.Synth, model.Kernel, stages.Draw(t, "stage")} {
		k.Work[s] = profile.Work{
			Law: profile.Lognormal, Mean: drawQuantity(t, spans, "mean"),
			CV: drawQuantity(t, ratios, "cv"), JobCV: drawQuantity(t, ratios, "job cv"),
		}
		if rapid.Bool().Draw(t, "batched") {
			w := k.Work[s]
			w.Batch = new(profile.Quantity[float64])
			*w.Batch = drawQuantity(t, ratios, "batch")
			k.Work[s] = w
		}
		progress := 0.0
		for range rapid.IntRange(0, 3).Draw(t, "points") {
			progress = rapid.Float64Range(progress, 1).Draw(t, "progress")
			k.Footprint.During[s] = append(k.Footprint.During[s], profile.Point{Progress: progress, Bytes: drawQuantity(t, sizes, "held")})
		}
	}
	return k
}
