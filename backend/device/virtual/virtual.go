// Package virtual is a device that does no work: it waits as long as a profile says, with the same clocks of
// work as the simulator, and counts the bytes that would be held.
package virtual

import (
	"errors"
	"time"

	"headroom/backend"
	"headroom/model"
	"headroom/model/work"
)

// Device is a virtual prover.
type Device struct {
	engine  *work.Engine
	clock   backend.Clock
	over    chan<- []backend.Completion
	submits chan submission
	closed  chan struct{}
	done    chan struct{}
}

type submission struct {
	now     model.Instant
	effects []model.Effect
}

// ErrFails is the error of a stage that the setup's Fails made fail.
var ErrFails = errors.New("virtual: the stage was made to fail")

// New returns a device with that setup.
func New(s work.Setup) *Device {
	return &Device{engine: work.NewEngine(s), submits: make(chan submission), closed: make(chan struct{}), done: make(chan struct{})}
}

// Open implements backend.Device.
func (d *Device) Open(clock backend.Clock, over chan<- []backend.Completion) {
	d.clock, d.over = clock, over
	go d.run()
}

// Submit implements backend.Device.
func (d *Device) Submit(now model.Instant, effects []model.Effect) {
	d.submits <- submission{now, effects}
}

// Close implements backend.Device. It ends the device's goroutine.
func (d *Device) Close() error {
	close(d.closed)
	if d.over != nil {
		<-d.done
	}
	return nil
}

// Peak returns the most bytes that were held at once. It is for after Close.
func (d *Device) Peak() (model.Bytes, model.Instant) { return d.engine.Memory.Peak() }

// Devices returns the books of the devices' memory. They are for after Close.
func (d *Device) Devices() []work.Book { return d.engine.Devices() }

// Pinned returns the book of the host's pinned memory. It is for after Close.
func (d *Device) Pinned() work.Book { return *d.engine.Pinned() }

// Shared returns the book of what of the host's memory is in /dev/shm. It is for after Close.
func (d *Device) Shared() work.Book { return *d.engine.Shared() }

// run owns the engine. What is over waits in round until the owner takes it, so that neither waits for the other.
func (d *Device) run() {
	defer close(d.done)
	var round []backend.Completion
	for {
		over := d.over
		if len(round) == 0 {
			over = nil
		}
		timer, stop := d.timer(len(round) == 0)
		select {
		case s := <-d.submits:
			d.engine.Advance(s.now)
			d.engine.Apply(s.now, s.effects)
			d.engine.Settle(s.now)
		case over <- round:
			round = nil
		case <-timer:
			round = d.pop()
		case <-d.closed:
			stop()
			return
		}
		stop()
	}
}

// timer fires at the next completion, unless the last ones have not been taken yet.
func (d *Device) timer(armed bool) (<-chan time.Time, func()) {
	next := d.engine.Next()
	if !armed || next == work.Forever {
		return nil, func() {}
	}
	t := time.NewTimer(d.clock.Until(next))
	return t.C, func() { t.Stop() }
}

// pop takes out the completions that are due: all of one instant.
func (d *Device) pop() []backend.Completion {
	now := d.engine.Next()
	d.engine.Advance(now)
	var round []backend.Completion
	for _, f := range d.engine.Pop(now, nil) {
		c := backend.Completion{Input: f.Input, Begin: f.Begin, End: now}
		if f.Input.Op == model.Failed {
			c.Err = ErrFails
		}
		round = append(round, c)
	}
	return round
}
