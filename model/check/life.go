package check

import "headroom/model"

// life is what the books say of one partition between admission and the last free of its blocks. Everything that
// it holds follows from how far it has come.
type life struct {
	job   *job
	index int32
	kind  *model.Kind

	begun, running, over model.StageSet // over: ended with a result

	proofs          int // joined in its job: 1 without a batch
	accepted, taken bool
	regionOver      bool // the kernel region ended with a result
	out             bool // finished or left
	outAt           int  // record at which it did
	gave            bool // left because its job was given up
	told            bool // that it left was said

	// Places in the orders of admission, of the ends of synthesis and of entering the channel.
	admittedAs, synthEnd, acceptedAs int
	worker                           int32
	blocks                           [model.NumBlocks]blockState
}

// blockState is how far a block has come.
type blockState uint8

const (
	absent   blockState = iota
	held                // stages may read it
	due                 // its point has come: it waits to be freed
	freeing             // its dealloc runs
	returned            // its dealloc is over
	freed
)

func (l *life) has(s model.Stage) bool { return l.kind.Stages.Has(s) }

// blocked reports whether the partition is synthesized and waits in send.
func (l *life) blocked() bool { return l.over.Has(model.Synth) && !l.accepted && !l.out }

func (l *life) inChannel() bool { return l.accepted && !l.taken && !l.out }

// awaitsWorker reports whether the partition is admitted and waits for a synthesis worker.
func (l *life) awaitsWorker() bool { return !l.begun.Has(model.Synth) && !l.out }

// onSynthWorker reports whether the partition occupies a synthesis worker: until the channel has it.
func (l *life) onSynthWorker() bool { return l.begun.Has(model.Synth) && !l.accepted && !l.out }

// onWorker reports whether the partition occupies a GPU worker: until its kernel region is over if a finalizer
// does the rest, else until it has finished.
func (l *life) onWorker(c *model.Config) bool {
	return l.taken && !l.out && !(c.GPU.Split && l.regionOver)
}

// holdsPermit reports whether the release point is still to come.
func (l *life) holdsPermit(c *model.Config) bool {
	passed := false
	switch c.Admission.Release {
	case model.AfterSynthesis:
		passed = l.over.Has(model.Synth)
	case model.AfterSend:
		passed = l.accepted
	case model.AfterKernel:
		passed = l.regionOver
	}
	return !passed && !l.out
}

// underLock returns the first stage that the lock covers.
func (l *life) underLock(c *model.Config) model.Stage {
	if c.GPU.Lock == model.LockCall && l.has(model.Prep) {
		return model.Prep
	}
	return model.Kernel
}

func (l *life) holdsLock(c *model.Config) bool {
	if !l.onWorker(c) || !l.begun.Has(l.underLock(c)) {
		return false
	}
	return !l.regionOver || c.GPU.Lock == model.LockCall
}

// waitsLock reports whether the partition's worker asks for the lock.
func (l *life) waitsLock(c *model.Config) bool {
	if !l.onWorker(c) || l.job.doomed || l.begun.Has(l.underLock(c)) {
		return false
	}
	prepFirst := c.GPU.Lock == model.LockKernel && c.GPU.Prep == model.PrepBeforeLock && l.has(model.Prep)
	return !prepFirst || l.over.Has(model.Prep)
}

// waitsFinish reports whether the partition waits for a finalizer.
func (l *life) waitsFinish(c *model.Config) bool {
	return c.GPU.Split && l.regionOver && !l.out && !l.job.doomed && !l.begun.Has(model.Finish)
}

// regionEnds reports whether all parts of the kernel region that the kind has are over.
func (l *life) regionEnds() bool {
	for _, s := range [...]model.Stage{model.Prep, model.Kernel, model.Tail} {
		if l.has(s) && !l.over.Has(s) {
			return false
		}
	}
	return true
}

// gone reports whether nothing is left of the partition.
func (l *life) gone() bool {
	for _, b := range [...]model.Block{model.Vectors, model.Assignment} {
		if s := l.blocks[b]; s != absent && s != freed {
			return false
		}
	}
	return l.out
}

// job is what the books say of one job in flight. In a batch the leading job has the partitions of all.
type job struct {
	number   int32
	kind     *model.Kind
	proofs   int  // jobs in its batch, or 1
	lead     *job // of a job that has joined another; nil for others
	collects bool // waits for others to join it
	reserved bool // working bytes of all its partitions
	parsing  bool
	ready    bool // its partitions may be admitted
	doomed   bool // failed or cancelled
	givenUp  bool // cancelled after it had joined a batch
	ended    bool
	late     int // index of the step in which its data became complete after admissions may have been made; else -1
	turn     int // world.turns when it became ready or, in turn, last had a partition admitted
	admitted int32
	finished int32 // partitions with a result
	live     int32 // partitions that are not out
	buffer   blockState
}

// leads returns the job that has the partitions: the job itself, or the one that it has joined.
func (j *job) leads() *job {
	if j.lead != nil {
		return j.lead
	}
	return j
}

// opening reports whether the job waits for its reservation or its data.
func (j *job) opening() bool {
	return j.lead == nil && !j.collects && !j.parsing && !j.ready && !j.doomed && !j.ended
}

// admits reports whether the job has partitions to admit.
func (j *job) admits() bool { return j.ready && !j.doomed && int(j.admitted) < j.kind.Partitions }
