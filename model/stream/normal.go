package stream

import "math"

// cells is the size of the table of normal quantiles. At 4,096 cells linear interpolation is off by less than
// 1.5e-4 standard deviations outside the tail cells, which are computed exactly.
const cells = 4096

// exactCells are the cells at each end that are not interpolated.
const exactCells = 16

var quantiles = func() (table [cells + 1]float64) {
	for i := 1; i < cells; i++ {
		table[i] = normal(float64(i) / cells)
	}
	return table
}()

// Normal turns a uniform number strictly between 0 and 1 into one of the standard normal distribution.
func Normal(u float64) float64 {
	x := u * cells
	i := int(x)
	if i < exactCells || i >= cells-exactCells {
		return normal(u)
	}
	low := quantiles[i]
	return low + (x-float64(i))*(quantiles[i+1]-low)
}

func normal(u float64) float64 { return math.Sqrt2 * math.Erfinv(2*u-1) }
