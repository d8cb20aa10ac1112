package cpu

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"headroom/backend/groth16"
	"headroom/model"
)

// KeysOf returns the name of the resident data that is the keys and the compiled circuit of a kind. Such data is really
// read from its file and really given back; it takes what the keys take, whatever the configuration says that it has,
// and what reading them takes besides. For data of any other name a block of its bytes is held, and its transient bytes
// while it is loaded. What is pinned is so where a device reads the host's memory, but for keys, which it copies.
func KeysOf(kind string) string { return "keys of " + kind }

// Check reports what of a configuration the device cannot do with kinds of these names.
func Check(c *model.Config, kinds []string) error {
	var f model.Faults
	if c.GPU.BG2 != model.OnHost {
		f.Add("config.gpu.b_g2", "is %s: %s with the device cpu, which computes it in the finish", c.GPU.BG2, model.OnHost)
	}
	f.Join(CheckKeys(c, kinds))
	return f.Err()
}

// CheckKeys reports what of a configuration's resident data no prover of kinds of these names can do.
func CheckKeys(c *model.Config, kinds []string) error {
	var f model.Faults
	for i := range c.Resident {
		r, at := &c.Resident[i], fmt.Sprintf("config.resident[%d]", i)
		for _, kind := range kinds {
			if r.Name != KeysOf(kind) || !r.Managed() {
				continue
			}
			if r.Background {
				f.Add(at+".background", "is true of %s: jobs cannot do without their keys", r.Name)
			}
			if len(r.Kinds) > 0 && !slices.Contains(r.Kinds, kind) {
				f.Add(at+".kinds", "are %v of %s: %s must be among them, or none be named", r.Kinds, r.Name, kind)
			}
		}
	}
	return f.Err()
}

// datum is an item of resident data: keys, or a block that stands for it.
type datum struct {
	model.Resident
	keys  *groth16.Keys // nil: a block
	kind  int           // whose keys they are
	block groth16.Block
}

// preload holds what is there from the start, and nothing of what is loaded on demand.
func (d *Device) preload() error {
	for _, r := range d.setup.Config.Resident {
		d.data = append(d.data, datum{Resident: r})
		item := &d.data[len(d.data)-1]
		for kind, k := range d.setup.Kinds {
			if r.Name == KeysOf(k.Name) {
				item.keys, item.kind = k.Keys, kind
				warnOfSize(&r, k.Keys.Size())
			}
		}
		switch {
		case item.keys != nil && r.OnDemand:
			item.keys.Unload()
		case item.keys == nil && !r.OnDemand && !(d.setup.OwnData && !r.Managed()):
			transient, err := d.hold(item)
			if err = errors.Join(err, transient.Unmap()); err != nil {
				return fmt.Errorf("%s: %w", d.setup.Name, err)
			}
		}
	}
	return nil
}

// warnOfSize says so when keys have less or more than the configuration says by a tenth of it.
func warnOfSize(r *model.Resident, size model.Bytes) {
	if size < r.Bytes-r.Bytes/10 || size > r.Bytes+r.Bytes/10 {
		slog.Warn("resident data is of another size than config.resident says", "name", r.Name, "said", r.Bytes.Short(), "is", size.Short())
	}
}

// load loads data and takes its load time at least.
func (d *Device) load(item *datum, begin model.Instant) error {
	transient, err := d.hold(item)
	if err == nil {
		err = d.sleepUntil(begin + model.Instant(item.LoadTime))
	}
	err = errors.Join(err, transient.Unmap())
	if err != nil {
		return errors.Join(err, d.evict(item))
	}
	return nil
}

// hold holds the data and returns what is held while it is loaded.
func (d *Device) hold(item *datum) (transient groth16.Block, err error) {
	if item.keys != nil {
		if err = item.keys.Load(d.ctx); err == nil && d.setup.LoadKeys != nil {
			err = d.setup.LoadKeys(item.kind)
		}
		return transient, err
	}
	if err = d.mapBlock(item); err != nil || item.Transient == 0 {
		return transient, err
	}
	return groth16.NewFullBlock("loading "+item.Name, item.Transient)
}

// mapBlock holds a block for data, pinned where the configuration has it so.
func (d *Device) mapBlock(item *datum) (err error) {
	if item.block, err = groth16.NewFullBlock(item.Name, item.Bytes); err != nil || !item.Pinned {
		return err
	}
	return item.block.Pin(d.setup.Pin, item.Bytes)
}

// evict gives the data's memory back, if it is there.
func (d *Device) evict(item *datum) (err error) {
	if item.keys == nil {
		return item.block.Unmap()
	}
	if d.setup.EvictKeys != nil {
		err = d.setup.EvictKeys(item.kind)
	}
	item.keys.Unload()
	return err
}

// sleepUntil waits for an instant, or returns why the context ended.
func (d *Device) sleepUntil(t model.Instant) error {
	timer := time.NewTimer(d.clock.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-d.closed:
		return errors.New("the device was closed")
	case <-d.ctx.Done():
		return context.Cause(d.ctx)
	}
}
