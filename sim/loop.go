package sim

import (
	"fmt"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/work"
)

// Run simulates a plan. The configuration, the workload and the profile must be valid; of a plan that cannot be simulated
// all the same the error is a PlanError. Each step is handed to record, which may be nil and must not keep the record's
// effects.
func Run(p Plan, record func(*model.Record)) (*Result, error) {
	l, err := newLoop(&p, record)
	if err != nil {
		return nil, &PlanError{err}
	}
	if l.refused != nil && !p.IgnoreLimit {
		return l.result(), nil
	}
	if err := l.run(); err != nil {
		return nil, err
	}
	if what := l.engine.Overflowed(); what != "" {
		return nil, &PlanError{fmt.Errorf("sim: %s, which is the most that can be added up: limit permits or jobs_in_flight", what)}
	}
	return l.result(), nil
}

// loop is one run in virtual time.
type loop struct {
	plan     *Plan
	config   model.Config // with the resident list that is in force
	baseline model.Bytes  // of the host, as drawn for the replication
	off      model.Bytes  // part of it by which the memory of the replication is off
	// preloaded is the most that was held while the data that is there from the start was loaded.
	preloaded model.Bytes
	kinds     []profile.Kind
	core      *model.Core
	engine    *work.Engine
	arrivals  *work.Arrivals
	timers    work.Timers
	timed     bool // the core may ask for wakes
	cancels   []model.Cancellation
	record    func(*model.Record)

	now     model.Instant
	outside model.Instant // of the next input that is no completion, or work.Forever
	limit   model.Limit
	refused *refusal // why the run need not begin, or nil
	tally   tally
	atPeak  []int32       // Core.Census when the memory was at its peak
	data    work.DataHeld // then
}

func newLoop(p *Plan, record func(*model.Record)) (*loop, error) {
	kinds, indices, err := p.kinds()
	if err != nil {
		return nil, err
	}
	drawn := p.Profile
	if p.Replication != 0 {
		drawn = p.Profile.Draw(p.Seed, p.Replication)
		for i := range kinds {
			kinds[i] = *drawn.Kind(kinds[i].Name)
		}
	}
	config := p.Config
	config.Resident = p.resident()
	shapes := make([]model.Kind, len(kinds))
	for i := range kinds {
		if kinds[i], err = kinds[i].Under(&config); err != nil {
			return nil, fmt.Errorf("sim: %w", err)
		}
		shapes[i] = kinds[i].Model()
	}
	core, err := model.NewCore(config, shapes)
	if err != nil {
		return nil, err
	}
	if err := fitsInMemory(p); err != nil {
		return nil, err
	}
	host, device := drawn.Baselines(kinds)
	off := max(drawn.Off, -host)
	host += off
	l := &loop{
		plan: p, config: config, baseline: host, off: off, kinds: kinds, core: core, record: record,
		arrivals: work.NewArrivals(&p.Workload, indices, p.Seed, p.Replication),
		cancels:  p.Disturb.Cancels,
		limit:    p.Machine.HostLimit(),
		timed:    config.Prepares(),
	}
	l.engine = work.NewEngine(l.setup(drawn.Interference, device))
	l.preloaded = l.engine.Memory.Level()
	l.refused = l.refuse()
	l.tally.first = l.arrivals.At
	l.lookOutside()
	l.atPeak, l.data = core.Census(nil), l.engine.Data()
	return l, nil
}

// setup returns what the engine is made from. Each device holds so much from the start.
func (l *loop) setup(in profile.Interference, device model.Bytes) work.Setup {
	p := l.plan
	s := work.Setup{
		Kinds: l.kinds, Interference: in, Config: l.config, Baseline: l.baseline, DeviceBaseline: device,
		Seed: p.Seed, Replication: p.Replication, Fails: p.Disturb.Fails,
	}
	if p.IgnoreLimit {
		return s
	}
	s.Limit, s.Memlock, s.Shm = l.limit.Bytes, p.Machine.Memlock, p.Machine.Shm
	for _, gpu := range p.Machine.GPUs {
		s.VRAM = append(s.VRAM, gpu.VRAM)
	}
	return s
}

// The most jobs and partitions that may be alive at once, each about 2 GB of this process's own memory.
const (
	mostJobs       = 10_000_000
	mostPartitions = 20_000_000
	mostMixed      = 100_000_000 // that wait; of one kind any number of them takes no memory
)

// fitsInMemory reports why the simulation itself would not fit into memory, or nil.
func fitsInMemory(p *Plan) error {
	partitions, jobs := p.MostPartitions(), p.Workload.Jobs()
	if p.Config.JobsInFlight != model.Unbounded {
		jobs = min(jobs, int(p.Config.JobsInFlight))
	}
	if all := p.Workload.Jobs(); len(p.Workload.Shares) > 1 && all > mostMixed {
		return fmt.Errorf("sim: a mix of %d jobs: at most %d can be simulated, since each that waits is remembered", all, mostMixed)
	}
	if jobs > mostJobs {
		return fmt.Errorf("sim: %d jobs may be in flight at once: at most %d can be simulated; limit jobs_in_flight or the workload", jobs, mostJobs)
	}
	alive := jobs * partitions
	if b := p.Config.StructuralBound(partitions); b.Partitions > 0 {
		alive = min(alive, b.Partitions)
	}
	if alive > mostPartitions {
		return fmt.Errorf("sim: %d partitions may be alive at once: at most %d can be simulated; limit permits, jobs_in_flight or the workload", alive, mostPartitions)
	}
	return nil
}

// run goes from instant to instant until nothing is left to happen, the limit is passed or the pipeline stalls. At each
// it steps through all inputs: completions downstream first and by lane, then the others. What becomes due at this
// instant because of them is the next round.
func (l *loop) run() error {
	for {
		next := min(l.engine.Next(), l.outside)
		if next == l.outside && l.core.Idle() && l.arrivals.At == work.Forever {
			return nil
		}
		if next == work.Forever {
			return &PlanError{fmt.Errorf("sim: after %s with %d jobs done, the next stage ends beyond 292 years, where time ends: the work or the number of jobs is out of range", l.now, l.core.Done())}
		}
		l.tally.pass(l, next)
		l.now = next
		l.engine.Advance(next)
		if l.watchPeak() {
			return nil
		}
		for l.engine.Next() == next {
			over := l.engine.Take(next)
			if err := l.step(&over.Input, over.Begin); err != nil {
				return err
			}
		}
		if l.outside == next {
			if err := l.stepOutside(); err != nil {
				return err
			}
		}
		l.engine.Settle(next)
		if l.watchPeak() || l.engine.BookCrossed() != nil || l.core.Stalled() {
			return nil
		}
	}
}

// lookOutside follows a change of the inputs to come that are no completions.
func (l *loop) lookOutside() {
	l.outside = min(l.arrivals.At, l.timers.Next())
	if len(l.cancels) > 0 {
		l.outside = min(l.outside, l.cancels[0].At)
	}
}

// stepOutside steps through what else happens at the instant: timers, then arrivals, then cancellations.
func (l *loop) stepOutside() error {
	for in, due := l.timers.Due(l.now); due; in, due = l.timers.Due(l.now) {
		if err := l.step(&in, l.now); err != nil {
			return err
		}
	}
	for l.arrivals.At == l.now {
		arrival := l.arrivals.Pop()
		if err := l.step(&arrival, l.now); err != nil {
			return err
		}
	}
	for len(l.cancels) > 0 && l.cancels[0].At == l.now {
		job := l.cancels[0].Job
		l.cancels = l.cancels[1:]
		if !l.core.Live(job) {
			continue
		}
		if err := l.step(&model.Input{Op: model.Cancel, Job: job}, l.now); err != nil {
			return err
		}
	}
	l.lookOutside()
	return nil
}

func (l *loop) step(in *model.Input, begin model.Instant) error {
	effects, err := l.core.StepOn(in)
	if err != nil {
		return fmt.Errorf("sim: at %s: %w", l.now, err)
	}
	if l.record != nil {
		l.record(&model.Record{At: l.now, Input: *in, Effects: effects, Begin: begin, End: l.now, State: l.core.State()})
	}
	l.engine.Apply(l.now, effects)
	if l.timed {
		l.timers.Note(l.now, effects)
		l.lookOutside()
	}
	l.tally.count(l.core, l.now)
	return nil
}
