package diagnose_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"headroom/calibrate/diagnose"
	"headroom/model"
	"headroom/model/trace"
)

// early returns a recording whose permits return when synthesis ends, with jobs in flight and no end of them: finished
// partitions pile up.
func early(workers, inFlight model.Count, jobs int) recording {
	r := steady()
	r.config.JobsInFlight = inFlight
	r.config.Admission = model.Admission{Permits: workers, Release: model.AfterSynthesis}
	r.config.Channel.Capacity = 1
	r.jobs = jobs
	return r
}

func with(r recording, change func(*recording)) recording {
	change(&r)
	return r
}

func TestEachSortOfRunHasItsFinding(t *testing.T) {
	for _, c := range []struct {
		name   string
		r      recording
		want   diagnose.Finding
		reason string
	}{
		{"in balance", steady(), diagnose.Plateau, "permits 2 + channel 2 + gpu workers 1 = 5"},
		{"leaks", with(steady(), func(r *recording) { r.leak = 0.02 }), diagnose.Leak, "for each job"},
		{"leaks and tells only what is resident", with(steady(), func(r *recording) { r.leak, r.unsplit = 0.02, true }), diagnose.Leak, "may be those"},
		{"leaks and keeps", with(steady(), func(r *recording) { r.leak, r.retain = 0.03, 1 }), diagnose.Leak, "for each job"},
		{"grows with time", with(steady(), func(r *recording) { r.leakHour = 40 }), diagnose.Leak, "for each job"},
		{"page cache grows", with(steady(), func(r *recording) { r.cache = 0.5 }), diagnose.Plateau, ""},
		{"shared memory grows", with(steady(), func(r *recording) { r.shmem = 0.5 }), diagnose.Plateau, "shared memory grows by 50.0 MiB"},
		{"memory of devices grows", with(steady(), func(r *recording) { r.vram = 0.5 }), diagnose.Plateau, "on the devices grows by 50.0 MiB"},
		{"grows at its first jobs", with(steady(), func(r *recording) { r.warmUp = 0.5 }), diagnose.Plateau, ""},
		{"keeps all", with(steady(), func(r *recording) { r.retain = 1 }), diagnose.Retention, "98 % (96 to 100)"},
		{"keeps most", with(steady(), func(r *recording) { r.retain = 0.8 }), diagnose.Retention, ""},
		{"piles up in send", early(4, 60, 60), diagnose.QueueGrowth, "blocked in send"},
		{"piles up in send and keeps", with(early(4, 60, 60), func(r *recording) { r.retain = 1 }), diagnose.QueueGrowth, "blocked in send"},
		{"piles up in the channel", with(early(4, 60, 60), func(r *recording) { r.config.Channel.Capacity = model.Unbounded }), diagnose.QueueGrowth, "in the channel"},
		{"piles up before the finalizer", with(early(2, 60, 60), func(r *recording) {
			r.config.Finalizers = 1
			w := r.kind.Work[model.Finish]
			w.Mean.Value = 900 * model.Millisecond
			r.kind.Work[model.Finish] = w
		}), diagnose.QueueGrowth, "wait for a finalizer"},
		{"piles up before dealloc", with(steady(), func(r *recording) {
			w := r.kind.Work[model.Dealloc]
			w.Mean.Value = 900 * model.Millisecond
			r.kind.Work[model.Dealloc] = w
		}), diagnose.QueueGrowth, "wait to be freed"},
		{"jobs arrive too fast", with(steady(), func(r *recording) {
			r.jobs, r.killed, r.arrival = 120, 40, model.Arrival{Pattern: model.Poisson, Rate: 1}
		}), diagnose.QueueGrowth, "they arrive faster"},
		{"killed after five jobs", with(early(6, 60, 60), func(r *recording) { r.killed, r.tick = 5, 50*model.Millisecond }), diagnose.QueueGrowth, "blocked in send"},
		{"piles up as far as jobs in flight go", early(4, 4, 60), diagnose.Plateau, "jobs_in_flight 4 x partitions 4 = 16"},
		{"one job", with(steady(), func(r *recording) { r.jobs = 1 }), diagnose.CannotTell, "one job"},
		{"four jobs", with(steady(), func(r *recording) { r.jobs = 4 }), diagnose.CannotTell, "only 4 jobs"},
		{"sampled rarely", with(steady(), func(r *recording) { r.tick = 10 * model.Second }), diagnose.CannotTell, "sample more often"},
		{"wanders widely", with(steady(), func(r *recording) { r.drift = 0.5 }), diagnose.CannotTell, "record about"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := diagnose.Of(c.r.make(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if report.Finding != c.want || !strings.Contains(report.Reason, c.reason) {
				t.Errorf("%s: %s\nwant %s: ...%s...", report.Finding, report.Reason, c.want, c.reason)
			}
		})
	}
}

// A run that was simulated has no samples of memory, but its queues grow all the same.
func TestWithoutSamplesOnlyAQueueIsFound(t *testing.T) {
	for _, c := range []struct {
		r    recording
		want diagnose.Finding
	}{{early(4, 60, 60), diagnose.QueueGrowth}, {steady(), diagnose.CannotTell}} {
		recorded := c.r.make()
		recorded.Samples, recorded.Baseline = nil, nil
		report, err := diagnose.Of(recorded, 0)
		if err != nil {
			t.Fatal(err)
		}
		if report.Finding != c.want || report.PerJob != nil || report.SecondsToLimit != nil {
			t.Errorf("%+v, want %s", report, c.want)
		}
		if slices.ContainsFunc(report.Evidence, func(e diagnose.Evidence) bool { return e.Name == "samples" }) {
			t.Errorf("%s: the evidence counts samples that the trace does not have", report.Finding)
		}
	}
}

func TestWithoutStepsNothingIsFound(t *testing.T) {
	recorded := steady().make()
	recorded.Records = nil
	report, err := diagnose.Of(recorded, 0)
	if err != nil {
		t.Fatal(err)
	}
	if report.Finding != diagnose.CannotTell || !strings.Contains(report.Reason, "queue's depth") {
		t.Errorf("%s: %s", report.Finding, report.Reason)
	}
}

// What no pipeline does is an error and no finding.
func TestATraceThatIsOfNoPipelineIsAnError(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*trace.Trace)
		want string
	}{
		{"input", func(t *trace.Trace) { t.Records[9].Input.Task.Gen++ }, "record 10"},
		{"effect", func(t *trace.Trace) { t.Records[0].Effects = t.Records[0].Effects[1:] }, "record 1 "},
		{"order", func(t *trace.Trace) { t.Records[9].At = 0 }, "in order"},
		{"configuration", func(t *trace.Trace) { t.Header.Kinds[0].Partitions = 0 }, "partitions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			recorded := steady().make()
			c.edit(recorded)
			if _, err := diagnose.Of(recorded, 0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// The time to the limit is what is left of it over the growth, from the last sample and from the baseline.
func TestTheTimeToTheLimitIsWhatIsLeftOverTheGrowth(t *testing.T) {
	r := steady()
	r.leak, r.noise = 0.05, 0.001
	recorded := r.make()
	perHour := r.leak * float64(footprint) * float64(r.jobs) / recorded.End.MakespanNs.Seconds() * 3600
	last := float64(0)
	for _, s := range recorded.Samples {
		last = max(last, float64(s.RSSBytes))
	}
	limit := model.Bytes(last + perHour/4)
	report, err := diagnose.Of(recorded, limit)
	if err != nil {
		t.Fatal(err)
	}
	left := report.SecondsToLimit
	if left == nil || left.Low > left.Value || left.Value > left.High || math.Abs(left.Value-900) > 60 {
		t.Errorf("%+v to the limit, want about 900 s", left)
	}
	fresh := evidence(t, report, "time_to_limit_from_start")
	want := 3600 * float64(limit-recorded.Baseline.RSSBytes) / perHour
	if math.Abs(fresh.Value-want) > want/20 {
		t.Errorf("%v s from the baseline, want about %v", fresh.Value, want)
	}
	recorded.Header.LimitBytes = limit
	if own, err := diagnose.Of(recorded, 0); err != nil || own.Limit != limit || own.SecondsToLimit == nil || *own.SecondsToLimit != *left {
		t.Errorf("%+v, %v: the trace's own limit is %s", own, err, limit)
	}
	if report, err = diagnose.Of(recorded, model.GiB/4); err != nil || report.SecondsToLimit.Value != 0 {
		t.Errorf("%+v, %v: the limit is passed already", report.SecondsToLimit, err)
	}
}

func evidence(t *testing.T, r *diagnose.Report, name string) diagnose.Evidence {
	t.Helper()
	i := slices.IndexFunc(r.Evidence, func(e diagnose.Evidence) bool { return e.Name == name })
	if i < 0 {
		t.Fatalf("there is no evidence %s", name)
	}
	return r.Evidence[i]
}

// What is measured is what was put in, in its interval.
func TestWhatIsMeasuredIsWhatWasPutIn(t *testing.T) {
	r := steady()
	r.leak, r.cache, r.shmem, r.vram = 0.02, 0.1, 0.03, 0.04
	report, err := diagnose.Of(r.make(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"growth_per_job": 0.02, "file_per_job": 0.1, "shmem_per_job": 0.03, "vram_per_job": 0.04, "jobs_waiting_per_job": -1 / float64(footprint)} {
		e := evidence(t, report, name)
		if want *= float64(footprint); math.Abs(e.Value-want) > 0.05*math.Abs(want) {
			t.Errorf("%s is %v, want about %v", name, e.Value, want)
		}
	}
	if e := evidence(t, report, "growth_per_job"); *e.Low > 0.02*float64(footprint) || *e.High < 0.02*float64(footprint) {
		t.Errorf("the growth is from %v to %v", *e.Low, *e.High)
	}
}
