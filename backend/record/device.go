package record

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"headroom/backend/device/cpu"
	"headroom/backend/device/cuda"
	"headroom/backend/device/virtual"
	"headroom/backend/groth16"
	"headroom/backend/probe"
	"headroom/model"
	"headroom/model/trace"
	"headroom/model/work"
)

func prepare(ctx context.Context, s *Spec) error {
	if s.Device == Virtual {
		return nil
	}
	kinds, err := openKinds(ctx, s)
	for _, k := range kinds {
		err = errors.Join(err, k.Prover.Close())
	}
	return err
}

func openKinds(ctx context.Context, s *Spec) ([]cpu.Kind, error) {
	open, err := s.opener()
	if err != nil {
		return nil, err
	}
	var kinds []cpu.Kind
	for _, k := range s.Kinds {
		keys, err := open(ctx, s.KeyDir, k.Circuit, func(step string) { slog.Info(step, "kind", k.Name) })
		if err != nil {
			return kinds, err
		}
		prover, err := groth16.NewProver(ctx, s.KeyDir, keys, groth16.Threads{})
		if err != nil {
			return kinds, err
		}
		kinds = append(kinds, cpu.Kind{Name: k.Name, Keys: keys, Prover: prover})
	}
	return kinds, nil
}

// opener returns what opens keys: where cards prove, the first card makes those that are not there yet.
func (s *Spec) opener() (
	func(context.Context, string, model.Circuit, func(string)) (*groth16.Keys, error), error,
) {
	if s.Device != CUDA {
		return groth16.OpenKeys, nil
	}
	library, err := cuda.Load(s.Library)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, dir string, of model.Circuit, progress func(string)) (*groth16.Keys, error) {
		return groth16.OpenKeysWith(ctx, dir, of, library.Setup, progress)
	}, nil
}

func (c *child) open(ctx context.Context) error {
	if c.spec.Device == Virtual {
		return c.openVirtual()
	}
	kinds, err := openKinds(ctx, c.spec)
	if err != nil {
		return err
	}
	c.opened = kinds
	setup := cpu.Setup{Kinds: kinds, Config: c.spec.Config, OwnData: c.spec.OwnData}
	if c.spec.Device == CUDA {
		return c.openCUDA(ctx, setup)
	}
	device, err := cpu.New(ctx, setup)
	if err != nil {
		return err
	}
	c.device, c.verified = device, device.Verified
	return nil
}

func (c *child) openCUDA(ctx context.Context, setup cpu.Setup) error {
	library, err := cuda.Load(c.spec.Library)
	if err != nil {
		return err
	}
	device, err := cuda.NewDevice(ctx, cuda.DeviceSetup{Setup: setup, Library: library, Cap: c.spec.Cap})
	if err != nil {
		return err
	}
	c.device, c.verified, c.cards = device, device.Verified, device
	return nil
}

// describeCards adds to a header what the cards are that prove, and what they hold before the first job.
func (c *child) describeCards(ctx context.Context, h *trace.Header) {
	if c.cards == nil {
		return
	}
	gpus, err := probe.GPUs(ctx)
	if err != nil {
		slog.Warn("the trace does not name the cards", "reason", err)
	}
	var names []string
	for _, g := range gpus[:min(len(gpus), int(c.spec.Config.GPU.Devices))] {
		names = append(names, g.Name)
	}
	h.Machine.GPU = strings.Join(names, ", ")
	for _, b := range c.cards.Baselines() {
		h.Devices = append(h.Devices, trace.Device{Total: b.Total, Driver: b.Driver, Keys: b.Keys, Used: b.Used})
	}
	for i, size := range c.cards.Workspaces() {
		name := c.spec.Kinds[i].Name
		blocks := h.Blocks[name]
		blocks.Device, blocks.Pinned = size, groth16.SizesOf(c.spec.Kinds[i].Circuit).Pinned
		h.Blocks[name] = blocks
	}
}

func (c *child) openVirtual() error {
	p, kinds, err := c.spec.profiled()
	if err != nil {
		return err
	}
	host, onDevice := p.Baselines(kinds)
	device := virtual.New(work.Setup{
		Kinds: kinds, Interference: p.Interference, Config: c.spec.Config, Baseline: host,
		DeviceBaseline: onDevice, Seed: c.spec.Seed,
	})
	c.device, c.verified = device, func() int { return 0 }
	return nil
}

// addKeys adds to a header what the keys of each kind take; those that come and go are not always there.
func (c *child) addKeys(h *trace.Header) {
	h.Keys = map[string]trace.Keys{}
	for i, k := range c.opened {
		if !k.Keys.Loaded() {
			continue
		}
		keys := trace.Keys{Host: k.Keys.Size()}
		if c.cards != nil {
			keys.Device = c.cards.KeySizes()[i]
		}
		h.Keys[k.Name] = keys
	}
}
