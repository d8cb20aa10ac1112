package cuda

import (
	"errors"
	"fmt"
	"os"
	"slices"

	curve "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"

	"headroom/backend/probe"
	"headroom/model"
)

// Baseline is what a card holds before the first job, as its driver shows it.
type Baseline struct {
	Total  model.Bytes // of the card
	Driver model.Bytes // in use without any keys: the driver's context, the kernels and what other programs hold
	Keys   model.Bytes // taken for the keys that are there from the start
	Used   model.Bytes // in use with them
}

// Baselines returns what each card held when the device had been made.
func (d *Device) Baselines() []Baseline { return slices.Clone(d.baselines) }

// KeySizes returns what the keys of each kind take of every card; 0 for a kind whose keys are not there from the start.
func (d *Device) KeySizes() []model.Bytes { return slices.Clone(d.keySizes) }

// Workspaces returns what a partition of each kind takes of its card from its first stage on a worker to the end of its
// Tail; 0 for a kind whose keys are not there from the start.
func (d *Device) Workspaces() []model.Bytes { return slices.Clone(d.workspaces) }

// Memory returns how much is in use on all cards together, as their driver shows it, and how much is pinned. Of a card
// on which more was in use since the last call than ever before, it is that: so the most that calls return of a card is
// the most that was in use. It is for one goroutine.
func (d *Device) Memory() (total Size, err error) {
	for n, card := range d.cards {
		book, err := card.Memory()
		if err != nil {
			return Size{}, err
		}
		total.Pinned += book.Taken.Pinned
		if book.Most > d.peaks[n] {
			d.peaks[n] = book.Most
			total.Device += book.Most
		} else {
			total.Device += book.Used()
		}
	}
	return total, nil
}

// Peaks returns the most that was in use of each card since it was opened.
func (d *Device) Peaks() ([]model.Bytes, error) {
	var peaks []model.Bytes
	for _, card := range d.cards {
		book, err := card.Memory()
		if err != nil {
			return nil, err
		}
		peaks = append(peaks, book.Most)
	}
	return peaks, nil
}

// pin pins host memory for all cards.
func (d *Device) pin(memory []byte) (unpin func() error, err error) {
	card := d.cards[0]
	if err := card.Pin(memory); err != nil {
		return nil, fmt.Errorf("%w%s", err, hostLeft())
	}
	return func() error { return card.Unpin(memory) }, nil
}

// hostLeft says how much of the host's memory and of memlock may still be taken, as far as that is known.
func hostLeft() (text string) {
	limits, _ := probe.Live.Limits(os.Getpid())
	for _, l := range limits {
		if left, known := l.Left(); known && (l.Of == probe.HostMemory || l.Of == probe.LockedMemory) {
			text += fmt.Sprintf("; %s of %s are left (%s)", left.Short(), l.Name, l.File)
		}
	}
	return text
}

// loadKernels runs every kernel of a proof once, on zeros. The driver loads a kernel and gives it memory for its stacks
// when it first runs, and keeps both: from here on the use of the card changes by what is allocated alone.
func (l *Library) loadKernels(number int, g2 bool) (err error) {
	const log = 4
	infinity := make([]curve.G1Affine, 1)
	var pk groth16.ProvingKey
	pk.Domain.Cardinality = 1 << log
	pk.G1.Z, pk.G1.K, pk.G1.A, pk.G1.B = infinity, infinity, infinity, infinity
	pk.G2.B = make([]curve.G2Affine, 1)
	card, err := l.Open(number, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, card.Close()) }()
	key, err := card.NewKey(&pk, g2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, key.Free()) }()
	w, err := key.NewWorkspace(1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Free()) }()
	zeros := make(fr.Vector, 1<<log)
	err = errors.Join(w.LoadVectors(zeros, zeros, zeros), w.LoadAssignment(zeros[:1], zeros[:1], zeros[:1]))
	if err != nil {
		return err
	}
	_, quotient := w.Quotient()
	_, assignment := w.Assignment()
	return errors.Join(quotient, assignment)
}
