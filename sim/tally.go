package sim

import "headroom/model"

// tally is what a run counts as it goes: integrals over time of who was busy, and the jobs that ended.
type tally struct {
	synth, lock, worker, finish, starved integral

	done, failed    int
	first, lastDone model.Instant // first arrival, last end of a job
	stalled         bool
	buffers, calls  []int32 // parse buffers and proof calls that are held, by kind
}

// integral is a sum of counts times nanoseconds.
type integral int64

func (i *integral) add(n int32, dt model.Span) { *i += integral(n) * integral(dt) }

// pass counts the time up to the next event.
func (t *tally) pass(l *loop, next model.Instant) {
	dt := next.Sub(l.now)
	locks, workers := l.core.LocksHeld(), l.busyWorkers()
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

// busyWorkers returns the number of GPU workers with a partition.
func (l *loop) busyWorkers() int32 {
	n := 0
	for k := range l.kinds {
		n += l.core.Count(k, model.OnGPU)
		if !l.plan.Config.GPU.Split {
			n += l.core.Count(k, model.InFinish)
		}
	}
	return int32(n)
}

// count takes note of a step.
func (t *tally) count(effects []model.Effect, now model.Instant) {
	for i := range effects {
		e := &effects[i]
		switch e.Op {
		case model.JobStart:
			t.buffers[e.Kind]++
		case model.Take:
			t.calls[e.Kind]++
		case model.Freed:
			if e.Call {
				t.calls[e.Kind]--
			}
			if e.Task.Block == model.ParseBuffer {
				t.buffers[e.Kind]--
			}
		case model.JobDone:
			t.done++
			t.lastDone = now
		case model.JobFailed:
			t.failed++
		case model.Stall:
			t.stalled = true
		}
	}
}
