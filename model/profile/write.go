package profile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/token"

	"headroom/model"
)

// Write writes the profile so that Read returns an equal one: equal profiles give equal bytes. A profile that
// Validate refuses is not written.
func (p *Profile) Write(w io.Writer) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("profile: not written: %w", err)
	}
	if _, err := w.Write(p.canonical()); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}

// Hash returns the SHA-256 of what Write writes, in hexadecimal digits.
func (p *Profile) Hash() string {
	sum := sha256.Sum256(p.canonical())
	return hex.EncodeToString(sum[:])
}

// page is a YAML document that is being written.
type page struct{ bytes.Buffer }

// line adds a line of the given depth.
func (w *page) line(depth int, format string, args ...any) {
	w.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

func (p *Profile) canonical() []byte {
	var w page
	w.line(0, "schema: %d", Schema)
	w.line(0, "name: %s", text(p.Name))
	w.provenance(&p.Provenance)
	w.line(0, "baseline: %s", quantity(p.Baseline))
	if p.DeviceBaseline != (Quantity[model.Bytes]{}) {
		w.line(0, "device_baseline: %s", quantity(p.DeviceBaseline))
	}
	if p.Scatter != (Quantity[model.Bytes]{}) {
		w.line(0, "scatter: %s", quantity(p.Scatter))
	}
	if len(p.Resident) > 0 {
		w.line(0, "resident:")
	}
	for i := range p.Resident {
		w.line(1, "- %s", resident(&p.Resident[i]))
	}
	w.interference(&p.Interference)
	w.line(0, "kinds:")
	byName := func(a, b Kind) int { return strings.Compare(a.Name, b.Name) }
	for _, k := range slices.SortedFunc(slices.Values(p.Kinds), byName) {
		w.kind(&k)
	}
	return w.Bytes()
}

func (w *page) provenance(p *Provenance) {
	if p.Machine == "" && len(p.Versions)+len(p.Traces)+len(p.Notes)+len(p.Fit) == 0 {
		return
	}
	w.line(0, "provenance:")
	if p.Machine != "" {
		w.line(1, "machine: %s", text(p.Machine))
	}
	if len(p.Versions) > 0 {
		w.line(1, "versions:")
	}
	for _, program := range slices.Sorted(maps.Keys(p.Versions)) {
		w.line(2, "%s: %s", text(program), text(p.Versions[program]))
	}
	if len(p.Traces) > 0 {
		w.line(1, "traces:")
	}
	for _, t := range p.Traces {
		w.line(2, "- {path: %s, sha256: %s, jobs: %d, partitions: %d}", text(t.Path), text(t.SHA256), t.Jobs, t.Partitions)
	}
	if len(p.Notes) > 0 {
		w.line(1, "notes:")
	}
	for _, n := range p.Notes {
		w.line(2, "- %s", text(n))
	}
	if len(p.Fit) > 0 {
		w.line(1, "fit:")
	}
	for _, q := range p.Fit {
		w.line(2, "- {trace: %s, held_out: %t, peak_error: %s, seconds_per_job_error: %s, measured_peak: %s, predicted_peak: %s}",
			text(q.Trace), q.HeldOut, number(q.PeakError), number(q.SecondsError), q.MeasuredPeak, q.PredictedPeak)
	}
}

func (w *page) interference(x *Interference) {
	if len(x.Slowdowns)+len(x.Resources) == 0 {
		return
	}
	w.line(0, "interference:")
	if len(x.Slowdowns) > 0 {
		w.line(1, "slowdowns:")
	}
	for _, s := range x.Slowdowns {
		w.line(2, "- {stage: %s, by: %s, points: %s}", s.Stage, s.By, pairs(s.Points, func(p SlowdownPoint) string {
			return fmt.Sprintf("[%d, %s]", p.N, quantity(p.Factor))
		}))
	}
	if len(x.Resources) > 0 {
		w.line(1, "resources:")
	}
	for _, r := range x.Resources {
		var demand []string
		for _, s := range slices.Sorted(maps.Keys(r.Demand)) {
			demand = append(demand, fmt.Sprintf("%s: %s", s, quantity(r.Demand[s])))
		}
		w.line(2, "- {name: %s, capacity: %s, demand: {%s}}", text(r.Name), quantity(r.Capacity), strings.Join(demand, ", "))
	}
}

func (w *page) kind(k *Kind) {
	w.line(1, "%s:", text(k.Name))
	if c := k.Circuit; c != nil {
		w.line(2, "circuit: %s", text(c.Family))
		w.line(2, "log2_constraints: %d", c.Log2Constraints)
		w.line(2, "data: %s", c.Data)
		w.line(2, "leaf: %s", c.Leaf)
	}
	w.line(2, "partitions: %d", k.Partitions)
	w.line(2, "priority: %d", k.Priority)
	if k.Keys != (Keys{}) {
		w.line(2, "keys: {host: %s, device: %s}", quantity(k.Keys.Host), quantity(k.Keys.Device))
	}
	w.line(2, "work:")
	for _, s := range slices.Sorted(maps.Keys(k.Work)) {
		work := k.Work[s]
		w.line(3, "%s: {law: %s, mean: %s%s%s%s}", s, text(string(work.Law)), quantity(work.Mean),
			unlessZero("cv", work.CV), unlessZero("job_cv", work.JobCV), batch(work.Batch))
	}
	if b := k.BG2; b != nil {
		w.line(2, "b_g2: {recorded: %s, host: %s, device: %s}", b.Recorded, quantity(b.Host), quantity(b.Device))
	}
	w.line(2, "footprint:")
	w.line(3, "parse: %s", quantity(k.Footprint.Parse))
	w.line(3, "vectors: %s", quantity(k.Footprint.Vectors))
	w.line(3, "assignment: %s", quantity(k.Footprint.Assignment))
	w.line(3, "call: %s", quantity(k.Footprint.Call))
	if k.Footprint.Freeing != nil {
		w.line(3, "freeing: %s", quantity(*k.Footprint.Freeing))
	}
	if k.Footprint.Pinned != (Quantity[model.Bytes]{}) {
		w.line(3, "pinned: %s", quantity(k.Footprint.Pinned))
	}
	if k.Footprint.Shm != (Quantity[model.Bytes]{}) {
		w.line(3, "shm: %s", quantity(k.Footprint.Shm))
	}
	if len(k.Footprint.VRAM) > 0 {
		var parts []string
		for _, s := range slices.Sorted(maps.Keys(k.Footprint.VRAM)) {
			parts = append(parts, fmt.Sprintf("%s: %s", s, quantity(k.Footprint.VRAM[s])))
		}
		w.line(3, "vram: {%s}", strings.Join(parts, ", "))
	}
	if len(k.Footprint.During) > 0 {
		w.line(3, "during:")
	}
	for _, s := range slices.Sorted(maps.Keys(k.Footprint.During)) {
		w.line(4, "%s: %s", s, pairs(k.Footprint.During[s], func(p Point) string {
			return fmt.Sprintf("[%s, %s]", number(p.Progress), quantity(p.Bytes))
		}))
	}
}

func resident(r *model.Resident) string {
	entry := fmt.Sprintf("name: %s, bytes: %s", text(r.Name), r.Bytes)
	for _, f := range []struct {
		set   bool
		key   string
		value any
	}{
		{r.LoadTime != 0, "load_time", r.LoadTime},
		{r.Transient != 0, "transient", r.Transient},
		{r.Acquire != "", "acquire", r.Acquire},
		{r.OnDemand, "on_demand", r.OnDemand},
		{r.Evictable, "evictable", r.Evictable},
		{r.Pinned, "pinned", r.Pinned},
		{r.Background, "background", r.Background},
		{len(r.Kinds) > 0, "kinds", pairs(r.Kinds, text)},
	} {
		if f.set {
			entry += fmt.Sprintf(", %s: %v", f.key, f.value)
		}
	}
	return "{" + entry + "}"
}

func pairs[P any](points []P, one func(P) string) string {
	list := make([]string, len(points))
	for i, p := range points {
		list[i] = one(p)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func batch(q *Quantity[float64]) string {
	if q == nil {
		return ""
	}
	return ", batch: " + quantity(*q)
}

func unlessZero(key string, q Quantity[float64]) string {
	if q == (Quantity[float64]{}) {
		return ""
	}
	return fmt.Sprintf(", %s: %s", key, quantity(q))
}

// quantity writes the number alone if nothing else is known.
func quantity[T ~int64 | ~float64](q Quantity[T]) string {
	if q == Exactly(q.Value) {
		return number(q.Value)
	}
	entry := "value: " + number(q.Value)
	if q.HasInterval() {
		entry += fmt.Sprintf(", low: %s, high: %s", number(q.Low), number(q.High))
	}
	if q.Source != "" {
		entry += ", from: " + text(string(q.Source))
	}
	return "{" + entry + "}"
}

// number writes sizes and spans with their unit and others in the shortest form that reads back equal.
func number[T ~int64 | ~float64](value T) string {
	if s, ok := any(value).(fmt.Stringer); ok {
		return s.String()
	}
	return strconv.FormatFloat(float64(value), 'g', -1, 64)
}

// text writes a plain word as it is and everything else in double quotes. For valid UTF-8, which Validate
// demands, Go's escapes are YAML's.
func text(s string) string {
	plain := s != "" && s[0] >= 'a' && s[0] <= 'z' && !token.IsNeedQuoted(s) &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-./") == ""
	if plain {
		return s
	}
	return strconv.Quote(s)
}
