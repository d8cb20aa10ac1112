package explain

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// game is what each set of k players is worth.
type game struct {
	k      int
	values []*big.Rat
}

func (g *game) value(set int) *big.Rat { return g.values[set] }

func drawGame(t *rapid.T, most int) *game {
	k := rapid.IntRange(1, most).Draw(t, "players")
	g := &game{k: k}
	for range 1 << k {
		g.values = append(g.values, drawRat(t))
	}
	return g
}

func drawRat(t *rapid.T) *big.Rat {
	return big.NewRat(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "numerator"), rapid.Int64Range(1, 20).Draw(t, "denominator"))
}

// byOrders is the definition: the mean over all orders of what a player adds to those before it.
func byOrders(g *game) []*big.Rat {
	shares, orders := make([]*big.Rat, g.k), int64(0)
	for i := range shares {
		shares[i] = new(big.Rat)
	}
	var visit func(set int, turned []int)
	visit = func(set int, turned []int) {
		if len(turned) == g.k {
			orders++
			before := 0
			for _, i := range turned {
				shares[i].Add(shares[i], new(big.Rat).Sub(g.value(before|1<<i), g.value(before)))
				before |= 1 << i
			}
			return
		}
		for i := range g.k {
			if set&(1<<i) == 0 {
				visit(set|1<<i, append(turned, i))
			}
		}
	}
	visit(0, nil)
	for _, s := range shares {
		s.Quo(s, new(big.Rat).SetInt64(orders))
	}
	return shares
}

func TestSharesAreMeansOverAllOrders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGame(t, 5)
		want := byOrders(g)
		for i, got := range shapley(g.k, g.value) {
			if got.Cmp(want[i]) != 0 {
				t.Fatalf("knob %d has the share %s, want %s", i, got, want[i])
			}
		}
	})
}

func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGame(t, MaxKnobs)
		sum := new(big.Rat)
		for _, s := range shapley(g.k, g.value) {
			sum.Add(sum, s)
		}
		if want := new(big.Rat).Sub(g.values[len(g.values)-1], g.values[0]); sum.Cmp(want) != 0 {
			t.Fatalf("the shares add up to %s, want %s", sum, want)
		}
	})
}

func TestAKnobThatChangesNothingHasNoShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGame(t, 6)
		idle := rapid.IntRange(0, g.k-1).Draw(t, "idle")
		value := func(set int) *big.Rat { return g.value(set &^ (1 << idle)) }
		if share := shapley(g.k, value)[idle]; share.Sign() != 0 {
			t.Fatalf("its share is %s", share)
		}
	})
}

func TestKnobsThatDoTheSameHaveEqualShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGame(t, 6)
		// The last two knobs of one more are worth the same to every set: what counts is how many of them are in it.
		k, extra := g.k+1, []*big.Rat{new(big.Rat), drawRat(t), drawRat(t)}
		a, b := g.k-1, g.k
		value := func(set int) *big.Rat {
			n := set>>a&1 + set>>b&1
			return new(big.Rat).Mul(g.value(set&(1<<a-1)), extra[n])
		}
		if shares := shapley(k, value); shares[a].Cmp(shares[b]) != 0 {
			t.Fatalf("the shares are %s and %s", shares[a], shares[b])
		}
	})
}

func drawShares(t *rapid.T) ([]*big.Rat, *big.Rat) {
	exact, sum := []*big.Rat{}, new(big.Rat)
	for range rapid.IntRange(1, 10).Draw(t, "shares") {
		r := drawRat(t)
		exact, sum = append(exact, r), sum.Add(sum, r)
	}
	return exact, sum
}

func TestRoundedSharesAddUpAndAreNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exact, sum := drawShares(t)
		// The total is a difference of two rounded numbers that are not negative and whose difference is the sum.
		from := big.NewRat(1<<50+rapid.Int64Range(0, 1<<40).Draw(t, "from"), rapid.Int64Range(1, 20).Draw(t, "divisor"))
		total := round(new(big.Rat).Add(from, sum)) - round(from)
		left := total
		for i, whole := range apportion(total, exact) {
			left -= whole
			off := new(big.Rat).Sub(exact[i], new(big.Rat).SetInt64(whole))
			if off.Abs(off).Cmp(big.NewRat(1, 1)) >= 0 {
				t.Fatalf("share %s is rounded to %d", exact[i], whole)
			}
		}
		if left != 0 {
			t.Fatalf("%d of %d are left", left, total)
		}
	})
}

func TestOppositeSharesAreRoundedToOppositeNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exact, sum := drawShares(t)
		total := round(sum)
		there, back := apportion(total, exact), apportion(-total, negated(exact))
		for i := range there {
			if there[i] != -back[i] {
				t.Fatalf("%s becomes %d, and its opposite %d", exact[i], there[i], back[i])
			}
		}
	})
}
