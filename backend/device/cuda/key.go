package cuda

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"

	"headroom/model"
)

// The memory of gnark-crypto's points, which is the card's too.
const (
	g1Affine   = model.Bytes(unsafe.Sizeof(curve.G1Affine{}))
	g2Affine   = model.Bytes(unsafe.Sizeof(curve.G2Affine{}))
	g2Jacobian = model.Bytes(unsafe.Sizeof(curve.G2Jac{}))
)

// Key is a proving key that is resident on a card: the points of its MSMs and the factors of its transforms. Any number
// of workspaces prove with it.
type Key struct {
	card       *Card
	log        int
	ntt        *NTT
	z, l, a, b pointSet
	g2         bool // b_g2 is computed on the card
	b2         pointSet
}

// pointSet is the points of one MSM. There may be none.
type pointSet struct {
	group  Group
	n      int
	buffer *Buffer
}

// KeySize returns what NewKey takes: exactly.
func (c *Card) KeySize(pk *groth16.ProvingKey, g2 bool) (Size, error) {
	size, err := c.NTTSize(domainLog(pk))
	points := len(pk.G1.Z) + len(pk.G1.K) + len(pk.G1.A) + len(pk.G1.B)
	size.Device += g1Affine * model.Bytes(points)
	if g2 {
		size.Device += g2Affine * model.Bytes(len(pk.G2.B))
	}
	return size, err
}

// NewKey makes a proving key resident. g2 says whether the card computes b_g2 too. After an error nothing is taken.
func (c *Card) NewKey(pk *groth16.ProvingKey, g2 bool) (key *Key, err error) {
	k := &Key{card: c, log: domainLog(pk), g2: g2}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("key of 2^%d: %w", k.log, err), k.Free())
		}
	}()
	stream, err := c.NewStream()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stream.Free()) }()
	if k.ntt, err = c.NewNTT(k.log); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		set    *pointSet
		points []curve.G1Affine
	}{{&k.z, pk.G1.Z}, {&k.l, pk.G1.K}, {&k.a, pk.G1.A}, {&k.b, pk.G1.B}} {
		if *s.set, err = newPoints(stream, G1, s.points); err != nil {
			return nil, err
		}
	}
	if g2 {
		if k.b2, err = newPoints(stream, G2, pk.G2.B); err != nil {
			return nil, err
		}
	}
	return k, stream.Wait()
}

// Free gives the key's memory back. Its workspaces must be freed before.
func (k *Key) Free() error {
	var faults []error
	for _, s := range []*pointSet{&k.z, &k.l, &k.a, &k.b, &k.b2} {
		if s.buffer != nil {
			faults = append(faults, s.buffer.Free())
			s.buffer = nil
		}
	}
	if k.ntt != nil {
		faults = append(faults, k.ntt.Free())
		k.ntt = nil
	}
	return errors.Join(faults...)
}

// part returns how many points a part has, but the last, where the set is cut into so many.
func (s pointSet) part(parts int) int { return (s.n + parts - 1) / parts }

// at returns where a point of the set is.
func (s pointSet) at(i int) Slice {
	return s.buffer.At(s.buffer.size / model.Bytes(s.n) * model.Bytes(i))
}

// newPoints uploads the points of an MSM.
func newPoints[A any](s *Stream, g Group, points []A) (pointSet, error) {
	if len(points) == 0 {
		return pointSet{group: g}, nil
	}
	bytes := memory(points)
	buffer, err := s.card.Allocate(model.Bytes(len(bytes)))
	if err != nil {
		return pointSet{}, err
	}
	return pointSet{g, len(points), buffer}, s.Upload(buffer.At(0), bytes)
}

// domainLog returns the log of the size of the key's domain.
func domainLog(pk *groth16.ProvingKey) int { return bits.TrailingZeros64(pk.Domain.Cardinality) }

// memory views the memory of a slice of elements or points.
func memory[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
