package diagnose

import (
	"fmt"
	"math"
)

// secondsToLimit returns how long the growth takes to the limit from the end of the load, where memory grows.
func (d *diagnosis) secondsToLimit(f Finding) *Interval {
	rate := d.rate(f)
	if rate == nil || d.limit == 0 || !d.run.sampled {
		return nil
	}
	return until(float64(d.limit)-d.last, rate)
}

// rate returns the bytes an hour by which memory grows; nil if it does not, or that is not known.
func (d *diagnosis) rate(f Finding) *Interval {
	switch f {
	case Leak:
		return d.growth.perHour
	case QueueGrowth:
		if q, _ := d.flow.growing(); q != waitingJobs {
			return d.flow.anon
		}
	}
	return nil
}

// until returns the seconds in which that many bytes are reached at a rate an hour.
func until(bytes float64, rate *Interval) *Interval {
	bytes = max(0, bytes)
	at := func(rate float64) float64 {
		if rate <= 0 {
			return math.Inf(1)
		}
		return 3600 * bytes / rate
	}
	return &Interval{at(rate.Value), at(rate.High), at(rate.Low)}
}

// evidence lists what the finding rests on.
func (d *diagnosis) evidence(r *Report) []Evidence {
	e := collector{}
	e.number("jobs_finished", float64(d.run.done), "jobs", "jobs that finished")
	if d.run.sampled {
		e.number("samples", float64(d.samples()), "samples", "samples of memory that are not too near to a step of the pipeline")
	}
	g := d.growth
	if d.run.sampled && d.bins != nil {
		e.number("above_baseline", d.above, "bytes", "the most anonymous memory above the baseline")
		e.interval("growth_per_job", g.perJob, "bytes/job", "growth of anonymous memory that nothing in flight explains")
		e.interval("growth_per_job_late", g.late, "bytes/job", "the same over the later half")
		e.interval("growth_per_hour", g.perHour, "bytes/h", "the same over time")
		e.interval("in_flight_per_job", g.inFlight, "bytes/job", "growth that what is in flight explains, while jobs finish")
		e.interval("file_per_job", g.file, "bytes/job", "growth of mapped files: page cache, which the system takes back")
		e.interval("shmem_per_job", g.shmem, "bytes/job", "growth of shared memory, which counts against /dev/shm")
		e.interval("vram_per_job", g.vram, "bytes/job", "growth of what is in use on the devices")
		e.interval("pinned_per_job", g.pinned, "bytes/job", "growth of the host memory that is pinned for them")
		e.interval("kept", d.kept, "", "part of a partition's memory that stays resident when it is gone")
	}
	d.queueEvidence(&e)
	if r.SecondsToLimit != nil {
		e.interval("time_to_limit", r.SecondsToLimit, "s", fmt.Sprintf("from the end of the load until %s are resident", r.Limit.Short()))
		fresh := until(float64(d.limit)-d.start, d.rate(r.Finding))
		e.interval("time_to_limit_from_start", fresh, "s", "the same from the baseline, as after a restart")
	}
	return e.list
}

// queueEvidence says what waits and how busy both sides are.
func (d *diagnosis) queueEvidence(e *collector) {
	e.number("most_in_flight", float64(d.run.holders), "partitions", "the most partitions at once that held vectors or made them; "+d.bound())
	g := d.flow
	from, to, hours := g.window()
	if hours == 0 {
		return
	}
	e.interval("partitions_per_job", g.partitions.perJob, "partitions/job", "growth of the partitions that hold vectors")
	for q := range g.queues {
		unit := "partitions/job"
		switch queue(q) {
		case waitingJobs:
			unit = "jobs/job"
		case waitingForFree:
			unit = "blocks/job"
		}
		w := &g.queues[q]
		e.interval(queueNames[q].name+"_per_job", w.perJob, unit, fmt.Sprintf("growth of the %s, %.1f in the mean", queueNames[q].what, w.mean))
	}
	e.number("synthesized_per_hour", (to.synthesized-from.synthesized)/hours, "partitions/h", "partitions that left synthesis")
	e.number("into_channel_per_hour", (to.accepted-from.accepted)/hours, "partitions/h", "partitions that the channel took")
	e.number("out_of_channel_per_hour", (to.taken-from.taken)/hours, "partitions/h", "partitions that GPU workers took")
	for _, s := range g.stations(&d.trace.Header.Config) {
		e.number(s.name+"_utilization", s.part, "", "busy part of "+s.name)
	}
}

// collector gathers evidence.
type collector struct{ list []Evidence }

func (c *collector) number(name string, value float64, unit, text string) {
	c.list = append(c.list, Evidence{Name: name, Value: value, Unit: unit, Text: text})
}

// interval adds a number that may not be known. A bound that is infinite is left out.
func (c *collector) interval(name string, i *Interval, unit, text string) {
	if i == nil || math.IsInf(i.Value, 0) {
		return
	}
	e := Evidence{Name: name, Value: i.Value, Unit: unit, Text: text}
	if !math.IsInf(i.Low, 0) {
		e.Low = &i.Low
	}
	if !math.IsInf(i.High, 0) {
		e.High = &i.High
	}
	c.list = append(c.list, e)
}
