package sim_test

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"

	"headroom/model"
	"headroom/model/profile"
)

// twin is the pipeline as one writes it in Go without any thought of simulation: a channel between goroutines,
// semaphores, a channel of one as the lock of a device, sleeps for work. It shares nothing with the core. It must
// run in a bubble, and no two of its sleeps may end at one instant: Go does not say in which order such sleepers
// go on.
type twin struct {
	config model.Config
	kinds  []profile.Kind
	work   func(kind uint16, job, partition int32, s model.Stage, b model.Block) model.Span

	permits  *semaphore.Weighted
	places   *semaphore.Weighted // of jobs in flight
	ready    chan *twinJob
	channel  chan *twinPartition
	locks    []chan struct{}
	finishes chan *twinPartition
	deallocs chan twinBlock
	undone   sync.WaitGroup // blocks that are not freed and jobs that are not done

	mu    sync.Mutex
	begun time.Time
	log   []happening
}

type twinJob struct {
	arrival
	left atomic.Int32 // partitions that have not finished
}

type twinPartition struct {
	*twinJob
	kind   *profile.Kind
	index  int32
	worker int
}

type twinBlock struct {
	*twinPartition
	block model.Block
	bytes model.Bytes
}

// run brings the jobs through the pipeline and returns what happened, in no order.
func (t *twin) run(jobs []arrival) []happening {
	partitions := 0
	for _, j := range jobs {
		partitions += t.kinds[j.kind].Partitions
	}
	t.permits, t.places = semaphoreOf(t.config.Admission.Permits), semaphoreOf(t.config.JobsInFlight)
	t.ready = make(chan *twinJob, len(jobs))
	t.channel = make(chan *twinPartition, min(int(t.config.ChannelCapacity()), partitions))
	t.finishes = make(chan *twinPartition, partitions)
	t.deallocs = make(chan twinBlock, 2*partitions)
	t.undone.Add(2*partitions + len(jobs))
	t.begun = time.Now()
	t.employ(partitions)
	go t.admit()
	for _, j := range jobs {
		time.Sleep(time.Duration(j.at) - time.Since(t.begun))
		acquire(t.places)
		t.open(&twinJob{arrival: j})
	}
	t.undone.Wait()
	close(t.ready)
	close(t.channel)
	close(t.finishes)
	close(t.deallocs)
	return t.log
}

// employ starts the GPU workers, one after the other so that they wait in order, the finalizers and the workers
// that free.
func (t *twin) employ(partitions int) {
	devices := int(t.config.GPU.Devices)
	for d := range devices {
		t.locks = append(t.locks, make(chan struct{}, 1))
		for i := range int(t.config.GPU.WorkersPerDevice) {
			go t.gpuWorker(i*devices + d)
			synctest.Wait()
		}
	}
	for range min(int(t.config.Finalizers), partitions) {
		go func() {
			for p := range t.finishes {
				t.finish(p)
			}
		}()
	}
	for range int(t.config.Dealloc.Workers) {
		go func() {
			for b := range t.deallocs {
				t.stage(b.twinPartition, model.Dealloc, b.block)
				t.freed(b)
			}
		}()
	}
}

// open takes a job in flight.
func (t *twin) open(j *twinJob) {
	k := &t.kinds[j.kind]
	j.left.Store(int32(k.Partitions))
	t.note("job start", j.job, 0, k.Footprint.Parse.Value)
	if _, there := k.Work[model.Parse]; !there {
		t.ready <- j
		return
	}
	go func() {
		t.stage(&twinPartition{twinJob: j, kind: k}, model.Parse, model.NoBlock)
		t.ready <- j
	}()
}

// admit starts a goroutine for every partition of the parsed jobs, as soon as there is a permit for it.
func (t *twin) admit() {
	for j := range t.ready {
		for i := range t.kinds[j.kind].Partitions {
			acquire(t.permits)
			go t.synthesize(&twinPartition{twinJob: j, kind: &t.kinds[j.kind], index: int32(i)})
		}
	}
}

func (t *twin) synthesize(p *twinPartition) {
	f := &p.kind.Footprint
	t.stage(p, model.Synth, model.NoBlock)
	t.note("hold", p.job, p.index, f.Vectors.Value+f.Assignment.Value)
	t.release(model.AfterSynthesis)
	t.channel <- p
	t.note("accept", p.job, p.index, 0)
	t.release(model.AfterSend)
}

func (t *twin) gpuWorker(w int) {
	lock := t.locks[w%int(t.config.GPU.Devices)]
	for p := range t.channel {
		p.worker = w
		t.note("take", p.job, p.index, p.kind.Footprint.Call.Value, w)
		if t.config.GPU.Lock == model.LockCall {
			t.wholeCallLocked(p, lock)
		} else {
			t.kernelLocked(p, lock)
		}
	}
}

func (t *twin) wholeCallLocked(p *twinPartition, lock chan struct{}) {
	lock <- struct{}{}
	t.stage(p, model.Prep, model.NoBlock)
	t.stage(p, model.Kernel, model.NoBlock)
	t.stage(p, model.Tail, model.NoBlock)
	if t.config.GPU.Split {
		<-lock
		t.leave(p)
		return
	}
	t.leave(p)
	<-lock
}

func (t *twin) kernelLocked(p *twinPartition, lock chan struct{}) {
	prepared := make(chan struct{})
	prepare := func() {
		t.stage(p, model.Prep, model.NoBlock)
		close(prepared)
	}
	if t.config.GPU.Prep == model.PrepBesideLock {
		go prepare()
	} else {
		prepare()
	}
	lock <- struct{}{}
	t.stage(p, model.Kernel, model.NoBlock)
	<-prepared
	t.stage(p, model.Tail, model.NoBlock)
	<-lock
	t.leave(p)
}

// leave is what comes after the kernel region: the worker's own finish, or a finalizer's.
func (t *twin) leave(p *twinPartition) {
	t.release(model.AfterKernel)
	if t.config.FreeVectors == model.AfterKernel {
		t.free(p, model.Vectors)
	}
	_, toFinish := p.kind.Work[model.Finish]
	switch {
	case !toFinish || !t.config.GPU.Split:
		t.finish(p)
	default:
		t.finishes <- p
	}
}

func (t *twin) finish(p *twinPartition) {
	t.stage(p, model.Finish, model.NoBlock)
	t.release(model.AfterFinish)
	if t.config.FreeVectors == model.AfterFinish {
		t.free(p, model.Vectors)
	}
	t.free(p, model.Assignment)
	if p.left.Add(-1) == 0 {
		t.note("job done", p.job, 0, -p.kind.Footprint.Parse.Value)
		t.places.Release(1)
		t.undone.Done()
	}
}

// free sends a block to the workers that free, if freeing takes time.
func (t *twin) free(p *twinPartition, b model.Block) {
	f := &p.kind.Footprint
	block := twinBlock{p, b, f.Vectors.Value}
	if b == model.Assignment {
		block.bytes = f.Assignment.Value + f.Call.Value
	}
	if _, there := p.kind.Work[model.Dealloc]; there {
		t.deallocs <- block
		return
	}
	t.freed(block)
}

func (t *twin) freed(b twinBlock) {
	t.note("free "+b.block.String(), b.job, b.index, -b.bytes)
	t.undone.Done()
}

// stage spends the time of a stage, if the kind has it.
func (t *twin) stage(p *twinPartition, s model.Stage, b model.Block) {
	if _, there := p.kind.Work[s]; !there {
		return
	}
	held := model.Bytes(0)
	if points := p.kind.Footprint.During[s]; len(points) > 0 {
		held = points[0].Bytes.Value
	}
	what := stageName(s, b)
	t.note("start "+what, p.job, p.index, held)
	time.Sleep(time.Duration(t.work(p.arrival.kind, p.job, p.index, s, b)))
	t.note("end "+what, p.job, p.index, -held)
}

func (t *twin) release(at model.Release) {
	if t.config.Admission.Release == at {
		t.permits.Release(1)
	}
}

func (t *twin) note(what string, job, partition int32, bytes model.Bytes, worker ...int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := happening{At: model.Instant(time.Since(t.begun)), What: what, Job: job, Partition: partition, Bytes: bytes}
	if len(worker) > 0 {
		h.Worker = worker[0]
	}
	t.log = append(t.log, h)
}

func semaphoreOf(n model.Count) *semaphore.Weighted {
	if n == model.Unbounded {
		return semaphore.NewWeighted(math.MaxInt64)
	}
	return semaphore.NewWeighted(int64(n))
}

// acquire takes one; it waits as long as it must.
func acquire(s *semaphore.Weighted) {
	if err := s.Acquire(context.Background(), 1); err != nil {
		panic(err) // only a context that ends makes Acquire fail
	}
}
