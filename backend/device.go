package backend

import (
	"time"

	"headroom/model"
)

// Clock is the time of a run. The zero value is not started.
type Clock struct{ start time.Time }

// StartClock returns a clock that shows 0 now.
func StartClock() Clock { return Clock{start: time.Now()} }

// Now returns the time since the run began.
func (c Clock) Now() model.Instant { return model.Instant(time.Since(c.start)) }

// Until returns how long it is until an instant; negative when that has passed.
func (c Clock) Until(t model.Instant) time.Duration { return time.Duration(t - c.Now()) }

// Completion is a stage that is over on a device.
type Completion struct {
	Input model.Input // Done or Failed, with the task that was started
	// Begin and End are when the device itself began and ended the stage.
	Begin, End model.Instant
	// Err is why the stage failed; nil for Done.
	Err error
}

// Device does the work. Every effect is handed to it, though most devices only care about Start.
type Device interface {
	// Open begins a run on the clock. Completions go to over, several at a time when they belong to one instant.
	Open(clock Clock, over chan<- []Completion)
	// Submit carries out the effects of one round, in order. It may keep the slice. It must not wait for the
	// mailbox to be read, since the reader is the caller.
	Submit(now model.Instant, effects []model.Effect)
	// Close frees everything. The mailbox is not read any more; what runs still, after an error of the pipeline, is
	// waited for.
	Close() error
}
