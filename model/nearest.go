package model

// Nearest returns the whole number nearest to x, which must be within the range of an int64; halves go away from
// zero. It is math.Round for the paths where that takes too long: it has no branch.
func Nearest(x float64) int64 {
	whole := int64(x)
	return whole + int64((x-float64(whole))*2)
}
