package explain

import (
	"math/big"
	"math/bits"
	"slices"
)

// shapley divides value(all) - value(none) among k knobs: each gets the mean of what turning it changes, over all
// orders in which the knobs can be turned (L. S. Shapley 1953, "A value for n-person games"). A set of knobs is a
// number whose bit i is knob i.
func shapley(k int, value func(set int) *big.Rat) []*big.Rat {
	shares := make([]*big.Rat, k)
	for i := range shares {
		shares[i] = new(big.Rat)
		for set := range 1 << k {
			if set&(1<<i) != 0 {
				continue
			}
			change := new(big.Rat).Sub(value(set|1<<i), value(set))
			shares[i].Add(shares[i], change.Mul(change, weight(bits.OnesCount(uint(set)), k)))
		}
	}
	return shares
}

// weight returns the part of all orders of k knobs in which the knobs of a set of that size come first and a certain
// other one next.
func weight(size, k int) *big.Rat {
	sets := new(big.Int).Binomial(int64(k-1), int64(size))
	return new(big.Rat).SetFrac(big.NewInt(1), sets.Mul(sets, big.NewInt(int64(k))))
}

// apportion rounds shares to whole numbers that add up to total, which is less than one away from their sum: each
// share is rounded down, and what is left goes to those that lost most, of equal ones the first. Shares of opposite
// signs are rounded to opposite numbers.
func apportion(total int64, exact []*big.Rat) []int64 {
	first := slices.IndexFunc(exact, func(r *big.Rat) bool { return r.Sign() != 0 })
	if first >= 0 && exact[first].Sign() < 0 {
		whole := apportion(-total, negated(exact))
		for i := range whole {
			whole[i] = -whole[i]
		}
		return whole
	}
	whole, lost, order := make([]int64, len(exact)), make([]*big.Rat, len(exact)), make([]int, len(exact))
	for i, r := range exact {
		floor := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: down for a positive divisor
		whole[i], order[i] = floor.Int64(), i
		lost[i] = new(big.Rat).Sub(r, new(big.Rat).SetInt(floor))
		total -= whole[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return lost[b].Cmp(lost[a]) })
	for _, i := range order[:total] {
		whole[i]++
	}
	return whole
}

func negated(list []*big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(list))
	for i, r := range list {
		out[i] = new(big.Rat).Neg(r)
	}
	return out
}

// round returns the nearest whole number; halves go away from zero, so that opposite numbers stay opposite.
func round(r *big.Rat) int64 {
	if r.Sign() < 0 {
		return -round(new(big.Rat).Neg(r))
	}
	twice := new(big.Int).Lsh(r.Num(), 1)
	twice.Add(twice, r.Denom())
	return twice.Div(twice, new(big.Int).Lsh(r.Denom(), 1)).Int64()
}
