package groth16

import (
	"bytes"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// generators is a well-formed proof of nothing.
func generators() Proof {
	_, _, g1, g2 := curve.Generators()
	return encodeProof(&g1, &g1, &g2)
}

func TestProofIsHowGnarksEncodingBegins(t *testing.T) {
	p := generators()
	decoded, err := p.decode()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := decoded.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(p[:], b.Bytes()[:ProofSize]) {
		t.Errorf("the encoding is %x, and gnark's begins with %x", p, b.Bytes()[:ProofSize])
	}
}

func FuzzProof(f *testing.F) {
	p := generators()
	f.Add(p[:])
	f.Add(make([]byte, ProofSize))
	f.Add(bytes.Repeat([]byte{0xff}, ProofSize))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p Proof
		copy(p[:], raw)
		decoded, err := p.decode()
		if err != nil {
			return
		}
		if again := encodeProof(&decoded.Ar, &decoded.Krs, &decoded.Bs); again != p {
			t.Errorf("two encodings of one proof: %x and %x", p, again)
		}
	})
}
