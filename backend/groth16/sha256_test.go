package groth16

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"pgregory.net/rapid"
)

// paddedBlock is the one block that a message of at most 55 bytes is padded to.
func paddedBlock(message []byte) (block [16]uint32) {
	padded := append(slices.Clone(message), 0x80)
	padded = append(padded, make([]byte, 56-len(padded))...)
	padded = binary.BigEndian.AppendUint64(padded, uint64(8*len(message)))
	for i := range block {
		block[i] = binary.BigEndian.Uint32(padded[4*i:])
	}
	return block
}

func TestNativeCompressionIsTheStandardLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.SliceOfN(rapid.Byte(), 0, 55).Draw(t, "message")
		state, block := sha256IV, paddedBlock(message)
		sha256Block(&state, &block)
		want := sha256.Sum256(message)
		for i, got := range state {
			if got != binary.BigEndian.Uint32(want[4*i:]) {
				t.Fatalf("word %d is %08x, the digest is %x", i, got, want)
			}
		}
	})
}

// blockCircuit states that Digest is the compression of Block under the initial state.
type blockCircuit struct {
	Block  [16]frontend.Variable
	Digest [8]frontend.Variable `gnark:",public"`
}

func (c *blockCircuit) Define(api frontend.API) error {
	g := &sha256Gadget{api}
	var state [8]word
	var block [16]word
	for i := range block {
		copy(block[i][:], api.ToBinary(c.Block[i], 32))
	}
	for i := range state {
		state[i] = constant(sha256IV[i])
	}
	g.compress(&state, &block)
	for i := range state {
		api.AssertIsEqual(api.FromBinary(state[i][:]...), c.Digest[i])
	}
	return nil
}

func TestGadgetCompressionIsTheStandardLibrarys(t *testing.T) {
	field := ecc.BLS12_381.ScalarField()
	system, err := frontend.Compile(field, r1cs.NewBuilder, new(blockCircuit))
	if err != nil {
		t.Fatal(err)
	}
	solved := func(c *blockCircuit) error {
		w, err := frontend.NewWitness(c, field)
		if err != nil {
			return err
		}
		return system.IsSolved(w)
	}
	for _, message := range []string{"", "abc", "fifty-five bytes are as many as one block has room for!"} {
		var c blockCircuit
		for i, w := range paddedBlock([]byte(message)) {
			c.Block[i] = w
		}
		digest := sha256.Sum256([]byte(message))
		for i := range c.Digest {
			c.Digest[i] = binary.BigEndian.Uint32(digest[4*i:])
		}
		if err := solved(&c); err != nil {
			t.Errorf("digest of %q: %v", message, err)
		}
		c.Digest[7] = binary.BigEndian.Uint32(digest[28:]) ^ 1
		if solved(&c) == nil {
			t.Errorf("a wrong digest of %q satisfies the circuit", message)
		}
	}
}
