package cuda

import (
	"context"
	"errors"
	"fmt"
	"slices"

	groth16 "github.com/consensys/gnark/backend/groth16/bls12-381"
	cs "github.com/consensys/gnark/constraint/bls12-381"

	"headroom/backend/device/cpu"
	prover "headroom/backend/groth16"
	"headroom/model"
)

// DeviceSetup is what a Device is made from.
type DeviceSetup struct {
	// Setup is the host's part. Its configuration is one that [Check] has nothing against; Sums and Name are set here.
	cpu.Setup
	Library *Library
	// Cap bounds what is taken of each card's memory, keys included; 0 means the card's own bound.
	Cap model.Bytes
}

// Device proves on cards, as many as the configuration has devices, and does on the host what belongs there:
//
//	Prep    the assignment is split on the host; vectors and assignment go to the card
//	Kernel  the quotient and its MSM, on the card
//	Tail    the other MSMs, on the card
//	Finish  b_g2 where the configuration has it on the host, and assembly
//
// The keys of all kinds are on every card from the start. A partition has a [Workspace] from its first stage on a
// worker to the end of its Tail; where the card has too little memory for it, that partition fails, nothing of it
// stays on the card, and the run goes on. All calls of a worker come from one thread of the operating system.
type Device struct {
	*cpu.Device
	config   *model.Config
	cards    []*Card
	keys     [][]*Key      // by card, by kind
	workers  []worker      // by number
	peaks    []model.Bytes // by card: the highest that Memory has told
	keySizes []model.Bytes // by kind
}

// Check reports what of a configuration the device cannot do with kinds of these names.
func Check(c *model.Config, kinds []string) error {
	var f model.Faults
	for i := range c.Resident {
		r := &c.Resident[i]
		for _, kind := range kinds {
			if r.Name == cpu.KeysOf(kind) && r.Managed() {
				f.Add(fmt.Sprintf("config.resident[%d]", i),
					"has %s loaded on demand or evicted: the device cuda has keys on its cards from start to end", r.Name)
			}
		}
	}
	return f.Err()
}

// NewDevice returns a device with its keys on the cards. After an error nothing is held.
func NewDevice(ctx context.Context, s DeviceSetup) (device *Device, err error) {
	d := &Device{config: &s.Config, peaks: make([]model.Bytes, s.Config.GPU.Devices)}
	s.Setup.Name, s.Setup.Sums = "cuda", d.open
	if d.Device, err = cpu.New(ctx, s.Setup); err != nil {
		return nil, err
	}
	if err := d.begin(&s); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// begin opens the cards, uploads the keys and starts the workers.
func (d *Device) begin(s *DeviceSetup) error {
	for number := range int(d.config.GPU.Devices) {
		card, err := s.Library.Open(number, s.Cap)
		if err != nil {
			return err
		}
		d.cards, d.keys = append(d.cards, card), append(d.keys, nil)
		for _, k := range s.Kinds {
			key, err := card.NewKey(k.Keys.Proving(), d.config.GPU.BG2 == model.OnDevice)
			if err != nil {
				return fmt.Errorf("cuda: %s on card %d: %w", cpu.KeysOf(k.Name), number, err)
			}
			d.keys[number] = append(d.keys[number], key)
			if number == 0 {
				size, err := card.KeySize(k.Keys.Proving(), key.g2)
				if err != nil {
					return err
				}
				d.keySizes = append(d.keySizes, size.Device)
			}
		}
	}
	for range d.config.Workers() {
		d.workers = append(d.workers, newWorker())
	}
	return nil
}

// KeySizes returns what the key of each kind takes on every card, as the library says before it is taken.
func (d *Device) KeySizes() []model.Bytes { return slices.Clone(d.keySizes) }

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
	faults := []error{d.Device.Close()}
	for _, w := range d.workers {
		w.end()
	}
	for n, card := range d.cards {
		for _, key := range d.keys[n] {
			faults = append(faults, key.Free())
		}
		faults = append(faults, card.Close())
	}
	return errors.Join(faults...)
}

// Memory returns what is taken on all cards together; of a card on which more was taken since the last call than ever
// before, that. So the most that calls return of a card is the most that was taken. It is for one goroutine.
func (d *Device) Memory() (total Size, err error) {
	for n, card := range d.cards {
		book, err := card.Memory()
		if err != nil {
			return Size{}, err
		}
		total.Pinned += book.Taken.Pinned
		if book.Peak.Device > d.peaks[n] {
			d.peaks[n] = book.Peak.Device
			total.Device += book.Peak.Device
		} else {
			total.Device += book.Taken.Device
		}
	}
	return total, nil
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
