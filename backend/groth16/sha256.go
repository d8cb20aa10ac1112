package groth16

import (
	"encoding/binary"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark/frontend"
)

// A node of a SHA-256 tree is the compression of its children under the initial state: one block and no padding,
// which is for messages of any length and these have one. The leaves are full SHA-256 digests.
var sha256Family = &family{
	once:    extent{constraints: 1, wires: 5, inA: 2, inB: 2},
	opening: extent{constraints: 259, wires: 257, inA: 256, inB: 256},
	level:   extent{constraints: 26709, wires: 26525, inA: 16945, inB: 6945},
	leaf:    func(digest node) node { return digest },
	hasher:  newSHA256Hasher,
	gadget:  newSHA256Gadget,
	values:  (*node).bits,
	public:  (*node).halves,
}

// sha256IV is SHA-256's initial state (FIPS 180-4, 5.3.3).
var sha256IV = [8]uint32{
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
}

// sha256K is SHA-256's round constants (FIPS 180-4, 4.2.2).
var sha256K = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// sha256Block compresses a block into the state. The standard library does not export this step.
func sha256Block(state *[8]uint32, block *[16]uint32) {
	var w [64]uint32
	copy(w[:], block[:])
	for t := 16; t < 64; t++ {
		x, y := w[t-15], w[t-2]
		s0 := bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3
		s1 := bits.RotateLeft32(y, -17) ^ bits.RotateLeft32(y, -19) ^ y>>10
		w[t] = w[t-16] + s0 + w[t-7] + s1
	}
	a, b, c, d, e, f, g, h := state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
	for t := range w {
		s1 := bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)
		t1 := h + s1 + (e&f ^ ^e&g) + sha256K[t] + w[t]
		s0 := bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)
		t2 := s0 + (a&b ^ a&c ^ b&c)
		h, g, f, e, d, c, b, a = g, f, e, d+t1, c, b, a, t1+t2
	}
	for i, v := range [8]uint32{a, b, c, d, e, f, g, h} {
		state[i] += v
	}
}

func newSHA256Hasher() func(left, right *node) node {
	return func(left, right *node) (parent node) {
		state := sha256IV
		var block [16]uint32
		for i := range 8 {
			block[i] = binary.BigEndian.Uint32(left[4*i:])
			block[8+i] = binary.BigEndian.Uint32(right[4*i:])
		}
		sha256Block(&state, &block)
		for i, word := range state {
			binary.BigEndian.PutUint32(parent[4*i:], word)
		}
		return parent
	}
}

// bits returns the node's bits as variables, the highest bit of the first byte first.
func (n *node) bits() []frontend.Variable {
	vs := make([]frontend.Variable, 8*nodeBytes)
	for i := range vs {
		vs[i] = n[i/8] >> (7 - i%8) & 1
	}
	return vs
}

// halves returns the node as two integers of 128 bits, each below the field's modulus.
func (n *node) halves() []fr.Element {
	halves := make([]fr.Element, 2)
	halves[0].SetBytes(n[:nodeBytes/2])
	halves[1].SetBytes(n[nodeBytes/2:])
	return halves
}
