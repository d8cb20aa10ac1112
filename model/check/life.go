package check

import "headroom/model"

// life is what the books say of one partition between admission and the last free of its blocks. Everything that
// it holds follows from how far it has come.
type life struct {
	job   *job
	index int32
	kind  *model.Kind

	begun, running, over model.StageSet // over: ended with a result

	accepted, taken bool
	regionOver      bool // the kernel region ended with a result
	out             bool // finished or left
	outAt           int  // record at which it did
	told            bool // that it left was said

	synthEnd, acceptedAs int // places in the orders of the ends of synthesis and of entering the channel
	worker               int32
	blocks               [model.NumBlocks]blockState
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

// job is what the books say of one job in flight.
type job struct {
	number   int32
	kind     *model.Kind
	parsing  bool
	ready    bool // its partitions may be admitted
	doomed   bool // failed or cancelled
	ended    bool
	admitted int32
	finished int32 // partitions with a result
	live     int32 // partitions that are not out
	buffer   blockState
}

// admits reports whether the job has partitions to admit.
func (j *job) admits() bool { return j.ready && !j.doomed && int(j.admitted) < j.kind.Partitions }
