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
	traits   []traits // by kind
	capacity int32

	partitions partitions
	jobs       jobs
	waiting    waiting // jobs that have not begun
	inFlight   int32   // jobs that have
	arrived    int32   // jobs in all
	draining   bool
	running    int32 // started stages that are not over
	done       int32 // jobs
	stalled    bool  // by the last step

	batch   int32 // slot of the batch that collects jobs, or none
	opening queue // jobs that wait for their reservation or their data
	data    data
	ledger  ledger
	timers  []timer

	ready        line  // jobs with partitions to admit
	permits      int32 // free ones
	synthWorkers int32 // free ones
	handoff      queue // admitted partitions waiting for a synthesis worker
	blocked      queue // partitions blocked in send, by end of synthesis
	channel      line
	turns        uint64 // partitions admitted so far, where the order is in turn
	idle         queue  // workers, longest idle first
	workers      links  // worker w belongs to device w mod devices
	deviceOf     []uint8
	devices      []device
	locks        int32 // held ones
	lockWaits    int32 // partitions that wait for a lock
	finishes     queue // partitions waiting for a finalizer
	finalizers   int32 // free ones
	deallocs     dealloc

	parseLanes, synthLanes, finishLanes laneSet

	census []counts // by kind
	out    []Effect
}

// device is a GPU: its lock and the partitions whose workers wait for it.
type device struct {
	locked bool
	queue  queue
}

// NewCore returns an empty pipeline. The configuration must be valid (Config.Validate) and every kind must have
// at least one partition and the stages Synth and Kernel, and none Load.
func NewCore(config Config, kinds []Kind) (*Core, error) {
	traits, err := newTraits(&config, kinds)
	if err != nil {
		return nil, err
	}
	c := &Core{
		config:       config,
		policy:       newPolicy(&config),
		kinds:        kinds,
		traits:       traits,
		capacity:     int32(config.ChannelCapacity()),
		batch:        none,
		permits:      int32(config.Admission.Permits),
		synthWorkers: int32(config.Synthesis.MaxParallel),
		finalizers:   int32(config.Finalizers),
		workers:      make(links, config.Workers()),
		deviceOf:     make([]uint8, config.Workers()),
		devices:      make([]device, config.GPU.Devices),
		deallocs:     dealloc{free: int32(config.Dealloc.Workers)},
		census:       make([]counts, len(kinds)),
	}
	for _, q := range []*queue{&c.opening, &c.handoff, &c.blocked, &c.idle, &c.finishes, &c.partitions.free, &c.jobs.free} {
		*q = emptyQueue()
	}
	order := c.policy.order
	c.ready = newLine(order == byPriority || order == oldestFirst)
	c.channel = newLine(order != inOrderOfArrival)
	c.waiting.ranks = make([]backlog, 1)
	for _, t := range traits {
		c.waiting.ranks = append(c.waiting.ranks, make([]backlog, max(0, t.rank+1-len(c.waiting.ranks)))...)
	}
	c.keepBooks()
	for d := range c.devices {
		c.devices[d].queue = emptyQueue()
		for w := d; w < len(c.workers); w += len(c.devices) {
			c.idle.push(c.workers, int32(w))
			c.deviceOf[w] = uint8(d)
		}
	}
	return c, nil
}

// Step tells the core what happened and appends what follows to effects, which it returns. An input that does
// not fit the state is an error and changes nothing.
func (c *Core) Step(in Input, effects []Effect) ([]Effect, error) {
	out, err := c.StepOn(&in)
	return append(effects, out...), err
}

// StepOn is Step without copies: it only reads its input, and the effects that it returns are there until the next step.
func (c *Core) StepOn(in *Input) ([]Effect, error) {
	c.out = c.out[:0]
	var err error
	switch in.Op {
	case Done, Failed:
		err = c.complete(&in.Task, in.Op == Failed)
	case Arrive:
		err = c.arrive(in)
	case Cancel:
		err = c.cancel(in.Job)
	case Drain:
		c.drain()
	case Wake:
		err = c.wake(&in.Task)
	default:
		err = fmt.Errorf("model: input operation %d is unknown", in.Op)
	}
	if err != nil {
		return nil, err
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
	for {
		if c.canPickUp() {
			c.pickUp()
		} else if c.canAccept() {
			c.accept()
		} else {
			break
		}
		c.grantLocks()
	}
	if c.canBegin() {
		c.begin()
	}
	for c.canOpen() && c.open() {
		c.begin()
	}
	if c.stalled = c.running == 0 && (c.inFlight > 0 || !c.waiting.empty()) && !c.mayProceed(); c.stalled {
		c.emit(Stall)
	}
}

func (c *Core) startFinish() {
	c.finalizers--
	c.start(c.partitions.next(&c.finishes), Finish, c.finishLanes.take())
}

// grantLocks gives every lock that is free to the partition that has waited longest for it.
func (c *Core) grantLocks() {
	if c.lockWaits > 0 && int(c.locks) < len(c.devices) {
		c.grantFreeLocks()
	}
}

func (c *Core) grantFreeLocks() {
	for d := range c.devices {
		if dev := &c.devices[d]; !dev.locked && dev.queue.n > 0 {
			dev.locked = true
			c.locks++
			c.lockWaits--
			p := c.partitions.next(&dev.queue)
			p.set(holdsLock)
			c.enterLock(p)
		}
	}
}

// canPickUp reports whether a worker is idle and a partition waits for one, in the channel or, with capacity 0, in send.
func (c *Core) canPickUp() bool {
	return c.idle.n > 0 && (c.channel.n > 0 || c.capacity == 0 && c.blocked.n > 0)
}

// pickUp gives waiting partitions to idle workers. With capacity 0 a worker takes from the longest-blocked sender itself.
func (c *Core) pickUp() {
	for c.canPickUp() {
		var p *partition
		if c.channel.n > 0 {
			p = c.partitions.first(&c.channel)
		} else {
			p = c.partitions.next(&c.blocked)
			c.endSend(p)
		}
		c.take(p, c.idle.pop(c.workers))
	}
}

func (c *Core) canAccept() bool { return c.blocked.n > 0 && c.channel.n < c.capacity }

// accept moves blocked senders into the channel, longest-blocked first.
func (c *Core) accept() {
	for c.canAccept() {
		c.enterChannel(c.partitions.next(&c.blocked))
	}
}

// emit appends an effect and returns it to be filled in. It is filled in place because this is the hottest line of
// the core: an effect that is put together elsewhere and then copied costs the processor a stall.
func (c *Core) emit(op EffectOp) *Effect {
	n := len(c.out)
	c.out = append(c.out, Effect{})
	e := &c.out[n]
	e.Op = op
	return e
}

func (c *Core) emitJob(op EffectOp, job int32, kind uint16) *Effect {
	e := c.emit(op)
	e.Kind, e.Proofs, e.Job = kind, 1, job
	return e
}

func (c *Core) emitPartition(op EffectOp, p *partition) *Effect {
	e := c.emit(op)
	e.Kind, e.Proofs, e.Job, e.Partition = p.kind, p.proofs, p.job, p.index
	return e
}
