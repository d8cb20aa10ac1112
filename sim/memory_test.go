package sim_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// TestThePeakIsThatOfAllCornersEvaluatedOneByOne compares the exact integral with one that lists every line that
// ever was, evaluates the sum of all lines at both sides of every corner, and knows no clocks.
func TestThePeakIsThatOfAllCornersEvaluatedOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{freeing: true})
		result, records := mustRun(t, p)
		if leastGap(records) == 0 {
			t.Skip("a stage of no length: what it holds counts, but on no line")
		}
		peak := slowPeak(lines(records, p.Profile)) + int64(baseOf(p.Profile))
		near(t, "peak", int64(result.Peak), peak, rampError(p.Profile))
	})
}

// line is bytes held from one instant to another.
type line struct {
	from, to model.Instant
	low, end float64
}

func (l line) at(t model.Instant) float64 {
	return l.low + (l.end-l.low)*float64(t-l.from)/float64(l.to-l.from)
}

// lines turns records of a run without interference into what everyone held.
func lines(records []model.Record, p *profile.Profile) []line {
	var list []line
	level, last := 0.0, model.Instant(0)
	blocks := eachKind(p, func(k *profile.Kind) { k.Footprint.During = nil })
	for _, h := range inOrder(happenings(records, blocks.Kinds)) {
		if h.At > last {
			list = append(list, line{last, h.At, level, level})
			last = h.At
		}
		level += float64(h.Bytes)
	}
	begun := map[model.Task]model.Effect{}
	for _, r := range records {
		if e, known := begun[r.Input.Task]; known && r.Input.Op == model.Done {
			f := &p.Kinds[e.Kind].Footprint
			list = append(list, rampLines(f.During[e.Task.Stage], r.Begin, r.End)...)
			if e.Task.Stage == model.Dealloc {
				gone := math.Floor((1 - f.Freeing.Value) * float64(blockBytes(f, e.Task.Block)))
				list = append(list, line{r.Begin, r.End, -gone, -gone})
			}
		}
		for _, e := range r.Effects {
			if e.Op == model.Start {
				begun[e.Task] = e
			}
		}
	}
	return list
}

func rampLines(points []profile.Point, begin, end model.Instant) []line {
	if len(points) == 0 || begin == end {
		return nil
	}
	if last := points[len(points)-1]; last.Progress < 1 {
		points = append(slices.Clone(points), profile.Point{Progress: 1, Bytes: last.Bytes})
	}
	var list []line
	for i := 1; i < len(points); i++ {
		instant := func(c int) model.Instant {
			return begin + model.Instant(points[c].Progress*float64(end-begin)+0.5)
		}
		if instant(i-1) < instant(i) {
			list = append(list, line{instant(i - 1), instant(i), float64(points[i-1].Bytes.Value), float64(points[i].Bytes.Value)})
		}
	}
	return list
}

// slowPeak returns the largest sum of lines, each of which counts at both of its ends.
func slowPeak(list []line) int64 {
	var corners []model.Instant
	for _, l := range list {
		corners = append(corners, l.from, l.to)
	}
	slices.Sort(corners)
	peak := 0.0
	for _, at := range slices.Compact(corners) {
		before, after := 0.0, 0.0
		for _, l := range list {
			if l.from < at && at <= l.to {
				before += l.at(at)
			}
			if l.from <= at && at < l.to {
				after += l.at(at)
			}
		}
		peak = max(peak, before, after)
	}
	return int64(peak)
}

func TestWhatOwnersHoldAtThePeakAddsUpToIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, shape{interference: true, freeing: true})
		p.Disturb = drawDisturbance(t, p)
		result, _ := mustRun(t, p)
		addsUp(t, result, rampError(p.Profile))
		if result.Peak == 0 {
			return
		}
		p.Machine.CgroupLimit = model.Bytes(rapid.Int64Range(1, int64(result.Peak)).Draw(t, "limit"))
		cut, _ := mustRun(t, p)
		addsUp(t, cut, rampError(p.Profile))
	})
}

func addsUp(t *rapid.T, r *sim.Result, slack int64) {
	sum := model.Bytes(0)
	for _, h := range r.AtPeak {
		sum += h.Bytes
	}
	if slices.ContainsFunc(r.AtPeak, func(h sim.Holding) bool { return int64(h.Bytes) < -slack }) {
		t.Fatalf("%s: an owner holds less than nothing: %v", r.Verdict, r.AtPeak)
	}
	if sum != r.Peak {
		t.Fatalf("%s: the owners hold %s together, want the peak, %s: %v", r.Verdict, sum, r.Peak, r.AtPeak)
	}
	if !slices.IsSortedFunc(r.AtPeak, func(a, b sim.Holding) int { return cmp.Compare(b.Bytes, a.Bytes) }) {
		t.Fatalf("the owners are not sorted by what they hold: %v", r.AtPeak)
	}
}

// TestLoadingBeforeTheFirstJobCounts has a load that holds more than all that is there afterwards.
func TestLoadingBeforeTheFirstJobCounts(t *testing.T) {
	k := kindOf(1, map[model.Stage]profile.Work{model.Synth: seconds(1), model.Kernel: seconds(1)})
	p := planOf(openConfig(), k, profile.Interference{}, 1)
	p.Profile.Baseline = profile.Exactly(model.Bytes(100))
	p.Config.Resident = []model.Resident{{Name: "a", Bytes: 10, Transient: 50}, {Name: "b", Bytes: 20, Transient: 5}}
	got, _ := run(t, p)
	held := []sim.Holding{{Owner: sim.OwnBaseline, Bytes: 100}, {Owner: sim.OwnResident, Count: 1, Bytes: 60}}
	if got.Peak != 160 || got.PeakAt != 0 || !slices.Equal(got.AtPeak, held) {
		t.Errorf("the peak is %d B at %s of %+v, want 160 at the start of %+v", got.Peak, got.PeakAt, got.AtPeak, held)
	}
	p.Machine.RAM = 159
	if got, _ := run(t, p); got.Verdict != sim.Refuse || !slices.Equal(got.AtPeak, held) {
		t.Errorf("with 159 B the verdict is %s with %+v, want refuse", got.Verdict, got.AtPeak)
	}
	p.Machine.RAM = 0
	p.Profile.Kinds[0].Footprint.During = map[model.Stage][]profile.Point{model.Synth: flat(200)}
	got, _ = run(t, p)
	if got.Peak != 330 || !slices.Contains(got.AtPeak, sim.Holding{Owner: sim.OwnResident, Count: 2, Bytes: 30}) {
		t.Errorf("the peak is %d B of %+v, want 330 with both loaded", got.Peak, got.AtPeak)
	}
}
