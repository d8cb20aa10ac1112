package profile

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"headroom/model"
)

// Validate reports everything that is wrong with the profile, each fault with its key as in the file.
func (p *Profile) Validate() error {
	var f model.Faults
	if p.Name == "" {
		f.Add("name", "is missing: a profile needs one")
	}
	f.Name("name", p.Name)
	p.Provenance.validate(&f)
	amount(&f, "baseline", p.Baseline)
	amount(&f, "device_baseline", p.DeviceBaseline)
	amount(&f, "scatter", p.Scatter)
	f.Join(model.ValidateResident("resident", p.Resident))
	p.Interference.validate(&f)
	if len(p.Kinds) == 0 {
		f.Add("kinds", "is empty: at least one kind of job")
	}
	seen := map[string]bool{}
	for i := range p.Kinds {
		k := &p.Kinds[i]
		at := "kinds." + k.Name
		if seen[k.Name] {
			f.Add(at, "is there twice: one entry for each kind")
		}
		seen[k.Name] = true
		k.validate(&f, at)
	}
	return f.Err()
}

func (p *Provenance) validate(f *model.Faults) {
	utf8Text(f, "provenance.machine", p.Machine)
	for _, program := range slices.Sorted(maps.Keys(p.Versions)) {
		utf8Text(f, "provenance.versions."+program, program+p.Versions[program])
	}
	for i, t := range p.Traces {
		at := fmt.Sprintf("provenance.traces[%d]", i)
		utf8Text(f, at, t.Path+t.SHA256)
		if t.Jobs < 0 || t.Partitions < 0 {
			f.Add(at, "has %d jobs and %d partitions: neither is negative", t.Jobs, t.Partitions)
		}
	}
	for i, n := range p.Notes {
		utf8Text(f, fmt.Sprintf("provenance.notes[%d]", i), n)
	}
	for i, q := range p.Fit {
		at := fmt.Sprintf("provenance.fit[%d]", i)
		utf8Text(f, at, q.Trace)
		f.Size(at+".measured_peak", q.MeasuredPeak, 0)
		f.Size(at+".predicted_peak", q.PredictedPeak, 0)
		for _, e := range []float64{q.PeakError, q.SecondsError} {
			if math.IsNaN(e) || math.IsInf(e, 0) {
				f.Add(at, "has an error of %v: a finite number", e)
			}
		}
	}
}

func (k *Kind) validate(f *model.Faults, at string) {
	if k.Name == "" {
		f.Add(at, "has no name: each kind needs one")
	}
	f.Name(at, k.Name)
	if k.Circuit != nil {
		f.Join(k.Circuit.Validate(at))
	}
	if k.Partitions < 1 || k.Partitions > model.MaxPartitions {
		f.Add(at+".partitions", "is %d: from 1 to %d", k.Partitions, model.MaxPartitions)
	}
	amount(f, at+".keys.host", k.Keys.Host)
	amount(f, at+".keys.device", k.Keys.Device)
	for _, s := range []model.Stage{model.Synth, model.Kernel} {
		if _, there := k.Work[s]; !there {
			f.Add(at+".work", "has no %s: every kind needs synth and kernel", s)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(k.Work)) {
		w := k.Work[s]
		stage(f, at+".work", s)
		w.validate(f, fmt.Sprintf("%s.work.%s", at, s))
	}
	if b := k.BG2; b != nil {
		if b.Recorded != model.OnHost && b.Recorded != model.OnDevice {
			f.Add(at+".b_g2.recorded", "is %q: one of host, device", string(b.Recorded))
		}
		span(f, at+".b_g2.host", b.Host)
		span(f, at+".b_g2.device", b.Device)
	}
	k.Footprint.validate(f, at+".footprint", k.Work)
}

func (w *Work) validate(f *model.Faults, at string) {
	span(f, at+".mean", w.Mean)
	if w.Batch != nil {
		ratio(f, at+".batch", *w.Batch, 0)
	}
	ratio(f, at+".cv", w.CV, 0)
	ratio(f, at+".job_cv", w.JobCV, 0)
	switch cv := w.CV.Value; w.Law {
	case Lognormal:
	case Constant:
		if cv != 0 {
			f.Add(at+".cv", "is %v: 0 for law constant", cv)
		}
	case Exponential:
		if cv != 0 && cv != 1 {
			f.Add(at+".cv", "is %v: 1 for law exponential", cv)
		}
	default:
		f.Add(at+".law", "is %q: one of constant, lognormal, exponential", string(w.Law))
	}
}

func (p *Footprint) validate(f *model.Faults, at string, work map[model.Stage]Work) {
	amount(f, at+".parse", p.Parse)
	amount(f, at+".vectors", p.Vectors)
	amount(f, at+".assignment", p.Assignment)
	amount(f, at+".call", p.Call)
	if p.Freeing != nil {
		ratio(f, at+".freeing", *p.Freeing, 0)
		if p.Freeing.Value > 1 {
			f.Add(at+".freeing", "is %v: a part of a block, at most 1", p.Freeing.Value)
		}
	}
	for _, part := range []struct {
		key   string
		bytes Quantity[model.Bytes]
	}{{".pinned", p.Pinned}, {".shm", p.Shm}} {
		amount(f, at+part.key, part.bytes)
		if part.bytes.Value > p.Vectors.Value {
			f.Add(at+part.key, "is %s: a part of the vectors, which are %s", part.bytes.Value, p.Vectors.Value)
		}
	}
	for _, s := range slices.Sorted(maps.Keys(p.VRAM)) {
		key := fmt.Sprintf("%s.vram.%s", at, s)
		if s != model.Prep && s != model.Kernel && s != model.Tail {
			f.Add(key, "is of a stage that holds nothing on a device: one of prep, kernel, tail")
		}
		amount(f, key, p.VRAM[s])
	}
	for _, s := range slices.Sorted(maps.Keys(p.During)) {
		key := fmt.Sprintf("%s.during.%s", at, s)
		if _, there := work[s]; !there {
			f.Add(key, "is of a stage that the kind's work does not have")
		}
		if len(p.During[s]) == 0 {
			f.Add(key, "has no points: at least one [progress, bytes]")
		}
		before := 0.0
		for i, point := range p.During[s] {
			if !(point.Progress >= before && point.Progress <= 1) {
				f.Add(fmt.Sprintf("%s[%d]", key, i), "has progress %v: from that of the point before (%v) to 1", point.Progress, before)
			}
			before = max(before, point.Progress)
			amount(f, fmt.Sprintf("%s[%d]", key, i), point.Bytes)
		}
	}
}

func (x *Interference) validate(f *model.Faults) {
	for i := range x.Slowdowns {
		x.Slowdowns[i].validate(f, fmt.Sprintf("interference.slowdowns[%d]", i))
	}
	seen := map[string]bool{}
	for i, r := range x.Resources {
		at := fmt.Sprintf("interference.resources[%d]", i)
		if r.Name == "" || seen[r.Name] {
			f.Add(at+".name", "is %q: each resource needs a name of its own", r.Name)
		}
		seen[r.Name] = true
		f.Name(at+".name", r.Name)
		ratio(f, at+".capacity", r.Capacity, leastFactor)
		if len(r.Demand) == 0 {
			f.Add(at+".demand", "is empty: what one runner of each stage asks for")
		}
		for _, s := range slices.Sorted(maps.Keys(r.Demand)) {
			stage(f, at+".demand", s)
			ratio(f, fmt.Sprintf("%s.demand.%s", at, s), r.Demand[s], math.SmallestNonzeroFloat64)
		}
	}
}

func (s *Slowdown) validate(f *model.Faults, at string) {
	stage(f, at+".stage", s.Stage)
	stage(f, at+".by", s.By)
	if len(s.Points) == 0 {
		f.Add(at+".points", "is empty: at least one [n, factor]")
	}
	before := 0
	for i, p := range s.Points {
		key := fmt.Sprintf("%s.points[%d]", at, i)
		if p.N <= before || p.N > model.MaxPartitions {
			f.Add(key, "is at n %d: above that of the point before (%d), at most %d", p.N, before, model.MaxPartitions)
		}
		before = max(before, p.N)
		ratio(f, key, p.Factor, math.SmallestNonzeroFloat64)
	}
}

func stage(f *model.Faults, key string, s model.Stage) {
	if s < model.Parse || s >= model.NumStages {
		f.Add(key, "names stage %q: one of parse, synth, prep, kernel, tail, finish, dealloc", s)
	}
}

func utf8Text(f *model.Faults, key, s string) {
	if !utf8.ValidString(s) {
		f.Add(key, "is not UTF-8 text")
	}
}

// span notes a fault unless the quantity is a length of time and its interval is right.
func span(f *model.Faults, key string, q Quantity[model.Span]) {
	f.Span(key, q.Value)
	interval(f, key, q)
}

// amount notes a fault unless the quantity is a size and its interval is right.
func amount(f *model.Faults, key string, q Quantity[model.Bytes]) {
	f.Size(key, q.Value, 0)
	interval(f, key, q)
}

// ratio notes a fault unless the quantity is a number from lowest to a million and its interval is right.
func ratio(f *model.Faults, key string, q Quantity[float64], lowest float64) {
	const highest = 1_000_000
	if !(q.Value >= lowest && q.Value <= highest) {
		bound := fmt.Sprintf("from %v", lowest)
		if lowest == math.SmallestNonzeroFloat64 {
			bound = "above 0"
		}
		f.Add(key, "is %v: a number %s, at most %d", q.Value, bound, highest)
	}
	interval(f, key, q)
}

// interval notes a fault unless the interval holds the value and the source is known.
func interval[T ~int64 | ~float64](f *model.Faults, key string, q Quantity[T]) {
	if q.HasInterval() && !(q.Low <= q.Value && q.Value <= q.High && q.Low >= 0) {
		f.Add(key, "is %v with the interval from %v to %v: an interval that begins at 0 or above and holds the value", q.Value, q.Low, q.High)
	}
	switch q.Source {
	case "", Measured, Derived, Fitted, Assumed:
	default:
		f.Add(key, "is from %q: one of measured, derived, fitted, assumed", string(q.Source))
	}
}
