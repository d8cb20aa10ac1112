package diagnose

import (
	"math"
	"strings"
	"testing"

	"headroom/model"
	"headroom/model/trace"
)

// stopped is the diagnosis of forty jobs whose memory rose by 4000 bytes, 1000 for each partition, and stopped. Thirty
// of them finished between the bins, so that 1 byte a job matters, and 33 are a quarter of the memory.
func stopped() *diagnosis {
	return &diagnosis{
		trace: &trace.Trace{Header: trace.Header{Config: model.DefaultConfig(1), Kinds: []model.Kind{{Name: "a", Partitions: 4}}}},
		run:   &run{sampled: true, done: 40, most: 4, holders: 4}, split: true, above: 4000,
		bins: make([]bin, 20), footprints: &footprints{columns: []int{0}}, flow: &flow{jobs: 30},
		growth: &growth{
			bins: make([]bin, 20), jobs: 30, least: -2,
			perJob: &Interval{0, -1, 1}, late: &Interval{0, -1, 1}, inFlight: &Interval{0, -1, 1},
		},
	}
}

// leaking makes a diagnosis that of 10 bytes a job, for certain.
func leaking(d *diagnosis) {
	d.growth.perJob, d.growth.late, d.growth.least = &Interval{10, 5, 15}, &Interval{10, 5, 15}, 3
}

// queueing makes the partitions that are blocked in send grow, with so many bytes a job in flight.
func queueing(d *diagnosis, bytes float64) {
	grows := waiting{perJob: &Interval{0.2, 0.1, 0.3}, late: &Interval{0.2, 0.1, 0.3}, mean: 10, last: 13}
	d.flow.partitions, d.flow.queues[blockedInSend] = grows, grows
	d.growth.inFlight = &Interval{bytes, bytes, bytes}
}

// Each finding ends where its definition says.
func TestFindingsEndWhereTheySayTheyDo(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *diagnosis)
		want   Finding
		reason string
	}{
		{"nothing grows", func(d *diagnosis) {}, Plateau, "is excluded"},
		{"a growth is not excluded", func(d *diagnosis) { d.growth.perJob = &Interval{0, -34, 34} }, CannotTell, "record about"},
		{"a growth is just excluded", func(d *diagnosis) { d.growth.perJob = &Interval{0, -33, 33} }, Plateau, ""},
		{"a growth that nobody can tell from what is in flight", func(d *diagnosis) {
			d.growth.perJob, d.growth.entangled = &Interval{0, -34, 34}, true
		}, CannotTell, "grows together with the jobs"},

		{"a leak", leaking, Leak, "10 B (5 B to 15 B)"},
		{"for certain only by 95 %", func(d *diagnosis) { leaking(d); d.growth.least = -1 }, CannotTell, "neither certain nor excluded"},
		{"that stopped", func(d *diagnosis) { leaking(d); d.growth.late = &Interval{0, -1, 1} }, Plateau, ""},
		{"that stopped after much", func(d *diagnosis) {
			d.growth.perJob, d.growth.least = &Interval{34, 5, 60}, 3
		}, CannotTell, "growth of 34 B (5 B to 60 B)"},
		{"of too few bytes", func(d *diagnosis) {
			d.growth.perJob, d.growth.late, d.growth.least = &Interval{0.9, 0.5, 1}, &Interval{0.9, 0.5, 1}, 0.1
		}, Plateau, ""},
		{"of less than footprints may be off by", func(d *diagnosis) { leaking(d); d.growth.inFlight = &Interval{101, 100, 102} }, Plateau, ""},
		{"of a bit more", func(d *diagnosis) { leaking(d); d.growth.inFlight = &Interval{99, 98, 100} }, Leak, ""},
		{"over too few jobs", func(d *diagnosis) { leaking(d); d.growth.jobs = 6.9 }, CannotTell, "only 7 jobs finished in the part"},
		{"without samples", func(d *diagnosis) { leaking(d); d.run.sampled = false }, CannotTell, "no samples"},

		{"a queue", func(d *diagnosis) { queueing(d, 20) }, QueueGrowth, "blocked in send grow by 0.20"},
		{"a queue that holds more than leaks", func(d *diagnosis) { leaking(d); queueing(d, 11) }, QueueGrowth, ""},
		{"a leak of more than the queue holds", func(d *diagnosis) { leaking(d); queueing(d, 9) }, Leak, ""},

		{"memory that is kept", func(d *diagnosis) { d.kept = &Interval{0.6, 0.3, 0.9} }, Retention, "60 % (30 to 90)"},
		{"that is perhaps kept", func(d *diagnosis) { d.kept = &Interval{0.6, 0.2, 1} }, Plateau, ""},
		{"of which less than half is kept", func(d *diagnosis) { d.kept = &Interval{0.45, 0.4, 0.5} }, Plateau, ""},

		{"nine jobs", func(d *diagnosis) { d.run.done = 9 }, CannotTell, "only 9 jobs"},
		{"ten jobs", func(d *diagnosis) { d.run.done = 10 }, Plateau, ""},
		{"few jobs that can be judged", func(d *diagnosis) { d.growth.jobs = 6.9 }, CannotTell, "only 7 jobs finished in the part"},
		{"few bins", func(d *diagnosis) { d.growth.bins = d.growth.bins[:fewestBins-1] }, CannotTell, "too few samples"},
		{"nothing that moves", func(d *diagnosis) { d.footprints.columns = nil }, CannotTell, "nothing in flight ever came or went"},
		{"all that moves does so with the jobs", func(d *diagnosis) { d.growth.perJob = nil }, CannotTell, "the two cannot be told apart"},
	} {
		d := stopped()
		c.change(d)
		if finding, reason := d.judge(); finding != c.want || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: %s: %s\nwant %s: ...%s...", c.name, finding, reason, c.want, c.reason)
		}
	}
}

// A queue grows if it does for certain and by enough, and the one that grows most is named.
func TestTheQueueThatGrowsMostIsNamed(t *testing.T) {
	certain := func(perJob float64) waiting {
		i := &Interval{perJob, perJob / 2, 2 * perJob}
		return waiting{perJob: i, late: i}
	}
	once := func(perJob float64) waiting {
		w := certain(perJob)
		w.late = &Interval{0, -1, 1}
		return w
	}
	type queues = map[queue]waiting
	for _, c := range []struct {
		name   string
		all    waiting // partitions
		mean   float64 // of them
		queues queues
		want   queue
		grows  bool
	}{
		{"nothing", waiting{}, 5, nil, 0, false},
		{"by a partition", waiting{}, 5, queues{inChannel: certain(0.1)}, inChannel, true},
		{"by less than a partition", waiting{}, 5, queues{inChannel: certain(0.09)}, 0, false},
		{"by less than a tenth of those in flight", waiting{}, 20, queues{inChannel: certain(0.19)}, 0, false},
		{"by a tenth of those in flight", waiting{}, 20, queues{inChannel: certain(0.2)}, inChannel, true},
		{"and stops", waiting{}, 5, queues{inChannel: once(0.5)}, 0, false},
		{"and stops, and all partitions grow", certain(0.5), 5, queues{inChannel: once(0.5)}, inChannel, true},
		{"the second most", waiting{}, 5, queues{blockedInSend: certain(0.5), inChannel: certain(0.4)}, blockedInSend, true},
		{"the most is later", waiting{}, 5, queues{blockedInSend: certain(0.4), inChannel: certain(0.5)}, inChannel, true},
		{"jobs that wait alone", waiting{}, 5, queues{waitingJobs: certain(0.5)}, waitingJobs, true},
		{"jobs that wait, and partitions", waiting{}, 5, queues{waitingJobs: certain(0.5), waitingForFree: certain(0.1)}, waitingForFree, true},
	} {
		f := &flow{jobs: 10, partitions: c.all}
		f.partitions.mean = c.mean
		for q, w := range c.queues {
			f.queues[q] = w
		}
		if q, grows := f.growing(); grows != c.grows || grows && q != c.want {
			t.Errorf("%s: queue %d, %v; want %d, %v", c.name, q, grows, c.want, c.grows)
		}
	}
}

// A device is as busy as its lock is held, where that is more than its workers are.
func TestADeviceIsBusyWhileItsLockIsHeld(t *testing.T) {
	c := model.DefaultConfig(1)
	c.GPU.WorkersPerDevice = 2
	busy := func(worker, lock float64) float64 {
		f := &flow{bins: []bin{{points: []point{{}}}, {points: []point{{at: 10e9, tally: tally{open: 10e9, worker: worker, lock: lock}}}}}}
		for _, s := range f.stations(&c) {
			if s.name == "gpu" {
				return s.part
			}
		}
		return math.NaN()
	}
	if a, b := busy(4e9, 8e9), busy(18e9, 8e9); a != 0.8 || b != 0.9 {
		t.Errorf("busy are %v and %v, want 0.8 by the lock and 0.9 by the workers", a, b)
	}
}

// binsOf returns bins of one point for each number of partitions, with the most so far and a job more in each.
func binsOf(partitions []float64, anon func(p *point) float64) []bin {
	var bins []bin
	most := 0.0
	for i, n := range partitions {
		most = max(most, n)
		p := point{partitions: n, most: most, done: float64(i), inFlight: []float64{n}}
		p.memory.AnonBytes = model.Bytes(anon(&p))
		bins = append(bins, newBin([]point{p}, true))
	}
	return bins
}

// What is kept shows when partitions go and memory does not, and is a part from 0 to 1.
func TestWhatIsKeptShowsWhenPartitionsGo(t *testing.T) {
	falls := []float64{1, 2, 3, 4, 1, 4, 2, 4, 1, 3, 4, 1, 2, 4}
	for _, c := range []struct {
		now, most float64 // bytes
		want      float64
	}{{0, 1000, 1}, {1000, 0, 0}, {700, 300, 0.3}, {-50, 1000, 1}, {1000, -50, 0}} {
		got := kept(binsOf(falls, func(p *point) float64 { return c.now*p.partitions + c.most*p.most + 5000 }), true)
		if got == nil || math.Abs(got.Value-c.want) > 1e-6 {
			t.Errorf("%g bytes go and %g stay: kept is %+v, want %g", c.now, c.most, got, c.want)
		}
	}
	never := []float64{2, 3, 4, 3, 4, 3, 4, 4, 3, 4, 3, 3, 4, 3}
	if got := kept(binsOf(never, func(p *point) float64 { return 1000 * p.most }), true); got != nil {
		t.Errorf("partitions never fall to half of the most, and kept is %+v", got)
	}
}

// An allocator may keep what the most in flight held; it does not hold less because there was more.
func TestTheMostInFlightOnlyAdds(t *testing.T) {
	for _, each := range []float64{-500, 500} {
		var bins []bin
		for i := range 20 {
			b := bin{done: float64(i), anon: 20 * float64(i), most: 2, inFlight: []float64{0}}
			if i >= 6 {
				b.most = 4
			}
			b.anon += each * b.most
			bins = append(bins, b)
		}
		l, _, ok := unexplained(bins, &footprints{}, done)
		alone, _ := fitLine(series(bins, done), series(bins, func(b *bin) float64 { return b.anon }))
		want := 20.0
		if each < 0 {
			want = alone.slope
		}
		if !ok || math.Abs(l.slope-want) > 1e-6 {
			t.Errorf("%g bytes for each of the most: the growth is %g a job, want %g", each, l.slope, want)
		}
	}
}

// The level from which the time to the limit counts is that of the end of the load, not of what comes after.
func TestLevelsAreThoseOfTheLoad(t *testing.T) {
	d := &diagnosis{trace: &trace.Trace{}, run: &run{admitted: 60}, split: true}
	for i := range 100 {
		p := point{at: model.Instant(i)}
		p.memory.RSSBytes, p.memory.AnonBytes = model.Bytes(1000+10*min(i, 60)), 500
		if i > 60 {
			p.memory.RSSBytes = 900
		}
		if i == 20 { // long before the end
			p.memory.RSSBytes, p.memory.AnonBytes = 9000, 800
		}
		d.run.points = append(d.run.points, p)
	}
	if d.levels(); d.start != 1000 || d.last != 1600 || d.above != 300 {
		t.Errorf("from %g, at the end of the load %g, at most %g above: want 1000, 1600 and 300", d.start, d.last, d.above)
	}
}
