package diagnose

import (
	"headroom/model"
)

// Errors of samples that follow each other are alike, so samples are judged in bins: as many as jobs that finished,
// within these bounds.
const (
	fewestBins = 10
	mostBins   = 60
	fewestEach = 4 // samples of a bin
)

// bin is the mean of points that follow each other.
type bin struct {
	points     []point
	done       float64 // jobs
	hours      float64
	anon       float64 // bytes
	file       float64
	shmem      float64
	partitions float64
	most       float64 // partitions so far at once
	inFlight   []float64
	queues     [numQueues]float64
	working    bool // from the first end of a job to the last
	loaded     bool // besides, there was something to admit
}

// bins cuts the points of a run into bins of equal size, none of which reaches over the first end of a job, the last
// admission or the last end of a job. It returns none if there are too few points while jobs finish.
func (r *run) bins(split bool) []bin {
	var before, working, after []point
	for _, p := range r.points {
		switch {
		case p.near:
		case r.firstDone < 0 || p.at < r.firstDone:
			before = append(before, p)
		case int(p.done) < r.done:
			working = append(working, p)
		default:
			after = append(after, p)
		}
	}
	each := max(fewestEach, len(working)/max(2*fewestBins, min(mostBins, r.done)))
	if len(working) < fewestBins*each {
		return nil
	}
	loaded := 0
	for loaded < len(working) && working[loaded].at <= r.admitted {
		loaded++
	}
	list := cut(nil, before, each, split)
	first := len(list)
	list = cut(list, working[:loaded], each, split)
	for i := first; i < len(list); i++ {
		list[i].working, list[i].loaded = true, true
	}
	first = len(list)
	list = cut(list, working[loaded:], each, split)
	for i := first; i < len(list); i++ {
		list[i].working = true
	}
	return cut(list, after, each, split)
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
		b.hours += part * hours(p.at)
		b.anon += part * p.anonymous(split)
		b.file += part * float64(p.memory.FileBytes)
		b.shmem += part * float64(p.memory.ShmemBytes)
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
