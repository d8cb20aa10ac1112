// Package stream makes random numbers that are functions of what they are for. There is no generator and no
// shared sequence: the draw for a stage of a partition depends on the seed and on that stage and partition
// alone, so that two configurations see the same draws and a new stage shifts nobody else's.
package stream

import "math/bits"

// Key names a family of draws: a seed, a replication of it, and the purpose of the draws.
type Key uint64

// NewKey returns the key of a purpose under a seed and a replication.
func NewKey(seed uint64, replication, purpose uint32) Key {
	return Key(mix(seed^0x9e3779b97f4a7c15, uint64(replication)<<32|uint64(purpose)))
}

// Bits returns the 64 random bits at (a, b) of the family.
func (k Key) Bits(a, b uint32) uint64 {
	return mix(uint64(k), uint64(a)<<32|uint64(b))
}

// Uniform returns the number at (a, b) of the family, strictly between 0 and 1 and symmetric about one half.
func (k Key) Uniform(a, b uint32) float64 {
	return (float64(k.Bits(a, b)>>11) + 0.5) * 0x1p-53
}

// mix hashes two words with two rounds of wide multiplication, each folding the high and the low half; the
// constants are odd and without structure (digits of the golden ratio and of pi).
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x243f6a8885a308d3, b^0x9e3779b97f4a7c15)
	x := hi ^ lo ^ b
	hi, lo = bits.Mul64(x^0x13198a2e03707345, 0xbf58476d1ce4e5b9^a)
	return hi ^ lo
}

// Exponential turns a uniform number into one of an exponential distribution with mean 1.
func Exponential(u float64) float64 { return -log(1 - u) }
