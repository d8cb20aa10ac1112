package profile

import (
	"math"

	"headroom/model"
	"headroom/model/stream"
)

// Sampler draws the work of stages. A draw is a function of the seed, the replication, the job, the partition
// and the stage alone.
type Sampler struct {
	stages []stageSampler // of kind k and stage s at k*NumStages+s
}

type stageSampler struct {
	fixed       bool // nothing is drawn: the work is always the same
	always      model.Span
	exponential bool    // the partition's factor is exponential
	spread      bool    // it is lognormal
	jobSpread   bool    // the job's factor is lognormal
	mean        float64 // nanoseconds
	partition   spread
	job         spread
	vectors     float64 // of Dealloc: the part that falls to the vectors; the rest is the assignment's
}

// spread is a lognormal factor with mean 1.
type spread struct {
	key   stream.Key
	sigma float64
	shift float64 // sigma^2/2, since the mean of exp(N(m, s)) is exp(m + s^2/2)
}

// NewSampler returns the sampler of some kinds of a profile, indexed as given.
func NewSampler(kinds []Kind, seed uint64, replication uint32) *Sampler {
	s := &Sampler{stages: make([]stageSampler, len(kinds)*int(model.NumStages))}
	for i := range kinds {
		for stage, w := range kinds[i].Work {
			*s.of(uint16(i), stage) = stageSampler{
				fixed:       w.Law == Constant && w.JobCV.Value == 0 && stage != model.Dealloc,
				always:      w.Mean.Value,
				exponential: w.Law == Exponential,
				spread:      w.Law != Exponential && w.CV.Value != 0,
				jobSpread:   w.JobCV.Value != 0,
				mean:        float64(w.Mean.Value),
				partition:   newSpread(seed, replication, purpose(stage), w.CV.Value),
				job:         newSpread(seed, replication, purpose(stage)|1<<16, w.JobCV.Value),
				vectors:     vectorsShare(&kinds[i].Footprint),
			}
		}
	}
	return s
}

func (s *Sampler) of(kind uint16, stage model.Stage) *stageSampler {
	return &s.stages[int(kind)*int(model.NumStages)+int(stage)]
}

// purpose numbers the draws of a stage, from 1 for parse: loading draws nothing.
func purpose(s model.Stage) uint32 { return uint32(s - model.Load) }

func newSpread(seed uint64, replication, purpose uint32, cv float64) spread {
	sigma := math.Sqrt(math.Log1p(cv * cv))
	return spread{key: stream.NewKey(seed, replication, purpose), sigma: sigma, shift: sigma * sigma / 2}
}

// factor draws at (a, b).
func (s *spread) factor(a, b uint32) float64 {
	return stream.Exp(s.sigma*stream.Normal(s.key.Uniform(a, b)) - s.shift)
}

func vectorsShare(f *Footprint) float64 {
	v, rest := float64(f.Vectors.Value), float64(f.Assignment.Value+f.Call.Value)
	if v+rest == 0 {
		return 0.5
	}
	return v / (v + rest)
}

// Fixed returns the work of a stage of every partition of a kind, if it is the same for all.
func (s *Sampler) Fixed(kind uint16, stage model.Stage) (work model.Span, fixed bool) {
	w := s.of(kind, stage)
	return w.always, w.fixed
}

// Work returns the work of a stage of a partition; for Dealloc, of freeing the block.
func (s *Sampler) Work(kind uint16, job, partition int32, stage model.Stage, b model.Block) model.Span {
	w := s.of(kind, stage)
	if w.fixed {
		return w.always
	}
	work := w.draw(uint32(job), uint32(partition))
	if stage == model.Dealloc {
		work *= w.share(b)
	}
	return model.Span(model.Nearest(work))
}

// draw returns the work of a partition in nanoseconds.
func (w *stageSampler) draw(job, partition uint32) float64 {
	work := w.mean
	if w.jobSpread {
		work *= w.job.factor(job, 0)
	}
	switch {
	case w.exponential:
		work *= stream.Exponential(w.partition.key.Uniform(job, partition))
	case w.spread:
		work *= w.partition.factor(job, partition)
	}
	return work
}

// share returns the part of a partition's dealloc work that falls to a block.
func (w *stageSampler) share(b model.Block) float64 {
	if b == model.Vectors {
		return w.vectors
	}
	return 1 - w.vectors
}
