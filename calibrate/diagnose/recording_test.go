package diagnose_test

import (
	"math"
	"slices"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/stream"
	"headroom/model/trace"
	"headroom/model/work"
	"headroom/sim"
)

// footprint is what a partition of these tests holds at most.
const footprint = 100 * model.MiB

// recording is a simulated run whose memory is then sampled as a real process would show it.
type recording struct {
	config   model.Config
	arrival  model.Arrival
	kind     profile.Kind
	jobs     int
	seed     uint64
	tick     model.Span
	noise    float64 // of a sample, as a part of the footprint
	drift    float64 // the same, of what wanders slowly
	memory   float64 // jobs after which the drift has forgotten where it was; 0: never, and drift is its step a job
	leak     float64 // footprints for each job that is finished
	leakHour float64 // footprints an hour
	retain   float64 // part of the most that was resident that stays so
	warmUp   float64 // footprints that a process adds at its first few jobs
	cache    float64 // footprints of mapped files a job
	shmem    float64 // footprints of shared memory a job
	vram     float64 // footprints of the devices a job; 0: samples do not tell of devices
	unsplit  bool    // samples tell only what is resident
	idle     int     // ticks after the last step
	killed   int     // after so many jobs are done; 0: not
}

// kind is four partitions of about a second of synthesis and half a second on the GPU each.
func kind(partitions int) profile.Kind {
	spread := func(ms model.Span) profile.Work {
		return profile.Work{Law: profile.Lognormal, Mean: profile.Exactly(ms * model.Millisecond), CV: profile.Exactly(0.1), JobCV: profile.Exactly(0.05)}
	}
	at := func(progress float64, bytes model.Bytes) profile.Point {
		return profile.Point{Progress: progress, Bytes: profile.Exactly(bytes)}
	}
	return profile.Kind{
		Name: "proof", Partitions: partitions,
		Work: map[model.Stage]profile.Work{
			model.Parse: spread(100), model.Synth: spread(1000), model.Prep: spread(60), model.Kernel: spread(400),
			model.Finish: spread(150), model.Dealloc: spread(20),
		},
		Footprint: profile.Footprint{
			Parse: profile.Exactly(footprint / 20), Vectors: profile.Exactly(footprint * 3 / 4),
			Assignment: profile.Exactly(footprint / 4), Call: profile.Exactly(footprint / 20),
			During: map[model.Stage][]profile.Point{model.Synth: {at(0, footprint/20), at(0.8, footprint*11/10), at(1, footprint)}},
		},
	}
}

// steady returns a recording of a pipeline in balance.
func steady() recording {
	c := model.DefaultConfig(1)
	c.JobsInFlight = 2
	c.Admission = model.Admission{Permits: 2, Release: model.AfterSend}
	c.GPU.WorkersPerDevice = 1
	return recording{
		config: c, arrival: model.Arrival{Pattern: model.Closed}, kind: kind(4), jobs: 60, seed: 1,
		tick: 200 * model.Millisecond, noise: 0.01, idle: 20,
	}
}

// make runs and samples.
func (r recording) make() *trace.Trace {
	const baseline = 400 * model.MiB
	plan := sim.Plan{
		Config: r.config, Seed: r.seed,
		Workload: model.Workload{Shares: []model.Share{{Kind: r.kind.Name, Jobs: r.jobs}}, Arrival: r.arrival},
		Profile:  &profile.Profile{Name: "test", Baseline: profile.Exactly(baseline), Kinds: []profile.Kind{r.kind}},
	}
	t := &trace.Trace{Header: trace.Header{
		Schema: trace.Schema, Tool: "test", Clock: trace.Monotonic, Config: r.config, Kinds: []model.Kind{r.kind.Model()},
		Workload: plan.Workload,
	}}
	result, err := sim.Run(plan, func(record *model.Record) {
		kept := *record
		kept.Effects = slices.Clone(record.Effects)
		t.Records = append(t.Records, kept)
	})
	if err != nil {
		panic(err) // the plans of these tests are valid
	}
	if r.killed > 0 {
		r.idle = 0
		t.Records = t.Records[:killedAt(t.Records, r.killed)]
	}
	t.End = &trace.End{Outcome: trace.Finished, JobsDone: result.JobsDone, MakespanNs: result.Makespan}
	t.Baseline = &trace.Baseline{Memory: r.split(float64(baseline), 0, 0)}
	r.sample(t, plan)
	return t
}

// killedAt returns how many records there are until that many jobs are done.
func killedAt(records []model.Record, jobs int) int {
	for i := range records {
		for _, e := range records[i].Effects {
			if e.Op == model.JobDone {
				jobs--
			}
		}
		if jobs == 0 {
			return i + 1
		}
	}
	return len(records)
}

// process is what a sampled process has done so far.
type process struct {
	done, most, drift float64
	at                model.Instant
}

// sample goes through the records with an engine of its own and reads the memory in between.
func (r recording) sample(t *trace.Trace, plan sim.Plan) {
	e := work.NewEngine(work.Setup{Kinds: plan.Profile.Kinds, Baseline: plan.Profile.Baseline.Value, Seed: plan.Seed})
	key := stream.NewKey(plan.Seed, 0, 1<<20)
	perJob := t.End.MakespanNs.Seconds() / float64(max(1, t.End.JobsDone))
	var p process
	take := func(at model.Instant) {
		e.Advance(at)
		peak, _ := e.Memory.Peak()
		p.most = max(p.most, float64(peak))
		n := uint32(len(t.Samples))
		r.wander(&p, at.Sub(p.at).Seconds()/perJob, stream.Normal(key.Uniform(n, 1)))
		p.at = at
		t.Samples = append(t.Samples, trace.Sample{At: at, Memory: r.reading(&p, float64(e.Memory.Level()), stream.Normal(key.Uniform(n, 0)))})
	}
	next := model.Instant(r.tick / 2)
	var round []work.Finished
	for i := 0; i < len(t.Records); {
		now := t.Records[i].At
		for ; next < now; next += model.Instant(r.tick) {
			take(next)
		}
		e.Advance(now)
		if e.Next() == now {
			round = e.Pop(now, round[:0])
		}
		for ; i < len(t.Records) && t.Records[i].At == now; i++ {
			e.Apply(now, t.Records[i].Effects)
			for _, effect := range t.Records[i].Effects {
				if effect.Op == model.JobDone {
					p.done++
				}
			}
		}
		e.Settle(now)
	}
	for range r.idle {
		take(next)
		next += model.Instant(r.tick)
	}
}

// wander moves the drift on by that many jobs.
func (r recording) wander(p *process, jobs, normal float64) {
	if r.memory == 0 {
		p.drift += r.drift * math.Sqrt(jobs) * normal
		return
	}
	keep := math.Exp(-jobs / r.memory)
	p.drift = p.drift*keep + r.drift*math.Sqrt(1-keep*keep)*normal
}

// reading returns what a sample shows when so much is held.
func (r recording) reading(p *process, level, normal float64) trace.Memory {
	resident := max(level, level+r.retain*(p.most-level))
	grown := r.leak*p.done + r.leakHour*p.at.Seconds()/3600 + r.warmUp*(1-math.Exp(-p.done/3)) + p.drift + r.noise*normal
	m := r.split(resident+grown*float64(footprint), r.cache*p.done*float64(footprint), r.shmem*p.done*float64(footprint))
	if r.vram > 0 {
		m.VRAMBytes = footprint + model.Bytes(r.vram*p.done*float64(footprint))
	}
	return m
}

func (r recording) split(anon, file, shmem float64) trace.Memory {
	file += 30 * float64(model.MiB)
	m := trace.Memory{RSSBytes: model.Bytes(anon + file + shmem)}
	if !r.unsplit {
		m.AnonBytes, m.FileBytes, m.ShmemBytes = model.Bytes(anon), model.Bytes(file), model.Bytes(shmem)
	}
	return m
}
