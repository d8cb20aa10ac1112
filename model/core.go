package model

import "fmt"

// Core is the pipeline's transition code: queue, permits, channel, worker assignment, locks and release points.
// It has no clock, no goroutine, no I/O and no random numbers. It is told what happened (Step) and answers what
// to start next; what a stage costs is the driver's business. The same core is driven in virtual time by sim, in
// real time by backend and with recorded events by replay, so that they can differ in durations and bytes but
// never in policy.
//
// Within a step releases apply first; then starts run to a fixed point, downstream first.
type Core struct {
	policy   policy
	config   Config
	kinds    []Kind
	capacity int32

	partitions partitions
	jobs       jobs
	waiting    backlog // jobs that have not begun
	inFlight   int32   // jobs that have
	arrived    int32   // jobs in all
	draining   bool
	running    int32 // started stages that are not over
	done       int32 // jobs
	stalled    bool  // by the last step

	ready      queue // jobs with partitions to admit
	permits    int32 // free ones
	blocked    queue // partitions blocked in send, by end of synthesis
	channel    queue
	idle       queue // workers, longest idle first
	workers    links // worker w belongs to device w mod devices
	devices    []device
	locks      int32 // held ones
	finishes   queue // partitions waiting for a finalizer
	finalizers int32 // free ones
	deallocs   dealloc

	parseLanes, synthLanes, finishLanes laneSet

	census [][NumPlaces]int32 // by kind
	out    []Effect
}

// policy is what the configuration says about the way of a partition, resolved once, since a comparison of words
// costs more than all the rest of a step.
type policy struct {
	release         releasePoint
	lockCall        bool
	prepBeside      bool
	split           bool
	freeAfterKernel bool
}

// releasePoint is a Release as a number.
type releasePoint uint8

const (
	atSynthesisEnd releasePoint = iota
	atSendEnd
	atKernelEnd
	atFinishEnd
)

func newPolicy(c *Config) policy {
	points := map[Release]releasePoint{
		AfterSynthesis: atSynthesisEnd, AfterSend: atSendEnd, AfterKernel: atKernelEnd, AfterFinish: atFinishEnd,
	}
	return policy{
		release:         points[c.Admission.Release],
		lockCall:        c.GPU.Lock == LockCall,
		prepBeside:      c.GPU.Prep == PrepBesideLock,
		split:           c.GPU.Split,
		freeAfterKernel: c.FreeVectors == AfterKernel,
	}
}

// device is a GPU: its lock and the partitions whose workers wait for it.
type device struct {
	locked bool
	queue  queue
}

// NewCore returns an empty pipeline. The configuration must be valid (Config.Validate) and every kind must have
// at least one partition and the stages Synth and Kernel.
func NewCore(config Config, kinds []Kind) (*Core, error) {
	for _, k := range kinds {
		if k.Partitions < 1 || !k.Stages.Has(Synth) || !k.Stages.Has(Kernel) {
			return nil, fmt.Errorf("model: kind %q has %d partitions and stages %s: at least one partition and the stages synth and kernel are needed", k.Name, k.Partitions, k.Stages)
		}
	}
	c := &Core{
		config:     config,
		policy:     newPolicy(&config),
		kinds:      kinds,
		capacity:   int32(config.ChannelCapacity()),
		permits:    int32(config.Admission.Permits),
		finalizers: int32(config.Finalizers),
		workers:    make(links, config.Workers()),
		devices:    make([]device, config.GPU.Devices),
		deallocs:   dealloc{free: int32(config.Dealloc.Workers)},
		census:     make([][NumPlaces]int32, len(kinds)),
	}
	for _, q := range []*queue{&c.ready, &c.blocked, &c.channel, &c.idle, &c.finishes, &c.partitions.free, &c.jobs.free} {
		*q = emptyQueue()
	}
	for d := range c.devices {
		c.devices[d].queue = emptyQueue()
		for w := d; w < len(c.workers); w += len(c.devices) {
			c.idle.push(c.workers, int32(w))
		}
	}
	return c, nil
}

// Step tells the core what happened and appends what follows to effects, which it returns. An input that does
// not fit the state is an error and changes nothing.
func (c *Core) Step(in Input, effects []Effect) ([]Effect, error) { return c.step(&in, effects) }

// step is Step without the copy of its input, so that Step itself is inlined.
func (c *Core) step(in *Input, effects []Effect) ([]Effect, error) {
	c.out = effects
	var err error
	switch in.Op {
	case Arrive:
		err = c.arrive(in)
	case Done, Failed:
		err = c.complete(&in.Task, in.Op == Failed)
	case Cancel:
		err = c.cancel(in.Job)
	case Drain:
		c.drain()
	default:
		err = fmt.Errorf("model: input operation %d is unknown", in.Op)
	}
	if err != nil {
		return effects, err
	}
	c.settle()
	return c.out, nil
}

// settle starts everything that can start, downstream first, until nothing can: nothing begins while something
// further on still could.
func (c *Core) settle() {
	if c.deallocs.head != c.deallocs.tail {
		c.startDeallocs()
	}
	for c.finishes.n > 0 && c.finalizers > 0 {
		c.startFinish()
	}
	c.grantLocks()
	for c.idle.n > 0 && c.pickUp() || c.blocked.n > 0 && c.accept() {
		c.grantLocks()
	}
	c.admit()
	for !c.waiting.empty() && c.openJobs() {
		c.admit()
	}
	if c.stalled = c.running == 0 && (c.inFlight > 0 || !c.waiting.empty()); c.stalled {
		c.emit(Stall)
	}
}

func (c *Core) startFinish() {
	c.finalizers--
	c.start(c.partitions.next(&c.finishes), Finish, c.finishLanes.take())
}

func (c *Core) grantLocks() {
	if int(c.locks) == len(c.devices) {
		return
	}
	for d := range c.devices {
		if dev := &c.devices[d]; !dev.locked && dev.queue.n > 0 {
			dev.locked = true
			c.locks++
			p := c.partitions.next(&dev.queue)
			p.set(holdsLock)
			c.enterLock(p)
		}
	}
}

// pickUp gives waiting partitions to idle workers and reports whether it did. With capacity 0 a worker takes
// from the longest-blocked sender itself.
func (c *Core) pickUp() bool {
	picked := false
	for c.idle.n > 0 {
		var p *partition
		switch {
		case c.channel.n > 0:
			p = c.partitions.next(&c.channel)
		case c.capacity == 0 && c.blocked.n > 0:
			p = c.partitions.next(&c.blocked)
			c.endSend(p)
		default:
			return picked
		}
		c.take(p, c.idle.pop(c.workers))
		picked = true
	}
	return picked
}

// accept moves blocked senders into the channel, longest-blocked first, and reports whether it did.
func (c *Core) accept() bool {
	accepted := false
	for c.blocked.n > 0 && c.channel.n < c.capacity {
		p := c.partitions.next(&c.blocked)
		c.endSend(p)
		c.move(p, InChannel)
		c.partitions.wait(&c.channel, p)
		accepted = true
	}
	return accepted
}

// admit starts the synthesis of partitions in order while permits are free.
func (c *Core) admit() {
	for c.ready.n > 0 && c.permits > 0 {
		slot := c.ready.head
		j := c.jobs.at(slot)
		p := c.partitions.take()
		p.job, p.jobSlot, p.index, p.kind, p.stages = j.number, slot, j.admitted, j.kind, c.kinds[j.kind].Stages
		p.set(holdsPermit)
		j.admitted++
		if int(j.admitted) == c.kinds[j.kind].Partitions {
			c.ready.pop(c.jobs.links)
		}
		c.permits--
		c.count(p.kind, InSynth, 1)
		c.start(p, Synth, c.synthLanes.take())
	}
}

// openJobs takes jobs in flight and reports whether one of them has partitions to admit at once.
func (c *Core) openJobs() bool {
	opened := false
	for c.inFlight < int32(c.config.JobsInFlight) && !c.waiting.empty() {
		number, kind := c.waiting.pop()
		c.inFlight++
		k := &c.kinds[kind]
		slot := c.jobs.take(job{number: number, kind: kind, left: int32(k.Partitions)})
		c.count(kind, HeldParse, 1)
		c.emitJob(JobStart, number, kind)
		if k.Stages.Has(Parse) {
			c.startParse(slot)
			continue
		}
		c.ready.push(c.jobs.links, slot)
		opened = true
	}
	return opened
}

// emit appends an effect and returns it to be filled in. It is filled in place because this is the hottest line of
// the core: an effect that is put together elsewhere and then copied costs the processor a stall.
func (c *Core) emit(op EffectOp) *Effect {
	c.out = append(c.out, Effect{})
	e := &c.out[len(c.out)-1]
	e.Op = op
	return e
}

func (c *Core) emitJob(op EffectOp, job int32, kind uint16) *Effect {
	e := c.emit(op)
	e.Kind, e.Job = kind, job
	return e
}

func (c *Core) emitPartition(op EffectOp, p *partition) *Effect {
	e := c.emitJob(op, p.job, p.kind)
	e.Partition = p.index
	return e
}
