package stream_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"headroom/model/stream"
)

// The tests are of fixed seeds: what they find is a property of the hash, and does not change from run to run.

const draws = 1 << 16

// families are ways to go through the draws: along each argument, and along what a key is made of.
var families = map[string]func(i uint32) float64{
	"along a":               func(i uint32) float64 { return stream.NewKey(1, 0, 2).Uniform(i, 0) },
	"along b":               func(i uint32) float64 { return stream.NewKey(1, 0, 2).Uniform(7, i) },
	"along the seed":        func(i uint32) float64 { return stream.NewKey(uint64(i), 0, 2).Uniform(0, 0) },
	"along the replication": func(i uint32) float64 { return stream.NewKey(1, i, 2).Uniform(0, 0) },
	"along the purpose":     func(i uint32) float64 { return stream.NewKey(1, 0, i).Uniform(0, 0) },
	"along high bits of b":  func(i uint32) float64 { return stream.NewKey(1, 0, 2).Uniform(0, i<<16) },
	"jobs of 4 partitions":  func(i uint32) float64 { return stream.NewKey(0, 0, 0).Uniform(i/4, i%4) },
}

// tail is the probability that chi-square with n degrees of freedom is further out than x, on the nearer side
// counted twice: draws that are too even are as suspicious as uneven ones.
func tail(x, n float64) float64 {
	p := distuv.ChiSquared{K: n}.Survival(x)
	return 2 * min(p, 1-p)
}

func TestUniform(t *testing.T) {
	const cells = 256
	for name, draw := range families {
		var counts [cells]float64
		for i := range uint32(draws) {
			u := draw(i)
			if !(u > 0 && u < 1) {
				t.Fatalf("%s: draw %d is %v: strictly between 0 and 1", name, i, u)
			}
			counts[int(u*cells)]++
		}
		x := 0.0
		for _, n := range counts {
			x += (n - draws/cells) * (n - draws/cells) / (draws / cells)
		}
		if p := tail(x, cells-1); p < 1e-4 {
			t.Errorf("%s: chi-square %.0f of %d cells, probability %.2g", name, x, cells, p)
		}
	}
}

// Neighbours know nothing of each other: pairs of them are spread evenly over the square.
func TestNeighboursAreIndependent(t *testing.T) {
	const side = 16
	for name, draw := range families {
		var counts [side * side]float64
		for i := range uint32(draws) {
			counts[int(draw(i)*side)*side+int(draw(i+1)*side)]++
		}
		x := 0.0
		for _, n := range counts {
			const expected = draws / (side * side)
			x += (n - expected) * (n - expected) / expected
		}
		// Overlapping pairs have as many degrees of freedom as the pairs add to the single draws.
		if p := tail(x, side*side-side); p < 1e-4 {
			t.Errorf("%s: chi-square %.0f of pairs, probability %.2g", name, x, p)
		}
	}
}

// One bit of an argument changes half of the bits of the draw.
func TestEveryBitMatters(t *testing.T) {
	for bit := range 64 {
		flips := 0
		for i := range uint32(2000) {
			key := stream.NewKey(uint64(i), 3, 4)
			a, b := i*2654435761, i*40503
			x := uint64(1) << bit
			other := key.Bits(a^uint32(x>>32), b^uint32(x))
			for d := key.Bits(a, b) ^ other; d != 0; d &= d - 1 {
				flips++
			}
		}
		// 128,000 fair coins have a standard deviation of 179.
		if off := math.Abs(float64(flips) - 64_000); off > 5*179 {
			t.Errorf("bit %d changes %d of 128000 bits: half, within 895", bit, flips)
		}
	}
}

// A draw is what it always was, so that recorded seeds keep their meaning, and it does not depend on what other
// draws there are.
func TestDrawsAreFunctionsOfTheirArguments(t *testing.T) {
	key := stream.NewKey(42, 1, 5)
	first := key.Uniform(10, 3)
	stream.NewKey(42, 1, 6).Uniform(10, 3)
	key.Uniform(11, 3)
	if again := stream.NewKey(42, 1, 5).Uniform(10, 3); again != first {
		t.Errorf("a draw was %v and is %v", first, again)
	}
	if got, want := key.Bits(10, 3), uint64(0xf0ae9a838cba247); got != want {
		t.Errorf("the bits of a draw are %#x and were %#x", got, want)
	}
}

// The table of normal quantiles is off by less than 1.5e-4 standard deviations, and symmetric about 0.
func TestNormalQuantile(t *testing.T) {
	worst := 0.0
	for i := range 1 << 20 {
		u := (float64(i) + 0.5) / (1 << 20)
		got := stream.Normal(u)
		worst = max(worst, math.Abs(got-distuv.UnitNormal.Quantile(u)))
		if mirrored := stream.Normal(1 - u); math.Abs(got+mirrored) > 1e-9 {
			t.Fatalf("at %v and its mirror image the quantiles are %v and %v", u, got, mirrored)
		}
	}
	if worst > 1.5e-4 {
		t.Errorf("off by %v: at most 1.5e-4", worst)
	}
	for _, u := range []float64{0x1p-54, 1e-12, 1e-6, 1 - 1e-12} {
		got, want := stream.Normal(u), distuv.UnitNormal.Quantile(u)
		if math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("at %v the quantile is %v: want %v", u, got, want)
		}
	}
}

// Means and deviations come out within five standard errors.
func TestDistributions(t *testing.T) {
	key := stream.NewKey(9, 0, 1)
	for _, c := range []struct {
		name           string
		draw           func(u float64) float64
		mean, variance float64
	}{
		{"normal", stream.Normal, 0, 1},
		{"exponential", stream.Exponential, 1, 1},
	} {
		values := make([]float64, draws)
		for i := range values {
			values[i] = c.draw(key.Uniform(uint32(i), 0))
		}
		mean, variance := stat.MeanVariance(values, nil)
		if off := math.Abs(mean - c.mean); off > 5/math.Sqrt(draws) {
			t.Errorf("%s: mean %v, want %v", c.name, mean, c.mean)
		}
		// The variance of a square is 2 for the normal and 8 for the exponential distribution.
		if off := math.Abs(variance - c.variance); off > 5*math.Sqrt(8.0/draws) {
			t.Errorf("%s: variance %v, want %v", c.name, variance, c.variance)
		}
	}
}

func BenchmarkUniform(b *testing.B) {
	key := stream.NewKey(1, 0, 2)
	sum := 0.0
	for i := uint32(0); b.Loop(); i++ {
		sum += key.Uniform(i, 0)
	}
	if sum == 0 {
		b.Fatal("no draw")
	}
}

func BenchmarkNormal(b *testing.B) {
	key := stream.NewKey(1, 0, 2)
	sum := 0.0
	for i := uint32(0); b.Loop(); i++ {
		sum += stream.Normal(key.Uniform(i, 0))
	}
	if sum == 0 {
		b.Fatal("no draw")
	}
}
