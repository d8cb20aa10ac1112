package stream

import (
	"math"
	"testing"
)

// relative returns how far off a value is, relative to what it should be.
func relative(got, want float64) float64 { return math.Abs(got-want) / math.Abs(want) }

func TestExp(t *testing.T) {
	for i := range 140_000 {
		x := float64(i-70_000)/100 + 0.00123
		if off := relative(Exp(x), math.Exp(x)); off > 1e-10 {
			t.Fatalf("e^%v is off by %v: at most 1e-10", x, off)
		}
	}
}

// Next to 1, where the logarithm is small, it is off by as small a part of it as elsewhere.
func TestLog(t *testing.T) {
	numbers := []float64{}
	for i := range 300_000 {
		numbers = append(numbers, (float64(i)+0.5)/100_000)
	}
	for e := range 52 {
		numbers = append(numbers, 1-math.Ldexp(1, -e-1), 1+math.Ldexp(1, -e), math.Ldexp(1.3, -e))
	}
	for _, x := range numbers {
		if off := relative(log(x), math.Log(x)); off > 1e-10 {
			t.Fatalf("the logarithm of %v is off by %v: at most 1e-10", x, off)
		}
	}
	if log(1) != 0 {
		t.Errorf("the logarithm of 1 is %v", log(1))
	}
}
