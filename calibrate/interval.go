package calibrate

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"headroom/model"
	"headroom/model/profile"
)

// half is half the width of a 95 % interval in standard errors.
const half = 1.959963984540054

// student returns by what factor a 95 % interval widens because its standard error was estimated with so many degrees
// of freedom: Student's quantile over the normal one. Below one degree it stays at that of one.
func student(df float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: max(1, df)}.Quantile(0.975) / half
}

// deviation returns the standard error of a sum of shifts, one of each independent cluster, by which so many numbers
// were fitted. The fit takes some of the scatter with it, which the factor of CR1 gives back (Cameron and Miller 2015,
// "A practitioner's guide to cluster-robust inference"); the standard error is one for a normal interval.
func deviation(shifts []float64, numbers int) float64 {
	sum, clusters := 0.0, 0
	for _, s := range shifts {
		sum += s * s
		if s != 0 {
			clusters++
		}
	}
	df := float64(max(1, clusters-numbers))
	return math.Sqrt(sum*float64(clusters)/df) * student(df)
}

// meanInterval returns a mean in nanoseconds with the 95 % interval of its standard error.
func meanInterval(mean, deviation float64) profile.Quantity[model.Span] {
	return profile.Quantity[model.Span]{
		Value: span(mean), Low: span(max(0, mean-half*deviation)), High: span(mean + half*deviation),
		Source: profile.Derived,
	}
}

func span(ns float64) model.Span { return model.Span(math.Round(ns)) }

// ranged returns a fitted number with its 95 % interval.
func ranged(value, deviation float64) profile.Quantity[float64] {
	return profile.Quantity[float64]{
		Value: value, Low: max(0, value-half*deviation), High: value + half*deviation, Source: profile.Fitted,
	}
}
