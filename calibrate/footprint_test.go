package calibrate

import (
	"math"
	"slices"
	"testing"

	"headroom/model"
	"headroom/model/stream"
)

// ofOneKind are the columns of the tests here.
var ofOneKind = columns{kinds: 1}

// drawn returns readings of 1000 bytes of vectors that are off by independent errors: a part of all by those of its
// stretch too, and some by far more, as when the sampler was late.
func drawn(seed uint32, stretches, each int, common, outliers float64) []reading {
	key := stream.NewKey(1, seed, 5)
	var list []reading
	for s := range stretches {
		together := common * stream.Normal(key.Uniform(uint32(s), 0))
		for i := range each {
			n := uint32(s*each + i)
			off := together + stream.Normal(key.Uniform(n, 1))
			if key.Uniform(n, 2) < outliers {
				off *= 30
			}
			r := reading{counts: make([]float64, ofOneKind.count()), bytes: 1000 + off, stretch: s}
			r.counts[offset], r.counts[ofOneKind.class(0, vectors)] = 1, 1
			list = append(list, r)
		}
	}
	return list
}

// with counts a column in every so many readings, which then hold that many bytes more.
func with(list []reading, column, every int, bytes float64) []reading {
	for i := range list {
		if i%every == 0 {
			list[i].counts[column] = 1
			list[i].bytes += bytes
		}
	}
	return list
}

func basisOf(plain ...int) *basis { return &basis{columns: ofOneKind, plain: plain} }

// estimated returns the estimate of the unknowns of a basis.
func estimated(t *testing.T, b *basis, readings []reading) *estimate {
	t.Helper()
	est, err := estimateFootprints(b, readings)
	if err != nil {
		t.Fatal(err)
	}
	return est
}

// The interval of a mean is Student's, whatever the way to it.
func TestTheIntervalOfOneUnknownIsThatOfAMean(t *testing.T) {
	readings := drawn(3, 5, 1, 0, 0)
	mean, squares := 0.0, 0.0
	for _, r := range readings {
		mean += r.bytes / 5
	}
	for _, r := range readings {
		squares += (r.bytes - mean) * (r.bytes - mean)
	}
	est := &estimate{basis: basisOf(ofOneKind.class(0, vectors)), x: []float64{mean}, weights: []float64{1, 1, 1, 1, 1}}
	deviations, err := est.errors(newEquations(readings, est.weights, ofOneKind.count()), readings)
	if err != nil {
		t.Fatal(err)
	}
	const quantile = 2.776 // of Student's distribution with 4 degrees of freedom at 0.975, from a table
	if got, want := half*deviations[0], quantile*math.Sqrt(squares/4/5); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("the interval is %.4f to either side, want %.4f", got, want)
	}
}

// Intervals of 95 % hold the truth about as often, where readings are far off and where those of a stretch err together.
func TestIntervalsOfFootprintsHold(t *testing.T) {
	const runs = 400
	for _, c := range []struct {
		name             string
		stretches, each  int
		common, outliers float64
	}{
		{"independent", 60, 1, 0, 0},
		{"some far off", 60, 1, 0, 0.2},
		{"together in stretches", 12, 10, 3, 0},
	} {
		inside, squares, plain := 0, 0.0, 0.0
		for run := range uint32(runs) {
			readings := drawn(run, c.stretches, c.each, c.common, c.outliers)
			est := estimated(t, basisOf(ofOneKind.class(0, vectors)), readings)
			if off := math.Abs(est.x[0] - 1000); off <= half*est.deviations[0] {
				inside++
			}
			squares += (est.x[0] - 1000) * (est.x[0] - 1000)
			mean := 0.0
			for _, r := range readings {
				mean += (r.bytes - 1000) / float64(len(readings))
			}
			plain += mean * mean
		}
		// 380 are expected; 17 more or less are four standard deviations.
		if inside < 363 || inside > 397 {
			t.Errorf("%s: the truth is in %d of %d intervals of 95 %%", c.name, inside, runs)
		}
		if ratio := math.Sqrt(squares / plain); c.outliers > 0 && ratio > 0.3 {
			t.Errorf("%s: the estimate is off by %.2f of what the mean is, want far less", c.name, ratio)
		}
	}
}

// What had rather be nothing is left out unless its interval excludes that.
func TestWhatMayBeNothingIsLeftOut(t *testing.T) {
	own := ofOneKind.stage(0, model.Kernel)
	left := 0
	const runs = 300
	for run := range uint32(runs) {
		readings := with(drawn(run, 24, 1, 0, 0), own, 2, 0)
		est := estimated(t, basisOf(ofOneKind.class(0, vectors), own), readings)
		if q, there := est.column(own); there {
			left++
			if q.Low <= 0 && est.x[1] < half*est.deviations[1] {
				t.Fatalf("run %d: the kernel is said to hold %.2f bytes with a standard error of %.2f", run, est.x[1], est.deviations[1])
			}
		}
	}
	if left > runs/10 {
		t.Errorf("in %d of %d runs a kernel that holds nothing is said to hold something", left, runs)
	}
	readings := with(drawn(1, 24, 1, 0, 0), own, 2, 20)
	if est := estimated(t, basisOf(ofOneKind.class(0, vectors), own), readings); len(est.x) != 2 || math.Abs(est.x[1]-20) > 2 {
		t.Errorf("a kernel that holds 20 bytes: the unknowns are %v", est.x)
	}
	// Two readings are no evidence, whatever they say.
	readings = with(drawn(1, 24, 1, 0, 0), own, 12, 20)
	if est := estimated(t, basisOf(ofOneKind.class(0, vectors), own), readings); len(est.x) != 1 {
		t.Errorf("a kernel that two readings met: the unknowns are %v", est.x)
	}
}

// Memory that is always seen together is put down to the blocks.
func TestWhatIsAlwaysSeenTogetherIsTheBlocks(t *testing.T) {
	own := ofOneKind.stage(0, model.Kernel)
	est := estimated(t, basisOf(offset, ofOneKind.class(0, vectors), own), with(drawn(1, 24, 1, 0, 0), own, 1, 0))
	if want := []int{ofOneKind.class(0, vectors)}; !slices.Equal(est.basis.plain, want) || math.Abs(est.x[0]-1000) > 2 {
		t.Errorf("columns %v hold %v, want 1000 bytes in %v", est.basis.plain, est.x, want)
	}
}

// What is held beside a block whose size is told has its interval about both.
func TestWhatIsToldMovesTheWholeInterval(t *testing.T) {
	column := ofOneKind.class(0, vectors)
	b := basisOf(column)
	b.told = map[int]model.Bytes{column: 1000}
	est := &estimate{basis: b, x: []float64{50}, deviations: []float64{10}}
	if q, there := est.column(column); !there || q.Value != 1050 || q.Low != 1030 || q.High != 1070 {
		t.Errorf("%+v, want 1050 from 1030 to 1070", q)
	}
}

// Of blocks that are hardly ever seen while they are freed nothing is said.
func TestFreeingThatIsNotSeenIsNotTold(t *testing.T) {
	freeing := ofOneKind.class(0, freeingVectors)
	for every, told := range map[int]bool{2: true, 25: false} { // of 60 readings: 30 and 3
		readings := with(drawn(1, 60, 1, 0, 0), freeing, every, 300)
		est := estimated(t, basisOf(ofOneKind.class(0, vectors), freeing), readings)
		got := est.heldWhileFreed(0, readings)
		if (got != nil) != told || told && math.Abs(got.Value-0.3) > 0.01 {
			t.Errorf("seen in one reading of %d: held are %+v, told: %v", every, got, told)
		}
	}
}

// Of the corners of a ramp those stay at which it turns.
func TestARampKeepsTheCornersAtWhichItTurns(t *testing.T) {
	const n = 400
	key := stream.NewKey(1, 0, 6)
	for _, turns := range [][]int{{0, grid}, {0, 8, grid}, {0, 4, 14, grid}} {
		height := func(place float64) float64 { // up to 100 at every other turn
			for i := 1; ; i++ {
				from, to := float64(turns[i-1]), float64(turns[i])
				if place <= to {
					part := (place - from) / (to - from)
					if i%2 == 0 {
						part = 1 - part
					}
					return 100 * part
				}
			}
		}
		b := basisOf()
		all := make([]int, grid+1)
		for g := range all {
			all[g] = g
		}
		b.corners = [][]int{all}
		var readings []reading
		for i := range uint32(n) {
			place := grid * key.Uniform(i, 0)
			r := reading{counts: make([]float64, ofOneKind.count()), bytes: height(place) + stream.Normal(key.Uniform(i, 1)), stretch: int(i) / 10}
			corner := min(int(place), grid-1)
			r.counts[ofOneKind.ramp(0, corner)] = 1 - (place - float64(corner))
			r.counts[ofOneKind.ramp(0, corner+1)] = place - float64(corner)
			readings = append(readings, r)
		}
		est := estimated(t, b, readings)
		missing := func(g int) bool { return !slices.Contains(est.basis.corners[0], g) }
		if got := est.basis.corners[0]; slices.ContainsFunc(turns, missing) || len(got) > len(turns)+1 {
			t.Errorf("the corners are %v, want %v and at most one that chance left in", got, turns)
		}
	}
}

// What is held while blocks are freed is no more than they are.
func TestNoMoreIsHeldWhileFreeingThanThereIs(t *testing.T) {
	block, freeing := ofOneKind.class(0, vectors), ofOneKind.class(0, freeingVectors)
	readings := with(drawn(1, 40, 1, 0, 0), freeing, 2, 980)
	est := &estimate{basis: basisOf(block, freeing), x: []float64{1000, 980}, deviations: []float64{10, 30}}
	if got := est.heldWhileFreed(0, readings); got == nil || got.Value != 0.98 || got.High != 1 {
		t.Errorf("%+v, want 0.98 up to 1", got)
	}
	if est.x[1] = 1001; est.heldWhileFreed(0, readings) != nil {
		t.Errorf("%+v: all is held to the end, which needs no number", est.heldWhileFreed(0, readings))
	}
}
