package cuda

import (
	"context"
	"errors"
	"fmt"

	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
	cs "github.com/consensys/gnark/constraint/bls12-381"

	"headroom/backend/device/cpu"
	prover "headroom/backend/groth16"
	"headroom/model"
)

// DeviceSetup is what a Device is made from.
type DeviceSetup struct {
	// Setup is the host's part. Its configuration is one that cpu.CheckKeys has nothing against; its name and what is not
	// the host's part are set here.
	cpu.Setup
	Library *Library
	// Cap bounds what is taken of each card's memory, keys included; 0 means the card's own bound.
	Cap model.Bytes
}

// Device proves on cards, as many as the configuration has devices, and does on the host what belongs there:
//
//	Prep    the assignment is split on the host and goes to the card
//	Kernel  the vectors go to the card; the quotient and its MSM there
//	Tail    the other MSMs, on the card
//	Finish  b_g2 where the configuration has it on the host, and assembly
//
// With b_g2 on the host a finish is one thread's work beside the card: the partition's workspace is gone, its assignment
// and scalars are held, and with gpu.split its worker has the next partition.
//
// The keys of a kind are on every card while the host has them: from start to end or, where they come on demand, from a
// load to an eviction. A pool has the a, b and c of its blocks pinned, for the copies of all cards.
//
// A partition has a [Workspace] from its first stage on a worker to the end of its Tail. Where the card has too little
// memory for it, that partition fails, nothing of it stays on the card, and the run goes on; so it is with a block that
// cannot be pinned, and with keys. All calls of a worker come from one thread of the operating system.
type Device struct {
	*cpu.Device
	config  *model.Config
	kinds   []cpu.Kind
	cards   []*Card
	keys    [][]*Key // by card, by kind; nil: not there
	workers []worker // by number

	baselines  []Baseline    // by card
	keySizes   []model.Bytes // by kind
	workspaces []model.Bytes // by kind
	peaks      []model.Bytes // by card: the highest that Memory has told
}

// NewDevice returns a device that holds the keys that are there from the start. After an error nothing is held.
func NewDevice(ctx context.Context, s DeviceSetup) (*Device, error) {
	d := &Device{config: &s.Config, kinds: s.Kinds}
	d.keySizes, d.workspaces = make([]model.Bytes, len(s.Kinds)), make([]model.Bytes, len(s.Kinds))
	if err := d.openCards(&s); err != nil {
		for _, k := range s.Kinds {
			err = errors.Join(err, k.Prover.Close())
		}
		return nil, errors.Join(err, d.closeCards())
	}
	s.Name = "cuda"
	s.Sums, s.Pin, s.LoadKeys, s.EvictKeys = d.open, d.pin, d.loadKeys, d.evictKeys
	var err error
	if d.Device, err = cpu.New(ctx, s.Setup); err != nil {
		return nil, errors.Join(err, d.closeCards())
	}
	if err := d.begin(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// openCards opens the cards with their kernels loaded.
func (d *Device) openCards(s *DeviceSetup) error {
	for number := range int(d.config.GPU.Devices) {
		if err := s.Library.loadKernels(number, d.g2()); err != nil {
			return fmt.Errorf("cuda: kernels on card %d: %w", number, err)
		}
		card, err := s.Library.Open(number, s.Cap)
		if err != nil {
			return err
		}
		d.cards, d.keys = append(d.cards, card), append(d.keys, make([]*Key, len(s.Kinds)))
		book, err := card.Memory()
		if err != nil {
			return err
		}
		d.baselines = append(d.baselines, Baseline{Total: book.Total, Driver: book.Used()})
	}
	return nil
}

// begin uploads the keys that the host holds, takes the baselines and starts the workers.
func (d *Device) begin() error {
	for kind, k := range d.kinds {
		if !k.Keys.Loaded() {
			continue
		}
		if err := d.loadKeys(kind); err != nil {
			return err
		}
		key, keyErr := d.cards[0].KeySize(k.Keys.Proving(), d.g2())
		workspace, err := d.keys[0][kind].WorkspaceSize(1)
		if err := errors.Join(keyErr, err); err != nil {
			return err
		}
		d.keySizes[kind], d.workspaces[kind] = key.Device, workspace.Device
	}
	for n, card := range d.cards {
		book, err := card.Memory()
		if err != nil {
			return err
		}
		d.baselines[n].Keys, d.baselines[n].Used = book.Taken.Device, book.Used()
		d.peaks = append(d.peaks, book.Most)
	}
	for range d.config.Workers() {
		d.workers = append(d.workers, newWorker())
	}
	return nil
}

// g2 reports whether b_g2 is computed on the card.
func (d *Device) g2() bool { return d.config.GPU.BG2 == model.OnDevice }

// loadKeys uploads the keys of a kind to all cards. After an error none has them.
func (d *Device) loadKeys(kind int) (err error) {
	k := &d.kinds[kind]
	for n, card := range d.cards {
		if d.keys[n][kind], err = card.NewKey(k.Keys.Proving(), d.g2()); err != nil {
			err = fmt.Errorf("cuda: %s on card %d: %w", cpu.KeysOf(k.Name), n, err)
			return errors.Join(err, d.evictKeys(kind))
		}
	}
	return nil
}

// evictKeys frees the keys of a kind on all cards that have them.
func (d *Device) evictKeys(kind int) error {
	var faults []error
	for n := range d.keys {
		if key := d.keys[n][kind]; key != nil {
			faults = append(faults, key.Free())
			d.keys[n][kind] = nil
		}
	}
	return errors.Join(faults...)
}

// open takes a workspace for the partition that a worker takes.
func (d *Device) open(take model.Effect) (prover.Sums, error) {
	w := d.workers[take.Task.Lane]
	s := &onCard{worker: w}
	return s, w.do(func() (err error) {
		s.workspace, err = d.keys[take.Device][take.Kind].NewWorkspace(1)
		return err
	})
}

// Close implements backend.Device: it frees the host's part, the keys and the cards.
func (d *Device) Close() error {
	err := d.Device.Close()
	for _, w := range d.workers {
		w.end()
	}
	return errors.Join(err, d.closeCards())
}

// closeCards frees the keys and the cards.
func (d *Device) closeCards() error {
	var faults []error
	for kind := range d.kinds {
		faults = append(faults, d.evictKeys(kind))
	}
	for _, card := range d.cards {
		faults = append(faults, card.Close())
	}
	return errors.Join(faults...)
}

// Setup makes the test keys of a circuit on the first card, with secrets that it draws.
func (l *Library) Setup(system *cs.R1CS) (pk *groth16.ProvingKey, vk *groth16.VerifyingKey, err error) {
	secrets, err := NewSecrets()
	if err != nil {
		return nil, nil, err
	}
	card, err := l.Open(0, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, card.Close()) }()
	return card.Setup(system, secrets)
}
