package sim

import (
	"math/bits"

	"headroom/model"
)

// tally is what a run counts as it goes: integrals over time of who was busy, and the jobs that ended.
type tally struct {
	synth, lock, worker, finish, starved integral

	done, ended              int
	first, lastDone, lastEnd model.Instant // first arrival, and when a job was last done and last ended
	ledger                   model.Bytes   // the most that was reserved
}

// integral is a sum of counts times nanoseconds, neither of them negative, in 128 bits: twenty million runners for
// 292 years.
type integral struct{ high, low uint64 }

func (i *integral) add(n int32, dt model.Span) {
	high, low := bits.Mul64(uint64(n), uint64(dt))
	var carry uint64
	i.low, carry = bits.Add64(i.low, low, 0)
	i.high += high + carry
}

func (i integral) float() float64 { return float64(i.high)*(1<<64) + float64(i.low) }

// pass counts the time up to the next event.
func (t *tally) pass(l *loop, next model.Instant) {
	dt := next.Sub(l.now)
	locks, workers := l.core.LocksHeld(), l.core.BusyWorkers()
	t.synth.add(l.engine.Running(model.Synth), dt)
	t.finish.add(l.engine.Running(model.Finish), dt)
	t.lock.add(locks, dt)
	t.worker.add(workers, dt)
	gpu := &l.plan.Config.GPU
	idle := locks < int32(gpu.Devices) && workers < int32(gpu.Devices*gpu.WorkersPerDevice) && l.core.FreePermits() > 0
	if idle && l.core.Waiting() && !l.core.Admitting() {
		t.starved.add(1, dt)
	}
}

// count takes note of the jobs that a step has ended and of what is reserved after it.
func (t *tally) count(core *model.Core, now model.Instant) {
	if ended := core.Ended(); ended != t.ended {
		t.ended, t.lastEnd = ended, now
		if done := core.Done(); done != t.done {
			t.done, t.lastDone = done, now
		}
	}
	if reserved := core.Reserved(); reserved > t.ledger {
		t.ledger = reserved
	}
}
