package cuda

import (
	"bytes"
	cryptorand "crypto/rand"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
	cs "github.com/consensys/gnark/constraint/bls12-381"
)

// drawn makes gnark's setup and ours draw the same secrets.
func drawn(t *testing.T, f func()) {
	t.Helper()
	reader := cryptorand.Reader
	defer func() { cryptorand.Reader = reader }()
	cryptorand.Reader = rand.NewChaCha8([32]byte{1})
	f()
}

// written returns a key as gnark writes it.
func written(t *testing.T, key interface {
	WriteRawTo(io.Writer) (int64, error)
}) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := key.WriteRawTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type setupFunc func(*cs.R1CS, Secrets) (*groth16.ProvingKey, *groth16.VerifyingKey, error)

// checkSetup compares keys with those of gnark's setup.
func checkSetup(t *testing.T, length int, ours setupFunc) {
	t.Helper()
	system := compile(t, length)
	wantPK, wantVK := new(groth16.ProvingKey), new(groth16.VerifyingKey)
	var secrets Secrets
	drawn(t, func() {
		if err := groth16.Setup(system, wantPK, wantVK); err != nil {
			t.Fatal(err)
		}
	})
	drawn(t, func() {
		var err error
		if secrets, err = NewSecrets(); err != nil {
			t.Fatal(err)
		}
	})
	pk, vk, err := ours(system, secrets)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written(t, pk), written(t, wantPK)) {
		t.Errorf("length %d: the proving key differs from gnark's", length)
	}
	if !bytes.Equal(written(t, vk), written(t, wantVK)) {
		t.Errorf("length %d: the verifying key differs from gnark's", length)
	}
}

// TestSetupEqualsGnark multiplies on the host: the scalars and their order are what it holds.
func TestSetupEqualsGnark(t *testing.T) {
	_, _, base1, base2 := curve.Generators()
	onHost := func(system *cs.R1CS, s Secrets) (*groth16.ProvingKey, *groth16.VerifyingKey, error) {
		return setup(system, s,
			func(k []fr.Element) ([]curve.G1Affine, error) {
				return curve.BatchScalarMultiplicationG1(&base1, k), nil
			},
			func(k []fr.Element) ([]curve.G2Affine, error) {
				return curve.BatchScalarMultiplicationG2(&base2, k), nil
			})
	}
	for _, length := range []int{1, 2, 5, 30} {
		checkSetup(t, length, onHost)
	}
}

func TestSetupOnCardEqualsGnark(t *testing.T) {
	c := openCard(t)
	for _, length := range []int{1, 30, 1000} {
		checkSetup(t, length, c.card.Setup)
	}
}

// BenchmarkSetup makes keys on the card, the evaluations on the host included.
func BenchmarkSetup(b *testing.B) {
	for _, log := range []int{18, 20, 22} {
		b.Run(fmt.Sprint(log), func(b *testing.B) {
			c := openCard(b)
			system := compile(b, 1<<log-2)
			secrets, err := NewSecrets()
			c.must(err)
			for b.Loop() {
				_, _, err := c.card.Setup(system, secrets)
				c.must(err)
			}
		})
	}
}
