package groth16

import (
	"math/bits"
	"slices"

	"github.com/consensys/gnark/frontend"
	gnarkbits "github.com/consensys/gnark/std/math/bits"
)

// word is 32 boolean variables, the lowest bit first.
type word [32]frontend.Variable

// sha256Gadget compresses SHA-256 blocks bit by bit, without lookups: those need a commitment, and a proof with
// one is longer than 192 bytes. A node is 256 boolean variables, in the order of (*node).bits.
type sha256Gadget struct{ api frontend.API }

func newSHA256Gadget(api frontend.API) (gadget, error) { return &sha256Gadget{api}, nil }

func (g *sha256Gadget) assertNode(n []frontend.Variable) {
	for _, bit := range n {
		g.api.AssertIsBoolean(bit)
	}
}

func (g *sha256Gadget) public(n []frontend.Variable) []frontend.Variable {
	lowestFirst := slices.Clone(n)
	slices.Reverse(lowestFirst)
	half := len(n) / 2
	return []frontend.Variable{
		g.api.FromBinary(lowestFirst[half:]...),
		g.api.FromBinary(lowestFirst[:half]...),
	}
}

func (g *sha256Gadget) parent(n, sibling []frontend.Variable, right frontend.Variable) []frontend.Variable {
	children := make([]frontend.Variable, 2*len(n))
	for i := range n {
		left := g.api.Select(right, sibling[i], n[i])
		children[i] = left
		children[len(n)+i] = g.api.Sub(g.api.Add(n[i], sibling[i]), left)
	}
	// Both are one of two booleans, which the compiler cannot see.
	for _, bit := range children {
		g.api.Compiler().MarkBoolean(bit)
	}
	var block [16]word
	for i := range block {
		block[i] = wordOf(children[32*i : 32*i+32])
	}
	var state [8]word
	for i := range state {
		state[i] = constant(sha256IV[i])
	}
	g.compress(&state, &block)
	parent := make([]frontend.Variable, 0, len(n))
	for _, w := range state {
		slices.Reverse(w[:])
		parent = append(parent, w[:]...)
	}
	return parent
}

// compress is sha256Block on variables.
func (g *sha256Gadget) compress(state *[8]word, block *[16]word) {
	var w [64]word
	copy(w[:], block[:])
	for t := 16; t < 64; t++ {
		x, y := &w[t-15], &w[t-2]
		s0 := g.xor3(rotate(x, 7), rotate(x, 18), shift(x, 3))
		s1 := g.xor3(rotate(y, 17), rotate(y, 19), shift(y, 10))
		w[t] = g.sum(0, w[t-16], s0, w[t-7], s1)
	}
	a, b, c, d, e, f, gg, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
	for t := range w {
		s1 := g.xor3(rotate(&e, 6), rotate(&e, 11), rotate(&e, 25))
		s0 := g.xor3(rotate(&a, 2), rotate(&a, 13), rotate(&a, 22))
		var choice, majority word
		for i := range choice {
			choice[i] = g.api.Select(e[i], f[i], gg[i])
			majority[i] = g.api.Select(g.api.Xor(a[i], b[i]), c[i], a[i])
		}
		newE := g.sum(sha256K[t], d, h, s1, choice, w[t])
		newA := g.sum(sha256K[t], h, s1, choice, w[t], s0, majority)
		h, gg, f, e, d, c, b, a = gg, f, e, newE, c, b, a, newA
	}
	for i, v := range [8]word{a, b, c, d, e, f, gg, h} {
		state[i] = g.sum(0, state[i], v)
	}
}

// sum returns k plus the words modulo 2^32.
func (g *sha256Gadget) sum(k uint32, words ...word) word {
	terms := make([]frontend.Variable, 0, 32*len(words))
	for _, w := range words {
		for i, bit := range w {
			terms = append(terms, g.api.Mul(bit, uint64(1)<<i))
		}
	}
	total := g.api.Add(k, terms[0], terms[1:]...)
	// The total is at most len(words)+1 times 2^32-1.
	digits := 32 + bits.Len(uint(len(words)))
	var low word
	copy(low[:], gnarkbits.ToBinary(g.api, total, gnarkbits.WithNbDigits(digits)))
	return low
}

func (g *sha256Gadget) xor3(x, y, z word) (out word) {
	for i := range out {
		out[i] = g.api.Xor(g.api.Xor(x[i], y[i]), z[i])
	}
	return out
}

func rotate(x *word, n int) (out word) {
	for i := range out {
		out[i] = x[(i+n)%32]
	}
	return out
}

func shift(x *word, n int) (out word) {
	for i := range out {
		out[i] = frontend.Variable(0)
		if i+n < 32 {
			out[i] = x[i+n]
		}
	}
	return out
}

// wordOf makes a word of 32 bits, the highest first.
func wordOf(highestFirst []frontend.Variable) (w word) {
	copy(w[:], highestFirst)
	slices.Reverse(w[:])
	return w
}

func constant(value uint32) (w word) {
	for i := range w {
		w[i] = value >> i & 1
	}
	return w
}
