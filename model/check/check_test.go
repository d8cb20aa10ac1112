package check

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"headroom/model"
	"headroom/model/trace"
)

var every = model.StageSet(0).With(model.Parse, model.Synth, model.Prep, model.Kernel, model.Tail, model.Finish, model.Dealloc)

// machine drives a core in virtual time, with stages that take whole milliseconds, some of them none, so that many
// inputs fall together. Every 23rd stage fails, if any may.
type machine struct {
	core    *model.Core
	stream  Stream
	now     model.Instant
	running []started
	timers  []started
	fails   bool
	starts  int
}

type started struct {
	at, due model.Instant
	task    model.Task
	fails   bool
}

// streamOf returns the stream of a number of jobs, of which every third is of the second kind if there is one.
func streamOf(t testing.TB, config model.Config, kinds []model.Kind, jobs int, fails bool) Stream {
	t.Helper()
	if err := config.Validate(nil); err != nil {
		t.Fatal(err)
	}
	core, err := model.NewCore(config, kinds)
	if err != nil {
		t.Fatal(err)
	}
	r := &machine{core: core, fails: fails, stream: Stream{Config: config, Kinds: kinds, Finished: true}}
	for job := range jobs {
		kind := uint16(0)
		if job%3 == 2 {
			kind = uint16(len(kinds) - 1)
		}
		r.step(t, model.Input{Op: model.Arrive, Job: int32(job), Kind: kind, Count: 1}, 0)
	}
	if fails {
		r.step(t, model.Input{Op: model.Cancel, Job: int32(jobs - 1)}, 0)
	}
	for !core.Idle() {
		r.round(t)
	}
	return r.stream
}

// due takes out of a list what is due now.
func (r *machine) due(list *[]started) []started {
	var over []started
	*list = slices.DeleteFunc(*list, func(s started) bool {
		if s.due == r.now {
			over = append(over, s)
		}
		return s.due == r.now
	})
	return over
}

func (r *machine) round(t testing.TB) {
	r.now = slices.MinFunc(slices.Concat(r.running, r.timers), func(a, b started) int { return cmp.Compare(a.due, b.due) }).due
	over, rung := r.due(&r.running), r.due(&r.timers)
	slices.SortFunc(over, func(a, b started) int {
		return cmp.Or(cmp.Compare(b.task.Stage, a.task.Stage), cmp.Compare(a.task.Lane, b.task.Lane))
	})
	for _, s := range over {
		op := model.Done
		if s.fails {
			op = model.Failed
		}
		r.step(t, model.Input{Op: op, Task: s.task}, s.at)
	}
	slices.SortFunc(rung, func(a, b started) int { return cmp.Compare(a.task.Slot, b.task.Slot) })
	for _, s := range rung {
		r.step(t, model.Input{Op: model.Wake, Task: s.task}, 0)
	}
}

func (r *machine) step(t testing.TB, in model.Input, begin model.Instant) {
	t.Helper()
	effects, err := r.core.Step(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range effects {
		if e.Op == model.WakeAt {
			r.timers = append(r.timers, started{at: r.now, due: r.now + model.Instant(e.After), task: e.Task})
		}
		if e.Op == model.Start {
			r.starts++
			r.running = append(r.running, started{
				at: r.now, due: r.now + model.Instant(r.starts*7%5)*1e6, task: e.Task,
				fails: r.fails && r.starts%23 == 0 && e.Task.Stage != model.Dealloc,
			})
		}
	}
	s := &r.stream
	s.Records = append(s.Records, model.Record{At: r.now, Input: in, Effects: effects, Begin: begin, End: r.now, State: r.core.State()})
}

func someConfig() model.Config {
	c := model.DefaultConfig(2)
	c.JobsInFlight = 3
	c.Admission.Permits = 4
	c.Channel.Capacity = 1
	c.Finalizers = 1
	return c
}

func someStream(t testing.TB, fails bool) Stream {
	kinds := []model.Kind{{Name: "a", Partitions: 4, Stages: every}, {Name: "b", Partitions: 2, Stages: model.StageSet(0).With(model.Synth, model.Kernel)}}
	return streamOf(t, someConfig(), kinds, 9, fails)
}

// bookedStream is a stream of a pipeline with a ledger, data that comes and goes, batches, a pool and an order.
func bookedStream(t testing.TB, fails bool) Stream {
	c := someConfig()
	c.JobsInFlight = 5
	c.Order = model.ByPriority
	c.Pool = model.PoolRetain
	c.Synthesis = model.Synthesis{MaxParallel: 2, Handoff: 1}
	c.Batch = &model.Batch{Size: 2, Wait: 3 * model.Millisecond, Kinds: []string{"a"}}
	c.Admission.Budget = &model.Budget{Total: 70, EvictionMinIdle: 2 * model.Millisecond, Kinds: map[string]model.Demand{
		"a": {Reserve: 10, ReleaseAfterKernel: 8}, "b": {Reserve: 6, ReleaseAfterKernel: 1, AcquireOrder: model.WorkingFirst},
	}}
	c.Resident = []model.Resident{
		{Name: "key of a", Bytes: 15, Evictable: true, Kinds: []string{"a"}},
		{Name: "key of b", Bytes: 20, OnDemand: true, Evictable: true, Kinds: []string{"b"}},
		{Name: "table", Bytes: 3, Transient: 2, OnDemand: true, Background: true, Acquire: model.AcquirePolling},
	}
	kinds := []model.Kind{
		{Name: "a", Partitions: 4, Stages: every},
		{Name: "b", Partitions: 2, Priority: 1, Stages: model.StageSet(0).With(model.Synth, model.Kernel)},
	}
	return streamOf(t, c, kinds, 14, fails)
}

func TestValidStreamsHaveNoFindings(t *testing.T) {
	for _, s := range []Stream{someStream(t, false), someStream(t, true), bookedStream(t, false), bookedStream(t, true)} {
		if err := Err(Run(s)); err != nil {
			t.Error(err)
		}
		s.Sizes = []Sizes{{1, 20, 300, 4000}, {5, 60, 700, 8000}}
		s.Stateless = true
		if err := Err(Run(s)); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckersAreNumberedAndSayWhatAndWhy(t *testing.T) {
	for i, c := range Checkers() {
		if c.Number != i+1 || c.Name == "" || !strings.HasSuffix(c.Statement, ".") || !strings.HasSuffix(c.Reason, ".") {
			t.Errorf("checker %d: %+v", i, c)
		}
	}
}

// clone copies a stream deeply enough to corrupt the copy.
func clone(s Stream) Stream {
	s.Records = slices.Clone(s.Records)
	for i := range s.Records {
		s.Records[i].Effects = slices.Clone(s.Records[i].Effects)
	}
	return s
}

// find returns the n-th effect (from 0) that a predicate picks, as the record's index and the effect's.
func find(t *testing.T, s Stream, n int, is func(model.Effect) bool) (record, effect int) {
	t.Helper()
	for i, r := range s.Records {
		for k, e := range r.Effects {
			if is(e) {
				if n == 0 {
					return i, k
				}
				n--
			}
		}
	}
	t.Fatal("the stream has no such effect")
	return 0, 0
}

func starts(stage model.Stage) func(model.Effect) bool {
	return func(e model.Effect) bool { return e.Op == model.Start && e.Task.Stage == stage }
}

func does(op model.EffectOp) func(model.Effect) bool {
	return func(e model.Effect) bool { return e.Op == op }
}

// move takes the n-th such effect out of its record and puts it at the end of an earlier one.
func move(t *testing.T, s Stream, n int, is func(model.Effect) bool, back int) {
	t.Helper()
	i, k := find(t, s, n, is)
	e := s.Records[i].Effects[k]
	s.Records[i].Effects = slices.Delete(s.Records[i].Effects, k, k+1)
	s.Records[i-back].Effects = append(s.Records[i-back].Effects, e)
}

func double(t *testing.T, s Stream, n int, is func(model.Effect) bool) {
	t.Helper()
	i, k := find(t, s, n, is)
	s.Records[i].Effects = slices.Insert(s.Records[i].Effects, k, s.Records[i].Effects[k])
}

func drop(t *testing.T, s Stream, n int, is func(model.Effect) bool) {
	t.Helper()
	i, k := find(t, s, n, is)
	s.Records[i].Effects = slices.Delete(s.Records[i].Effects, k, k+1)
}

// Every checker notices what it is there for.
func TestEveryCheckerCanFail(t *testing.T) {
	freedOf := func(b model.Block) func(model.Effect) bool {
		return func(e model.Effect) bool { return e.Op == model.Freed && e.Task.Block == b }
	}
	booked := func(corrupt func(t *testing.T, s *Stream)) func(t *testing.T, s *Stream) {
		return func(t *testing.T, s *Stream) {
			*s = bookedStream(t, false)
			corrupt(t, s)
		}
	}
	cases := []struct {
		name    string
		checker string
		corrupt func(t *testing.T, s *Stream)
	}{
		{"the channel is not in order", "turn", booked(func(t *testing.T, s *Stream) { s.Config.Order = model.FIFO })},
		{"more is reserved than there is", "ledger", booked(func(t *testing.T, s *Stream) {
			b := *s.Config.Admission.Budget
			b.Total -= 9
			s.Config.Admission.Budget = &b
		})},
		{"a wrong sum is recorded", "ledger", booked(func(t *testing.T, s *Stream) { s.Records[20].State.Ledger++ })},
		{"working memory stays reserved", "ledger", booked(func(t *testing.T, s *Stream) { s.Records = s.Records[:30] })},
		{"data that is needed is evicted", "resident", booked(func(t *testing.T, s *Stream) {
			i, _ := find(t, *s, 0, starts(model.Kernel))
			s.Records[i].Effects = append(s.Records[i].Effects, model.Effect{Op: model.Evict})
		})},
		{"a job begins without its data", "resident", booked(func(t *testing.T, s *Stream) { drop(t, *s, 0, does(model.Loaded)) })},
		{"data is loaded twice", "resident", booked(func(t *testing.T, s *Stream) { double(t, *s, 0, starts(model.Load)) })},
		{"data that must stay is evicted", "resident", booked(func(t *testing.T, s *Stream) {
			s.Config.Resident = slices.Clone(s.Config.Resident)
			s.Config.Resident[0].Evictable, s.Config.Resident[0].OnDemand = false, true
		})},
		{"a batch is too large", "batches", booked(func(t *testing.T, s *Stream) { s.Config.Batch = &model.Batch{Size: 1, Wait: model.Second} })},
		{"a batch lacks a job", "batches", booked(func(t *testing.T, s *Stream) {
			drop(t, *s, 1, func(e model.Effect) bool { return e.Op == model.Join && e.Proofs == 2 })
		})},
		{"a full batch is not closed", "batches", booked(func(t *testing.T, s *Stream) { drop(t, *s, 0, does(model.Join)) })},
		{"too many are synthesized at once", "holders", booked(func(t *testing.T, s *Stream) { s.Config.Synthesis.MaxParallel = 1 })},
		{"too many wait for a worker", "holders", booked(func(t *testing.T, s *Stream) { s.Config.Synthesis.Handoff = 0 })},
		{"vectors are freed beside the pool", "blocks", booked(func(t *testing.T, s *Stream) { s.Config.Pool = model.PoolNone })},
		{"a job ends twice", "way", func(t *testing.T, s *Stream) { double(t, *s, 2, does(model.JobDone)) }},
		{"a job ends the other way", "way", func(t *testing.T, s *Stream) {
			i, k := find(t, *s, 0, does(model.JobDone))
			s.Records[i].Effects[k].Op = model.JobFailed
		}},
		{"a stage is skipped", "way", func(t *testing.T, s *Stream) {
			i, k := find(t, *s, 1, starts(model.Tail))
			s.Records[i].Effects[k].Task.Stage = model.Finish
		}},
		{"a stage runs twice", "way", func(t *testing.T, s *Stream) { double(t, *s, 1, starts(model.Kernel)) }},
		{"a completion comes twice", "way", func(t *testing.T, s *Stream) {
			s.Records = slices.Insert(s.Records, 30, s.Records[29])
		}},
		{"a partition is taken before it was sent", "way", func(t *testing.T, s *Stream) { move(t, *s, 2, does(model.Take), 3) }},
		{"a job arrives out of turn", "way", func(t *testing.T, s *Stream) { s.Records[1].Input.Job++ }},
		{"a partition is admitted without a permit", "permits", func(t *testing.T, s *Stream) { move(t, *s, 8, starts(model.Synth), 5) }},
		{"a free permit is recorded that is not", "permits", func(t *testing.T, s *Stream) { s.Records[20].State.Permits++ }},
		{"a permit does not return", "permits", func(t *testing.T, s *Stream) { s.Records = s.Records[:25] }},
		{"senders are served out of turn", "channel", func(t *testing.T, s *Stream) {
			i, k := find(t, *s, 6, does(model.Accept))
			j, m := find(t, *s, 7, does(model.Accept))
			s.Records[i].Effects[k], s.Records[j].Effects[m] = s.Records[j].Effects[m], s.Records[i].Effects[k]
		}},
		{"the channel overflows", "channel", func(t *testing.T, s *Stream) { s.Config.Channel.Capacity = 0; s.Config.GPU.WorkersPerDevice = 1 }},
		{"a blocked partition is not recorded", "channel", func(t *testing.T, s *Stream) { s.Records[40].State.Blocked++ }},
		{"a block is freed twice", "blocks", func(t *testing.T, s *Stream) { double(t, *s, 3, freedOf(model.Vectors)) }},
		{"a block is freed before its time", "blocks", func(t *testing.T, s *Stream) { move(t, *s, 3, starts(model.Dealloc), 9) }},
		{"a block is never freed", "blocks", func(t *testing.T, s *Stream) { drop(t, *s, 3, freedOf(model.Assignment)) }},
		{"a parse buffer is freed twice", "blocks", func(t *testing.T, s *Stream) { double(t, *s, 3, freedOf(model.ParseBuffer)) }},
		{"a call's memory stays", "blocks", func(t *testing.T, s *Stream) {
			i, k := find(t, *s, 3, freedOf(model.Assignment))
			s.Records[i].Effects[k].Call = false
		}},
		{"bytes go twice", "bytes", func(t *testing.T, s *Stream) { double(t, *s, 3, freedOf(model.Vectors)) }},
		{"bytes stay", "bytes", func(t *testing.T, s *Stream) { drop(t, *s, 3, freedOf(model.Assignment)) }},
		{"a lock has two holders", "holders", func(t *testing.T, s *Stream) { s.Config.GPU.Devices = 1; s.Config.GPU.WorkersPerDevice = 4 }},
		{"a worker serves two", "holders", func(t *testing.T, s *Stream) {
			for _, r := range s.Records {
				for k := range r.Effects {
					if r.Effects[k].Op == model.Take {
						r.Effects[k].Device, r.Effects[k].Task.Lane = 0, 0
					}
				}
			}
		}},
		{"there are too many finishes", "holders", func(t *testing.T, s *Stream) { move(t, *s, 5, starts(model.Finish), 3) }},
		{"there are too many deallocs", "holders", func(t *testing.T, s *Stream) { move(t, *s, 5, starts(model.Dealloc), 1) }},
		{"there are too many jobs in flight", "holders", func(t *testing.T, s *Stream) { s.Config.JobsInFlight = 2 }},
		{"two stages share a lane", "holders", func(t *testing.T, s *Stream) {
			i, k := find(t, *s, 0, func(e model.Effect) bool { return starts(model.Synth)(e) && e.Task.Lane == 1 })
			s.Records[i].Effects[k].Task.Lane = 0
		}},
		{"time runs back", "time", func(t *testing.T, s *Stream) { s.Records[50].At = 0 }},
		{"a stage ends before it begins", "time", func(t *testing.T, s *Stream) { s.Records[50].Begin = s.Records[50].End + 1 }},
		{"a stage begins before it was started", "time", func(t *testing.T, s *Stream) {
			i := slices.IndexFunc(s.Records, func(r model.Record) bool { return r.Begin > 0 })
			s.Records[i].Begin--
		}},
		{"a device idles", "conserving", func(t *testing.T, s *Stream) { drop(t, *s, 4, starts(model.Kernel)) }},
		{"a permit idles", "conserving", func(t *testing.T, s *Stream) { drop(t, *s, 4, starts(model.Synth)) }},
		{"a worker idles", "conserving", func(t *testing.T, s *Stream) { drop(t, *s, 4, does(model.Take)) }},
		{"a sender is forgotten", "conserving", func(t *testing.T, s *Stream) { drop(t, *s, 4, does(model.Accept)) }},
		{"a finalizer idles", "conserving", func(t *testing.T, s *Stream) { drop(t, *s, 4, starts(model.Finish)) }},
		{"a dealloc worker idles", "conserving", func(t *testing.T, s *Stream) { drop(t, *s, 4, starts(model.Dealloc)) }},
		{"prep is forgotten", "conserving", func(t *testing.T, s *Stream) { drop(t, *s, 4, starts(model.Prep)) }},
		{"a job is forgotten", "conserving", func(t *testing.T, s *Stream) { drop(t, *s, 4, does(model.JobStart)) }},
		{"a stall is made up", "conserving", func(t *testing.T, s *Stream) {
			s.Records[9].Effects = append(s.Records[9].Effects, model.Effect{Op: model.Stall})
		}},
		{"the run is cut off", "zero", func(t *testing.T, s *Stream) { s.Records = s.Records[:40] }},
		{"an effect is out of order", "replay", func(t *testing.T, s *Stream) {
			i := slices.IndexFunc(s.Records, func(r model.Record) bool { return len(r.Effects) > 1 })
			slices.Reverse(s.Records[i].Effects)
		}},
		{"the core would refuse", "replay", func(t *testing.T, s *Stream) { s.Records[30].Input.Task.Gen++ }},
		{"simultaneous inputs change places", "rounds", func(t *testing.T, s *Stream) {
			i := 0
			for a, b := s.Records[i], s.Records[i+1]; a.At != b.At || a.Begin == a.At || b.Begin == b.At || a.Input.Task.Stage == b.Input.Task.Stage; {
				i++
				a, b = s.Records[i], s.Records[i+1]
			}
			s.Records[i].Input, s.Records[i+1].Input = s.Records[i+1].Input, s.Records[i].Input
		}},
	}
	tried := map[string]bool{}
	for _, c := range cases {
		tried[c.checker] = true
		t.Run(c.name, func(t *testing.T) {
			s := clone(someStream(t, false))
			c.corrupt(t, &s)
			findings := Run(s)
			if !slices.ContainsFunc(findings, func(f Finding) bool { return f.Name == c.checker }) {
				t.Errorf("checker %s found nothing; findings: %v", c.checker, Err(findings))
			}
		})
	}
	for _, c := range Checkers() {
		if !tried[c.Name] {
			t.Errorf("no case makes checker %s fail", c.Name)
		}
	}
}

// Nothing can be left out of a stream, or be in it twice, without a checker besides the replay noticing.
func TestEveryEffectMatters(t *testing.T) {
	for name, valid := range map[string]Stream{
		"plain": someStream(t, false), "with failures": someStream(t, true), "booked": bookedStream(t, false), "booked, with failures": bookedStream(t, true),
	} {
		for i := range valid.Records {
			for k := range valid.Records[i].Effects {
				for _, twice := range []bool{false, true} {
					s := clone(valid)
					s.Stateless = true
					r := &s.Records[i]
					what := r.Effects[k]
					if what.Op == model.WakeAt {
						continue // only the core knows which timers it needs
					}
					if twice {
						r.Effects = slices.Insert(r.Effects, k, what)
					} else {
						r.Effects = slices.Delete(r.Effects, k, k+1)
					}
					if !slices.ContainsFunc(Run(s), func(f Finding) bool { return f.Name != "replay" }) {
						t.Errorf("%s: record %d effect %d, %s of %+v, twice %t: nobody notices", name, i, k, what.Op, what.Task, twice)
					}
				}
			}
		}
	}
}

// Replay alone finds the first record that differs, and nothing in one that is as it was.
func TestReplayFindsTheFirstDifference(t *testing.T) {
	s := clone(someStream(t, true))
	if err := Err(Replay(s)); err != nil {
		t.Error(err)
	}
	i, k := find(t, s, 10, does(model.Start))
	s.Records[i].Effects[k].Task.Slot++
	findings := Replay(s)
	if len(findings) != 1 || findings[0].Record != i || findings[0].Checker != 10 {
		t.Errorf("findings %v: want one of checker 10 at record %d", findings, i)
	}
}

// A stream that claims a great many jobs is found out before anything is made of them.
func TestReplayIsNotTalkedIntoABillionJobs(t *testing.T) {
	config := model.DefaultConfig(1)
	config.JobsInFlight = model.Unbounded
	kinds := []model.Kind{{Name: "a", Partitions: model.MaxPartitions, Stages: model.StageSet(0).With(model.Synth, model.Kernel)}}
	many := model.Record{Input: model.Input{Op: model.Arrive, Count: model.MaxJobs}}
	for _, s := range []Stream{
		{Config: config, Kinds: kinds, Records: []model.Record{many}},
		{Config: model.DefaultConfig(1), Kinds: kinds, Records: []model.Record{many, {Input: model.Input{Op: model.Drain}}}},
	} {
		if len(Replay(s)) != 1 {
			t.Error("the claim is believed")
		}
	}
}

// At most MaxFindings of each checker are kept.
func TestFindingsAreBounded(t *testing.T) {
	s := clone(someStream(t, false))
	for i := range s.Records {
		s.Records[i].State.Channel += 5
	}
	perChecker := map[int]int{}
	for _, f := range Run(s) {
		perChecker[f.Checker]++
	}
	if n := perChecker[3]; n != MaxFindings {
		t.Errorf("%d findings of checker 3: want %d", n, MaxFindings)
	}
}

// BenchmarkRun judges streams in which a hundred and a thousand partitions are alive at once: what a step takes grows with
// them, and not with their square.
func BenchmarkRun(b *testing.B) {
	for _, alive := range []int{100, 1000} {
		config := someConfig()
		config.JobsInFlight, config.Admission.Permits = model.Unbounded, model.Unbounded
		s := streamOf(b, config, []model.Kind{{Name: "a", Partitions: 4, Stages: every}}, alive/4, false)
		b.Run(fmt.Sprintf("alive=%d", alive), func(b *testing.B) {
			for range b.N {
				if err := Err(Run(s)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Records)), "ns/step")
		})
	}
}

// FuzzRun judges whatever can be read as a trace.
func FuzzRun(f *testing.F) {
	for _, fails := range []bool{false, true} {
		s := someStream(f, fails)
		var out bytes.Buffer
		w, err := trace.NewWriter(&out, &trace.Header{
			Clock: trace.Virtual, Config: s.Config, Kinds: s.Kinds,
			Workload: model.Workload{Shares: []model.Share{{Kind: s.Kinds[0].Name, Jobs: 1}}, Arrival: model.Arrival{Pattern: model.Closed}},
		})
		if err != nil {
			f.Fatal(err)
		}
		for i := range s.Records {
			w.Step(&s.Records[i])
		}
		w.End(trace.End{Outcome: trace.Finished})
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		if _, err := trace.Read(bytes.NewReader(out.Bytes())); err != nil {
			f.Fatal(err)
		}
		f.Add(out.Bytes())
		// Lines left out or doubled read well and make no sense.
		lines := bytes.SplitAfter(out.Bytes(), []byte("\n"))
		rng := rand.New(rand.NewPCG(1, 2))
		for range 4 {
			i := 1 + rng.IntN(len(lines)-2)
			f.Add(bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if tr, err := trace.Read(bytes.NewReader(data)); err == nil {
			Run(Of(tr))
		}
	})
}
