package diagnose

import (
	"headroom/model"
)

// flow is how partitions went through the pipeline, and where they waited, while there was something to admit.
type flow struct {
	bins       []bin
	jobs       float64   // that GPU workers took between the first and the last bin, by their partitions
	anon       *Interval // growth of anonymous memory, bytes an hour
	partitions waiting   // all that hold vectors
	queues     [numQueues]waiting
}

// waiting is how a number of partitions, blocks or jobs grows.
type waiting struct {
	perJob, late *Interval // over all the bins, and over the later half
	mean         float64   // number
	last         float64   // number in the last quarter of the bins
}

func worth(b *bin) float64 { return b.worth }

// measureFlow measures the flow over bins, but for those of the start-up.
func measureFlow(bins []bin) *flow {
	bins = withoutStart(bins)
	f := &flow{bins: bins}
	if len(bins) < fewestBins {
		return f
	}
	late := bins[len(bins)/2:]
	f.jobs = bins[len(bins)-1].worth - bins[0].worth
	f.anon = plain(bins, wallHours, func(b *bin) float64 { return b.anon })
	measure := func(number func(*bin) float64) waiting {
		return waiting{
			perJob: plain(bins, worth, number), late: plain(late, worth, number),
			mean: mean(series(bins, number)), last: mean(series(bins[len(bins)-len(bins)/4:], number)),
		}
	}
	f.partitions = measure(func(b *bin) float64 { return b.partitions })
	for q := range f.queues {
		f.queues[q] = measure(func(b *bin) float64 { return b.queues[q] })
	}
	return f
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// certain reports whether the number grows for certain, and to the end.
func (w *waiting) certain() bool {
	return w.perJob != nil && w.late != nil && w.perJob.Low > 0 && w.late.Low > 0
}

// growing returns the queue that grows most in partitions or blocks, if one grows: for certain, or as all partitions do
// together, and enough to matter. Jobs that have not begun hold no memory; they count if nothing else grows.
func (f *flow) growing() (most queue, grows bool) {
	matters := func(w *waiting, of float64) bool {
		return w.perJob != nil && w.perJob.Low > 0 && w.perJob.Value*f.jobs >= max(1, tenth*of)
	}
	all := f.partitions.certain()
	for q := blockedInSend; q < numQueues; q++ {
		w := &f.queues[q]
		if (all || w.certain()) && matters(w, f.partitions.mean) && (!grows || w.perJob.Value > f.queues[most].perJob.Value) {
			most, grows = q, true
		}
	}
	if jobs := &f.queues[waitingJobs]; !grows && jobs.certain() && matters(jobs, jobs.mean) {
		return waitingJobs, true
	}
	return most, grows
}

// station is a part of the pipeline whose capacity is limited, and how much of it was busy.
type station struct {
	name string
	part float64 // from 0 to 1
}

// window returns the tallies at the first and at the last point, and the hours between them.
func (f *flow) window() (from, to tally, hours float64) {
	if len(f.bins) == 0 {
		return tally{}, tally{}, 0
	}
	first, last := f.bins[0].points, f.bins[len(f.bins)-1].points
	a, b := &first[0], &last[len(last)-1]
	return a.tally, b.tally, b.at.Sub(a.at).Seconds() / 3600
}

// stations returns how busy those were whose capacity is limited, as long as there was a job: the time until another one
// arrives, such as one that is cancelled or fails at once, is nobody's to be busy in.
func (f *flow) stations(c *model.Config) []station {
	from, to, _ := f.window()
	ns := to.open - from.open
	if ns == 0 {
		return nil
	}
	var list []station
	add := func(name string, busy float64, capacity model.Count) {
		if capacity != model.Unbounded && capacity > 0 {
			list = append(list, station{name, min(1, busy/ns/float64(capacity))})
		}
	}
	add("synth", to.synth-from.synth, c.Admission.Permits)
	gpu := (to.worker - from.worker) / float64(c.Workers())
	add("gpu", max(gpu, (to.lock-from.lock)/float64(c.GPU.Devices)), 1)
	add("finish", to.finish-from.finish, c.Finalizers)
	return list
}
