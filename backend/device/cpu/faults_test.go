package cpu_test

import (
	"bytes"
	"errors"
	"maps"
	"math/big"
	"sync"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr/fft"
	key "github.com/consensys/gnark/backend/groth16/bls12-381"

	"headroom/backend/device/cpu"
	"headroom/backend/groth16"
	"headroom/model"
)

// calls are those of sums, opening included.
var calls = []string{"open", "load vectors", "load assignment", "quotient", "assignment", "free"}

// faults has one call of all partitions' sums fail, and knows which sums are open.
type faults struct {
	t      *testing.T
	keys   []*key.ProvingKey // by kind
	call   string            // whose first time fails, for
	proofs uint16            // so many at once
	sticky bool              // what comes after it in the same sums fails too

	mu     sync.Mutex
	times  int
	opened int
	freed  int
}

func (f *faults) open(take model.Effect) (groth16.Sums, error) {
	s := &faultySums{faults: f, pk: f.keys[take.Kind], proofs: take.Proofs}
	if err := s.check("open"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	return s, nil
}

// faultySums are sums on the host.
type faultySums struct {
	*faults
	pk                *key.ProvingKey
	a, b, c           fr.Vector
	private, inA, inB fr.Vector
	proofs            uint16
	failed, gone      bool
}

// check counts a call and says whether it fails.
func (s *faultySums) check(call string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		s.t.Errorf("%s after free", call)
	}
	s.gone = call == "free"
	if call == s.call && s.proofs == s.faults.proofs {
		if s.times++; s.times == 1 {
			s.failed = true
			return errRefused
		}
	}
	if s.failed && s.sticky {
		return errRefused
	}
	return nil
}

func (s *faultySums) LoadVectors(a, b, c fr.Vector) error {
	s.a, s.b, s.c = a, b, c
	return s.check("load vectors")
}

func (s *faultySums) LoadAssignment(private, inA, inB fr.Vector) error {
	s.private, s.inA, s.inB = private, inA, inB
	return s.check("load assignment")
}

func (s *faultySums) Quotient() (sum curve.G1Jac, err error) {
	if err := s.check("quotient"); err != nil {
		return sum, err
	}
	domain := &s.pk.Domain
	for _, v := range []fr.Vector{s.a, s.b, s.c} {
		domain.FFTInverse(v, fft.DIF)
		domain.FFT(v, fft.DIT, fft.OnCoset())
	}
	var z fr.Element
	one := fr.One()
	z.Exp(domain.FrMultiplicativeGen, new(big.Int).SetUint64(domain.Cardinality)).Sub(&z, &one).Inverse(&z)
	s.a.Mul(s.a, s.b)
	s.a.Sub(s.a, s.c)
	s.a.ScalarMul(s.a, &z)
	domain.FFTInverse(s.a, fft.DIF, fft.OnCoset())
	_, err = sum.MultiExp(s.pk.G1.Z, s.a[:len(s.pk.G1.Z)], ecc.MultiExpConfig{})
	return sum, err
}

func (s *faultySums) Assignment() (sums groth16.AssignmentSums, err error) {
	if err := s.check("assignment"); err != nil {
		return sums, err
	}
	_, l := sums.L.MultiExp(s.pk.G1.K, s.private, ecc.MultiExpConfig{})
	_, a := sums.A.MultiExp(s.pk.G1.A, s.inA, ecc.MultiExpConfig{})
	_, b := sums.B1.MultiExp(s.pk.G1.B, s.inB, ecc.MultiExpConfig{})
	return sums, errors.Join(l, a, b)
}

func (s *faultySums) Free() error {
	s.mu.Lock()
	s.freed++
	s.mu.Unlock()
	return s.check("free")
}

// Whichever call of a partition's sums fails, and whatever fails after it, the run ends, its own job or batch fails, all
// other proofs are right, and nothing is held: sums that were opened are freed once.
func TestAFaultCostsItsJobAndNoOther(t *testing.T) {
	want := prove(t, plain()).proofs
	for name, set := range map[string]func(*model.Config){
		"lock for the kernel": func(*model.Config) {},
		// All sums of a batch are open when its first kernel begins.
		"batch from a pool, lock for the call": func(c *model.Config) {
			c.GPU.Lock, c.GPU.Prep, c.GPU.Split = model.LockCall, "", false
			c.JobsInFlight, c.Pool, c.Batch = 4, model.PoolRetain, &model.Batch{Size: 2, Wait: model.Millisecond}
		},
	} {
		config := plain()
		set(&config)
		for _, call := range calls {
			t.Run(name+", "+call, func(t *testing.T) {
				f := &faults{t: t, call: call, proofs: 1}
				if config.Batch != nil {
					f.proofs, f.sticky = uint16(config.Batch.Size), true
				}
				f.prove(config, want)
			})
		}
	}
}

// prove judges a run with one fault.
func (f *faults) prove(config model.Config, want map[int32][]byte) {
	got := proveWith(f.t, config, func(s *cpu.Setup) {
		for _, k := range s.Kinds {
			f.keys = append(f.keys, k.Keys.Proving())
		}
		s.Sums = f.open
	})
	right := maps.Clone(want)
	maps.DeleteFunc(right, func(job int32, _ []byte) bool { return got.proofs[job] == nil })
	if lost := len(want) - len(right); lost == 0 || lost > int(max(1, got.joined)) {
		f.t.Errorf("%d of %d jobs are lost, want one or a batch", lost, len(want))
	}
	if !maps.EqualFunc(got.proofs, right, bytes.Equal) {
		f.t.Error("the proofs of other jobs differ from those without a fault")
	}
	if f.freed != f.opened {
		f.t.Errorf("%d sums are opened and %d freed", f.opened, f.freed)
	}
	if len(got.failures) == 0 {
		f.t.Error("no stage failed")
	}
	for _, err := range got.failures {
		if !errors.Is(err, errRefused) {
			f.t.Errorf("there is another failure: %v", err)
		}
	}
}
