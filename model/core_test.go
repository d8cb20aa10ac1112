package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/check"
)

// chooser decides: it returns a number from 0 to n-1.
type chooser func(n int) int

func pick[T any](choose chooser, options ...T) T { return options[choose(len(options))] }

// chooseConfig returns a valid configuration, with every knob that works.
func chooseConfig(choose chooser) model.Config {
	c := model.DefaultConfig(1 + choose(3))
	c.JobsInFlight = pick(choose, 1, 2, 4, model.Unbounded)
	c.Admission.Permits = pick(choose, 1, 2, 3, 7, model.Unbounded)
	c.Admission.Release = pick(choose, model.AfterSynthesis, model.AfterSend, model.AfterKernel, model.AfterFinish)
	c.Channel.Capacity = pick(choose, 0, 1, 3, model.Auto, model.Unbounded)
	c.Channel.Lookahead = pick[model.Count](choose, 0, 1, 5)
	c.GPU.WorkersPerDevice = model.Count(1 + choose(3))
	c.GPU.Lock = pick(choose, model.LockKernel, model.LockCall)
	c.GPU.Prep = pick(choose, model.PrepBesideLock, model.PrepBeforeLock)
	if c.GPU.Lock == model.LockCall {
		c.GPU.Prep = ""
	}
	c.GPU.Split = choose(2) == 0
	if c.GPU.Split {
		c.Finalizers = pick(choose, 1, 2, model.Unbounded)
	}
	c.FreeVectors = pick(choose, model.AfterKernel, model.AfterFinish)
	c.Dealloc.Workers = model.Count(1 + choose(3))
	c.Order = pick(choose, model.FIFO, model.ByPriority, model.OldestJobFirst, model.Interleave)
	c.Synthesis.MaxParallel = pick(choose, 1, 2, 4, model.Unbounded, model.Unbounded)
	c.Synthesis.Handoff = pick[model.Count](choose, 0, 1, 3)
	c.Pool = pick(choose, model.PoolRetain, model.PoolNone)
	if choose(3) == 0 {
		c.Batch = &model.Batch{Size: model.Count(1 + choose(3)), Wait: model.Second, Kinds: pick(choose, nil, []string{"kind0"})}
	}
	if choose(2) == 0 {
		c.Admission.Budget = chooseBudget(choose)
	}
	if choose(2) == 0 {
		c.Resident = chooseResident(choose)
	}
	return c
}

// chooseBudget returns a ledger that is sometimes too small for everything that may have to be in it at once.
func chooseBudget(choose chooser) *model.Budget {
	b := &model.Budget{
		Total: model.Bytes(30 + choose(60)), Kinds: map[string]model.Demand{}, EvictionMinIdle: pick[model.Span](choose, 0, model.Second),
		Retry: pick(choose, "", model.RetryOnRelease, model.RetryTimed),
	}
	for i := range 3 {
		d := model.Demand{Reserve: model.Bytes(choose(10)), AcquireOrder: pick(choose, "", model.ResidentFirst, model.WorkingFirst)}
		d.ReleaseAfterKernel = model.Bytes(choose(int(d.Reserve) + 1))
		b.Kinds[fmt.Sprint("kind", i)] = d
	}
	return b
}

func chooseResident(choose chooser) []model.Resident {
	list := make([]model.Resident, 1+choose(3))
	for i := range list {
		r := &list[i]
		*r = model.Resident{
			Name: fmt.Sprint("data", i), Bytes: model.Bytes(1 + choose(20)), Transient: model.Bytes(choose(9)), LoadTime: model.Second,
			Acquire: pick(choose, "", model.AcquireBlocking, model.AcquirePolling), OnDemand: choose(2) == 0, Evictable: choose(2) == 0,
			Kinds: pick(choose, nil, []string{"kind0"}, []string{"kind1", "kind2"}),
		}
		r.Background = r.OnDemand && choose(4) == 0
	}
	return list
}

// chooseKinds returns kinds with and without each stage that a kind may lack.
func chooseKinds(choose chooser) []model.Kind {
	kinds := make([]model.Kind, 1+choose(3))
	for i := range kinds {
		stages := model.StageSet(0).With(model.Synth, model.Kernel)
		for _, s := range []model.Stage{model.Parse, model.Prep, model.Tail, model.Finish, model.Dealloc} {
			if choose(3) > 0 {
				stages = stages.With(s)
			}
		}
		kinds[i] = model.Kind{Name: fmt.Sprint("kind", i), Partitions: 1 + choose(4), Priority: choose(3), Stages: stages}
	}
	return kinds
}

// driver drives a core as chance has it: stages end in any order and with any result.
type driver struct {
	choose  chooser
	config  model.Config
	kinds   []model.Kind
	core    *model.Core
	stream  check.Stream
	running []model.Task
	past    []model.Task // over
	timers  []model.Task // set and not yet rung
	stalled bool
	arrived int32
	ends    map[int32]int // JobDone and JobFailed by job
	drained bool
}

func newDriver(choose chooser) (*driver, error) {
	d := &driver{choose: choose, config: chooseConfig(choose), kinds: chooseKinds(choose), ends: map[int32]int{}}
	if err := d.config.Validate(nil); err != nil {
		return nil, err
	}
	core, err := model.NewCore(d.config, d.kinds)
	d.core = core
	d.stream = check.Stream{Config: d.config, Kinds: d.kinds, Finished: true}
	return d, err
}

// drive runs a workload to its end and returns what is wrong with the run.
func drive(choose chooser) error {
	d, err := newDriver(choose)
	if err != nil {
		return err
	}
	for left := 1 + choose(12); (left > 0 || !d.core.Idle()) && !d.stalled; {
		switch n := choose(40); {
		case left > 0 && (n < 8 || len(d.running) == 0) && !d.drained:
			count := int32(1 + choose(left))
			left -= int(count)
			err = d.step(model.Input{Op: model.Arrive, Kind: uint16(choose(len(d.kinds))), Job: d.arrived, Count: count})
			d.arrived += count
		case n == 9 && d.arrived > 0:
			err = d.cancel(int32(choose(int(d.arrived))))
		case n == 10 && left == 0:
			err, d.drained = d.step(model.Input{Op: model.Drain}), true
		case n < 16:
			err = d.disturb()
		case len(d.timers) > 0 && (n < 19 || len(d.running) == 0):
			err = d.ring()
		case len(d.running) > 0:
			err = d.end()
		}
		if err != nil {
			return err
		}
	}
	if d.stalled {
		d.stream.Finished = false
		return check.Err(check.Run(d.stream))
	}
	return errors.Join(d.leftOver(), check.Err(check.Run(d.stream)))
}

func (d *driver) step(in model.Input) error {
	effects, err := d.core.Step(in, nil)
	if err != nil {
		return err
	}
	at := model.Instant(len(d.stream.Records))
	d.stream.Records = append(d.stream.Records, model.Record{At: at, Input: in, Effects: effects, Begin: at, End: at, State: d.core.State()})
	for _, e := range effects {
		switch e.Op {
		case model.Start:
			d.running = append(d.running, e.Task)
		case model.WakeAt:
			d.timers = append(d.timers, e.Task)
		case model.JobDone, model.JobFailed:
			d.ends[e.Job]++
		case model.Stall:
			d.stalled = true
			if d.config.Admission.Budget == nil {
				return fmt.Errorf("the pipeline stalls after %d steps", len(d.stream.Records))
			}
		}
	}
	return d.withinBound()
}

// ring lets a timer ring.
func (d *driver) ring() error {
	i := d.choose(len(d.timers))
	t := d.timers[i]
	d.timers = slices.Delete(d.timers, i, i+1)
	return d.step(model.Input{Op: model.Wake, Task: t})
}

// end ends a running stage, sometimes without a result.
func (d *driver) end() error {
	i := d.choose(len(d.running))
	t := d.running[i]
	d.running = slices.Delete(d.running, i, i+1)
	d.past = append(d.past, t)
	if t.Stage != model.Dealloc && d.choose(40) == 0 {
		return d.step(model.Input{Op: model.Failed, Task: t})
	}
	return d.step(model.Input{Op: model.Done, Task: t})
}

func (d *driver) cancel(job int32) error {
	if d.ends[job] == 0 {
		return d.step(model.Input{Op: model.Cancel, Job: job})
	}
	if _, err := d.core.Step(model.Input{Op: model.Cancel, Job: job}, nil); err == nil {
		return fmt.Errorf("job %d was cancelled after its end", job)
	}
	return nil
}

// disturb gives the core an input that does not fit. It must be refused, and that it changes nothing is shown by
// the replay of the stream, in which it is not.
func (d *driver) disturb() error {
	var t model.Task
	switch n := d.choose(3); {
	case n == 0 && len(d.past) > 0:
		t = d.past[d.choose(len(d.past))] // twice, or late
	case n == 1 && len(d.running) > 0:
		t = d.running[d.choose(len(d.running))]
		d.distort(&t)
	default:
		in := pick(d.choose,
			model.Input{Op: model.Cancel, Job: d.arrived},
			model.Input{Op: model.Cancel, Job: -1},
			model.Input{Op: model.Arrive, Job: d.arrived + 1, Count: 1},
			model.Input{Op: model.Arrive, Job: d.arrived, Count: 0},
			model.Input{Op: model.Arrive, Job: d.arrived, Count: 1, Kind: uint16(len(d.kinds))},
			model.Input{Op: model.Arrive, Job: d.arrived, Count: int32(model.Unbounded)},
			model.Input{Op: 99})
		if d.arrived == 0 && in.Count == int32(model.Unbounded) {
			return nil // that many may arrive
		}
		if effects, err := d.core.Step(in, nil); err == nil || len(effects) > 0 {
			return fmt.Errorf("input %+v was not refused", in)
		}
		return nil
	}
	op := pick(d.choose, model.Done, model.Failed)
	effects, err := d.core.Step(model.Input{Op: op, Task: t}, nil)
	var refused *model.TaskError
	if !errors.As(err, &refused) || refused.Task != t || len(effects) > 0 {
		return fmt.Errorf("%s of %+v, which does not run, gives error %v and %d effects", op, t, err, len(effects))
	}
	return nil
}

// distort changes one field of a task.
func (d *driver) distort(t *model.Task) {
	switch d.choose(7) {
	case 0:
		t.Stage = (t.Stage + 1) % model.NumStages // no stage but one that may run too is next to another
		if slices.Contains(d.running, *t) {
			t.Gen++
		}
	case 1:
		t.Lane++
	case 2:
		t.Lane = -1
	case 3:
		t.Slot = -1
	case 4:
		t.Slot = 1 << 20
	case 5:
		t.Gen++
	case 6:
		t.Block = pick(d.choose, model.ParseBuffer, model.NumBlocks)
	}
}

// withinBound reports more partitions with vectors than the structure of the configuration admits.
func (d *driver) withinBound() error {
	most, holding := 0, 0
	for k := range d.kinds {
		most = max(most, d.kinds[k].Partitions)
		for _, p := range []model.Place{model.InSend, model.InChannel, model.OnGPU} {
			holding += d.core.Count(k, p)
		}
		if d.config.FreeVectors == model.AfterFinish {
			holding += d.core.Count(k, model.InFinish)
		}
	}
	if bound := d.config.StructuralBound(most); bound.Partitions > 0 && holding > bound.Partitions {
		return fmt.Errorf("%d partitions hold vectors after %d steps: the bound is %s", holding, len(d.stream.Records), bound.Formula)
	}
	return nil
}

// leftOver reports what is not zero at the end.
func (d *driver) leftOver() error {
	var left []error
	for job := range d.arrived {
		if n := d.ends[job]; n != 1 {
			left = append(left, fmt.Errorf("job %d ended %d times", job, n))
		}
	}
	if n := d.core.InFlight(); n != 0 {
		left = append(left, fmt.Errorf("%d jobs are in flight", n))
	}
	if free := d.core.FreePermits(); free != d.config.Admission.Permits {
		left = append(left, fmt.Errorf("%s of %s permits are free", free, d.config.Admission.Permits))
	}
	if n := d.core.LocksHeld(); n != 0 {
		left = append(left, fmt.Errorf("%d locks are held", n))
	}
	for i, n := range d.core.Census(nil) {
		if n != 0 && i%int(model.NumPlaces) != int(model.HeldPool) {
			left = append(left, fmt.Errorf("%d of kind %d are at place %d", n, i/int(model.NumPlaces), i%int(model.NumPlaces)))
		}
	}
	if d.core.Waiting() || d.core.Admitting() {
		left = append(left, errors.New("jobs or partitions wait"))
	}
	return errors.Join(left...)
}

// Whatever the configuration, the kinds, the order of completions, the failures and cancellations: all checkers
// hold, every job ends once, misfits are refused and change nothing, and nothing is left.
func TestCoreUnderChance(t *testing.T) {
	for seed := range uint64(3000) {
		if err := drive(rand.New(rand.NewPCG(seed, 0)).IntN); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	// Smaller runs, which shrink.
	rapid.Check(t, func(t *rapid.T) {
		if err := drive(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzCore drives the core with bytes as choices. After the last one everything goes its simplest way.
func FuzzCore(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 1, 3, 1, 2, 1, 0, 2, 1, 1, 0, 1, 1, 2, 9, 9, 20, 21, 9, 30, 10, 12, 31})
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) > 4096 {
			return
		}
		if err := drive(func(n int) int {
			if len(choices) == 0 {
				return n - 1
			}
			b := choices[0]
			choices = choices[1:]
			return int(b) % n
		}); err != nil {
			t.Fatal(err)
		}
	})
}
