package calibrate_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/calibrate"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/sim"
)

func TestWhatCannotBeCalibratedIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(traces []*trace.Trace) []*trace.Trace
		want []string // parts of the error
	}{
		{"no traces", func([]*trace.Trace) []*trace.Trace { return nil }, []string{"there are no traces"}},
		{"no samples", func(l []*trace.Trace) []*trace.Trace { l[0].Samples = nil; return l },
			[]string{"has no samples of memory (clock virtual)"}},
		{"no baseline", func(l []*trace.Trace) []*trace.Trace { l[1].Baseline = nil; return l },
			[]string{"has no reading of memory before the first job"}},
		{"another kind", func(l []*trace.Trace) []*trace.Trace { l[0].Header.Kinds[0].Name = "large"; return l },
			[]string{"is of kinds", `"large" (4 partitions; synth, prep, kernel, tail, finish, dealloc)`}},
		{"another circuit", func(l []*trace.Trace) []*trace.Trace {
			l[0].Header.Circuits = map[string]model.Circuit{"small": {Family: "mimc", Log2Constraints: 13}}
			return l
		}, []string{"proves other circuits"}},
		{"another machine", func(l []*trace.Trace) []*trace.Trace { l[0].Header.Machine.Cores = 4; return l },
			[]string{`on the machine "test, 4 cores, 8.0 GiB"`}},
		{"another device and another clock, both reported", func(l []*trace.Trace) []*trace.Trace {
			l[0].Header.Device, l[0].Header.Clock = "cpu", trace.Monotonic
			return l
		}, []string{`on the device "`, `by the clock "`}},
		{"the virtual device", func(l []*trace.Trace) []*trace.Trace {
			for _, tr := range l {
				tr.Header.Device = "virtual"
			}
			return l
		}, []string{"which holds no memory"}},
		{"the same trace twice", func(l []*trace.Trace) []*trace.Trace { return append(l, l[0]) },
			[]string{"holds the same as", "give each trace once"}},
		{"too few jobs", func(l []*trace.Trace) []*trace.Trace { return []*trace.Trace{cut(l[0], 0.1)} },
			[]string{"at least 3 are needed"}},
		{"a stage that never ran", func(l []*trace.Trace) []*trace.Trace {
			for _, tr := range l {
				tr.Header.Kinds[0].Stages = tr.Header.Kinds[0].Stages.With(model.Parse)
			}
			return l
		}, []string{`no job of kind "small" was done with its stages parse`}},
		{"a stage that ends without a begin", func(l []*trace.Trace) []*trace.Trace {
			l[0].Records = l[0].Records[10:]
			return l
		}, []string{"record", "which did not begin"}},
		{"samples far apart", func(l []*trace.Trace) []*trace.Trace {
			for _, tr := range l {
				tr.Samples = tr.Samples[:20]
			}
			return l
		}, []string{"samples of resident memory", "sample more often"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := calibrate.Fit(c.edit(recordings()), calibrate.Options{Name: "small"})
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error does not say %q: %v", part, err)
				}
			}
		})
	}
}

func TestAsManySourcesAsTraces(t *testing.T) {
	_, _, err := calibrate.Fit(recordings(), calibrate.Options{Name: "small", Sources: make([]calibrate.Source, 2)})
	if err == nil || !strings.Contains(err.Error(), "2 sources for 3 traces") {
		t.Errorf("error %v", err)
	}
}

// cut returns the trace of a run that was cut off when a part of its records was written.
func cut(t *trace.Trace, part float64) *trace.Trace {
	out := *t
	out.Records = t.Records[:int(part*float64(len(t.Records)))]
	end := out.Records[len(out.Records)-1].At
	out.Samples = slices.DeleteFunc(slices.Clone(t.Samples), func(s trace.Sample) bool { return s.At > end })
	out.End = nil
	return &out
}

func TestTheOrderOfTracesDoesNotMatter(t *testing.T) {
	var traces []*trace.Trace
	for i, c := range []model.Config{
		config(1, model.AfterFinish, 1), config(2, model.AfterSend, 2), config(3, model.AfterSynthesis, 3),
	} {
		traces = append(traces, recorded(truth(), c, 6, uint64(i)+1, 1e6))
	}
	sources := []calibrate.Source{{Path: "a.jsonl"}, {Path: "b.jsonl"}, {Path: "c.jsonl"}}
	write := func() string {
		p, _, err := calibrate.Fit(traces, calibrate.Options{Name: "small", Sources: sources})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := profile.Read(b.Bytes(), "written.yaml"); err != nil {
			t.Fatalf("what was written is not a profile: %v", err)
		}
		return b.String()
	}
	first := write()
	slices.Reverse(traces)
	slices.Reverse(sources)
	if diff := cmp.Diff(first, write()); diff != "" {
		t.Errorf("in the other order (-first +second):\n%s", diff)
	}
}

// A run that was cut off, and jobs that fail, cost what they would have told, and no more.
func TestUnfinishedRunsAreUsedWithAWarning(t *testing.T) {
	whole := recordings()
	failing := failed(config(2, model.AfterSend, 2), 16, 7)
	traces := []*trace.Trace{whole[0], cut(whole[1], 0.7), failing}
	p, report, err := calibrate.Fit(traces, calibrate.Options{Name: "small"})
	if err != nil {
		t.Fatal(err)
	}
	warnings := strings.Join(report.Warnings, "\n")
	for _, part := range []string{"was cut off", "8 done and 0 failed of 12 jobs", "12 done and 4 failed of 16 jobs"} {
		if !strings.Contains(warnings, part) {
			t.Errorf("no warning says %q:\n%s", part, warnings)
		}
	}
	notes := strings.Join(p.Provenance.Notes, "\n")
	if part := "Failed or cancelled jobs: 4."; !strings.Contains(notes, part) {
		t.Errorf("no note of the profile says %q:\n%s", part, notes)
	}
	want, got := &truth().Kinds[0], &p.Kinds[0]
	for _, s := range []model.Stage{model.Kernel, model.Tail, model.Finish} {
		if e := float64(got.Work[s].Mean.Value)/float64(want.Work[s].Mean.Value) - 1; e < -0.05 || e > 0.05 {
			t.Errorf("%s takes %s, not %s", s, got.Work[s].Mean.Value, want.Work[s].Mean.Value)
		}
	}
	if e := float64(got.Footprint.Vectors.Value)/float64(want.Footprint.Vectors.Value) - 1; e < -0.05 || e > 0.05 {
		t.Errorf("vectors hold %s, not %s", got.Footprint.Vectors.Value, want.Footprint.Vectors.Value)
	}
}

func TestFailedJobsAloneTeachNothing(t *testing.T) {
	all := func(int32) bool { return true }
	only := failing(config(2, model.AfterSend, 2), 16, 7, all)
	_, _, err := calibrate.Fit([]*trace.Trace{only}, calibrate.Options{Name: "small"})
	part := `0 jobs of kind "small" done (of all kinds 16 failed): at least 3`
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v does not say %q", err, part)
	}
}

// failed returns a recording in which one partition of every fourth job fails in its kernel.
func failed(c model.Config, jobs int, seed uint64) *trace.Trace {
	return failing(c, jobs, seed, func(job int32) bool { return job%4 == 0 })
}

// failing returns a recording in which one partition of each of some jobs fails in its kernel.
func failing(c model.Config, jobs int, seed uint64, fails func(job int32) bool) *trace.Trace {
	return record(sim.Plan{Config: c, Profile: truth(), Seed: seed, Disturb: sim.Disturbance{
		Fails: func(job, partition int32, s model.Stage) bool {
			return s == model.Kernel && fails(job) && partition == 1
		},
	}}, jobs, 1e6)
}
