package diagnose

import (
	"headroom/model"
)

// Errors of samples that follow each other are alike, so samples are judged in bins: as many as jobs that finished,
// within these bounds.
const (
	fewestBins = 10
	mostBins   = 60
	fewestEach = 4  // samples of a bin
	fedBins    = 25 // for counts
)

// bin is the mean of points that follow each other.
type bin struct {
	points     []point
	done       float64 // jobs
	worth      float64 // jobs that GPU workers took, by their partitions
	hours      float64
	anon       float64 // bytes
	file       float64
	shmem      float64
	vram       float64
	pinned     float64
	partitions float64
	most       float64 // partitions so far at once
	inFlight   []float64
	queues     [numQueues]float64
	phase      phase
	loaded     bool // there was something to admit
}

// phase is how far a run is.
type phase int

const (
	starting  phase = iota // no GPU worker has taken anything
	filling                // no job has finished
	finishing              // from the first end of a job to the last, or as long as there is something to admit
	over
)

func (r *run) phase(p *point) phase {
	switch {
	case p.at < r.firstTake:
		return starting
	case p.at < r.firstDone:
		return filling
	case int(p.done) < r.done || p.at <= r.admitted:
		return finishing
	}
	return over
}

// stretch is points of one phase, all before the last admission or all after it.
type stretch struct {
	phase  phase
	loaded bool
	points []point
}

// bins cuts the points of a run into bins of about equal size within its stretches. It returns none if there are too
// few points while partitions are taken and jobs finish.
func (r *run) bins(split bool) []bin {
	var stretches []stretch
	busy := 0
	for i := range r.points {
		p := &r.points[i]
		if p.near {
			continue
		}
		s := stretch{phase: r.phase(p), loaded: p.at <= r.admitted}
		if s.phase == filling || s.phase == finishing {
			busy++
		}
		if n := len(stretches); n == 0 || stretches[n-1].phase != s.phase || stretches[n-1].loaded != s.loaded {
			stretches = append(stretches, s)
		}
		last := &stretches[len(stretches)-1]
		last.points = append(last.points, *p)
	}
	each := max(fewestEach, busy/max(2*fewestBins, min(mostBins, r.done)))
	if busy < fewestBins*each {
		return nil
	}
	var list []bin
	for _, s := range stretches {
		first := len(list)
		list = cut(list, s.points, each, split)
		for i := first; i < len(list); i++ {
			list[i].phase, list[i].loaded = s.phase, s.loaded
		}
	}
	return list
}

// fed cuts the points from the first partition that a worker takes to the last admission into bins, for counts: those
// are exact however near to a step a point is. The bins are few, so that waves of partitions that are synthesized at
// once lie within them.
func (r *run) fed(split bool) []bin {
	var points []point
	for _, p := range r.points {
		if p.at >= r.firstTake && p.at <= r.admitted {
			points = append(points, p)
		}
	}
	return cut(nil, points, max(fewestEach, len(points)/fedBins), split)
}

// cut appends bins of that many points or up to twice as many. split tells whether the samples tell anonymous memory
// apart.
func cut(list []bin, points []point, each int, split bool) []bin {
	for len(points) > 0 {
		n := each
		if len(points) < 2*each {
			n = len(points)
		}
		list = append(list, newBin(points[:n], split))
		points = points[n:]
	}
	return list
}

func newBin(points []point, split bool) bin {
	b := bin{points: points, inFlight: make([]float64, len(points[0].inFlight))}
	part := 1 / float64(len(points))
	for i := range points {
		p := &points[i]
		b.done += part * p.done
		b.worth += part * p.tally.worth
		b.hours += part * hours(p.at)
		b.anon += part * p.anonymous(split)
		b.file += part * float64(p.memory.FileBytes)
		b.shmem += part * float64(p.memory.ShmemBytes)
		b.vram += part * float64(p.memory.VRAMBytes)
		b.pinned += part * float64(p.memory.PinnedBytes)
		b.partitions += part * p.partitions
		b.most += part * p.most
		for j, count := range p.inFlight {
			b.inFlight[j] += part * count
		}
		for q := range b.queues {
			b.queues[q] += part * p.queues[q]
		}
	}
	return b
}

func hours(at model.Instant) float64 { return at.Seconds() / 3600 }

// anonymous returns the anonymous memory of a sample; where samples do not tell it apart, all that is resident but
// for the files and the shared memory that they do tell.
func (p *point) anonymous(split bool) float64 {
	if split {
		return float64(p.memory.AnonBytes)
	}
	return float64(p.memory.RSSBytes - p.memory.FileBytes - p.memory.ShmemBytes)
}

// series returns one number of each bin.
func series(bins []bin, of func(*bin) float64) []float64 {
	out := make([]float64, len(bins))
	for i := range bins {
		out[i] = of(&bins[i])
	}
	return out
}
