package stream

import "math"

// Exp and logarithm are computed from small tables and the first terms of their series: the draws need no more than
// ten digits, and full precision takes several times as long.

const (
	expBits = 6 // the table of exp has 2^expBits entries for each doubling
	logBits = 7 // the table of the logarithm likewise
)

// powers[i] is 2^(i/64).
var powers = func() (table [1 << expBits]float64) {
	for i := range table {
		table[i] = math.Exp2(float64(i) / (1 << expBits))
	}
	return table
}()

// nodes are the numbers 1 + i/128 from 1 to 2, with what the logarithm needs of them.
var nodes = func() (table [1<<logBits + 1]struct{ inverse, log float64 }) {
	for i := range table {
		x := 1 + float64(i)/(1<<logBits)
		table[i].inverse, table[i].log = 1/x, math.Log(x)
	}
	return table
}()

// Exp returns e^x to within 1e-10 of itself, for x between -700 and 700.
func Exp(x float64) float64 {
	// Adding this constant leaves the whole number nearest to the other summand in the low bits.
	const whole = 0x1.8p52
	shifted := x*((1<<expBits)/math.Ln2) + whole
	n := int64(math.Float64bits(shifted)) << 12 >> 12
	r := x - (shifted-whole)*(math.Ln2/(1<<expBits))
	scale := math.Float64frombits(math.Float64bits(powers[n&(1<<expBits-1)]) + uint64(n>>expBits)<<52)
	return scale * (1 + r*(1+r*(1.0/2+r*(1.0/6))))
}

// log returns the logarithm of a normal positive number to within 1e-10 of itself.
func log(x float64) float64 {
	const mantissa = 52
	b := math.Float64bits(x)
	exponent := float64(int64(b>>mantissa) - 1023)
	m := math.Float64frombits(b&(1<<mantissa-1) | 1023<<mantissa)
	node := &nodes[(b>>(mantissa-logBits-1)&(1<<(logBits+1)-1)+1)/2]
	r := m*node.inverse - 1
	return exponent*math.Ln2 + node.log + r*(1-r*(1.0/2-r*(1.0/3-r*(1.0/4))))
}
