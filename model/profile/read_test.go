package profile_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
	"headroom/model/profile"
)

const written = `schema: 1
name: porep
provenance:
  machine: "96 cores"
  versions:
    prover: "1.2"
  traces:
    - {path: a.jsonl, sha256: abc, jobs: 2, partitions: 20}
  notes:
    - why
  fit:
    - {trace: a.jsonl, held_out: true, peak_error: -0.01, seconds_per_job_error: 0.02, measured_peak: 367GiB, predicted_peak: 363GiB}
baseline: {value: 2GiB, low: 1GiB, high: 3GiB, from: fitted}
resident:
  - {name: srs, bytes: 44GiB, load_time: 30s}
interference:
  slowdowns:
    - {stage: synth, by: synth, points: [[1, 1], [5, {value: 1.17, from: derived}]]}
  resources:
    - {name: cores, capacity: 96, demand: {synth: 1, prep: 32}}
kinds:
  porep-32g:
    partitions: 10
    priority: 0
    work:
      synth: {law: lognormal, mean: {value: 28.9s, from: derived}, cv: 0.05, job_cv: 0.01}
      kernel: {law: constant, mean: 1.5s}
    footprint:
      parse: 1MiB
      vectors: 13GiB
      assignment: 2GiB
      call: 0B
      during:
        synth: [[0, 0B], [0.85, {value: 19GiB, low: 18GiB, high: 20GiB}], [1, 15GiB]]
`

func TestAWrittenProfileIsReadInEveryPart(t *testing.T) {
	got, err := profile.Read([]byte(written), "porep.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const gib = model.GiB
	want := &profile.Profile{
		Name: "porep",
		Provenance: profile.Provenance{
			Machine: "96 cores", Versions: map[string]string{"prover": "1.2"}, Notes: []string{"why"},
			Traces: []profile.TraceRef{{Path: "a.jsonl", SHA256: "abc", Jobs: 2, Partitions: 20}},
			Fit:    []profile.FitQuality{{"a.jsonl", true, -0.01, 0.02, 367 * gib, 363 * gib}},
		},
		Baseline: profile.Quantity[model.Bytes]{Value: 2 * gib, Low: gib, High: 3 * gib, Source: profile.Fitted},
		Resident: []model.Resident{{Name: "srs", Bytes: 44 * gib, LoadTime: 30 * model.Second}},
		Interference: profile.Interference{
			Slowdowns: []profile.Slowdown{{Stage: model.Synth, By: model.Synth, Points: []profile.SlowdownPoint{
				{N: 1, Factor: profile.Exactly(1.0)}, {N: 5, Factor: profile.Quantity[float64]{Value: 1.17, Source: profile.Derived}},
			}}},
			Resources: []profile.Resource{{Name: "cores", Capacity: profile.Exactly(96.0), Demand: map[model.Stage]profile.Quantity[float64]{
				model.Synth: profile.Exactly(1.0), model.Prep: profile.Exactly(32.0),
			}}},
		},
		Kinds: []profile.Kind{{
			Name: "porep-32g", Partitions: 10,
			Work: map[model.Stage]profile.Work{
				model.Synth: {
					Law: profile.Lognormal, Mean: profile.Quantity[model.Span]{Value: 28900 * model.Millisecond, Source: profile.Derived},
					CV: profile.Exactly(0.05), JobCV: profile.Exactly(0.01),
				},
				model.Kernel: {Law: profile.Constant, Mean: profile.Exactly(1500 * model.Millisecond)},
			},
			Footprint: profile.Footprint{
				Parse: profile.Exactly(model.MiB), Vectors: profile.Exactly(13 * gib), Assignment: profile.Exactly(2 * gib),
				During: map[model.Stage][]profile.Point{model.Synth: {
					{Progress: 0}, {Progress: 0.85, Bytes: profile.Quantity[model.Bytes]{Value: 19 * gib, Low: 18 * gib, High: 20 * gib}},
					{Progress: 1, Bytes: profile.Exactly(15 * gib)},
				}},
			},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	again, err := write(got)
	if diff := cmp.Diff(written, string(again)); err != nil || diff != "" {
		t.Errorf("it is written otherwise: %v (-want +got):\n%s", err, diff)
	}
}

// TestOneWrongPlaceIsOneErrorWithItsLine replaces one text of the profile above by another.
func TestOneWrongPlaceIsOneErrorWithItsLine(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"schema: 1", "schema: 2", "1:9: schema is 2: this version reads schema 1"},
		{"schema: 1\n", "", "1:1: the document has no schema: begin with schema: 1"},
		{"name: porep\n", "", "1:1: name is missing: a profile needs one"},
		{"baseline:", "base:", "13:1: base is not a key here: the keys are schema, name, provenance, baseline, device_baseline, scatter, resident, interference, kinds"},
		{"2GiB, low", "2Gib, low", `13:19: baseline.value: model: size "2Gib": write a number and a unit`},
		{"value: 2GiB, ", "", "13:11: baseline has no value: write {value: , low: , high: , from: }, of which only value is needed"},
		{"low: 1GiB, ", "", "13:11: baseline has one end of an interval: give both low and high, or neither"},
		{"low: 1GiB", "low: 2.5GiB", "13:1: baseline is 2GiB with the interval from 2560MiB to 3GiB: an interval that begins at 0 or above and holds the value"},
		{"from: fitted", "from: guessed", `13:1: baseline is from "guessed": one of measured, derived, fitted, assumed`},
		{"bytes: 44GiB", "bytes: 0B", "15:24: resident[0].bytes is 0B: from 1B to 1024TiB"},
		{"stage: synth", "stage: sinth", `18:15: interference.slowdowns[0].stage: model: stage "sinth" is not known: one of parse, synth, prep, kernel, tail, finish, dealloc`},
		{"by: synth, ", "", `18:7: interference.slowdowns[0].by names stage "": one of parse, synth, prep, kernel, tail, finish, dealloc`},
		{"[1, 1], [5", "[5, 1], [5", "18:50: interference.slowdowns[0].points[1] is at n 5: above that of the point before (5), at most 1000000"},
		{"[1, 1]", "[1, 0]", "18:42: interference.slowdowns[0].points[0] is 0: a number above 0, at most 1000000"},
		{"[1, 1]", "[1, 1, 1]", "18:42: interference.slowdowns[0].points[0] is a list: a pair [n, factor]"},
		{"[1, 1]", "[1.5, 1]", `18:43: interference.slowdowns[0].points[0][0] is "1.5": a whole number`},
		{"points: [[1, 1], [5, {value: 1.17, from: derived}]]", "points: []", "18:33: interference.slowdowns[0].points is empty: at least one [n, factor]"},
		{"capacity: 96", "capacity: 0", "20:31: interference.resources[0].capacity is 0: a number from 0.001, at most 1000000"},
		{"capacity: 96", "capacity: .nan", `20:31: interference.resources[0].capacity is ".nan": a number`},
		{"capacity: 96", "capacity: 1e309", `20:31: interference.resources[0].capacity is "1e309": a number that fits into 64 bits`},
		{"{synth: 1, prep: 32}", "{synth: 1, prep: -32}", "20:60: interference.resources[0].demand.prep is -32: a number above 0, at most 1000000"},
		{"{synth: 1, prep: 32}", "{}", "20:35: interference.resources[0].demand is empty: what one runner of each stage asks for"},
		{"{synth: 1, prep: 32}", "{sync: 1}", `20:44: interference.resources[0].demand.sync is not a key here: model: stage "sync" is not known`},
		{"name: cores", `name: ""`, `20:14: interference.resources[0].name is "": each resource needs a name of its own`},
		{"partitions: 10\n", "partitions: 0\n", "23:17: kinds.porep-32g.partitions is 0: from 1 to 1000000"},
		{"priority: 0", "circuit: mimc", "22:3: kinds.porep-32g.log2_constraints is 0: from 10 to 22 for circuit mimc"},
		{"      kernel: {law: constant, mean: 1.5s}\n", "", "25:5: kinds.porep-32g.work has no kernel: every kind needs synth and kernel"},
		{"law: constant", "law: normal", `27:21: kinds.porep-32g.work.kernel.law is "normal": one of constant, lognormal, exponential`},
		{"law: constant", "law: constant, cv: 0.1", "27:35: kinds.porep-32g.work.kernel.cv is 0.1: 0 for law constant"},
		{"law: constant", "law: exponential, cv: 0.1", "27:38: kinds.porep-32g.work.kernel.cv is 0.1: 1 for law exponential"},
		{"mean: 1.5s", "mean: 1.5", `27:37: kinds.porep-32g.work.kernel.mean: model: duration "1.5" is not a number with a unit`},
		{"mean: 1.5s", "mean: -1.5s", "27:37: kinds.porep-32g.work.kernel.mean is -1.5s: from 0s to 8760h0m0s"},
		{"cv: 0.05", "cv: -0.05", "26:72: kinds.porep-32g.work.synth.cv is -0.05: a number from 0, at most 1000000"},
		{"vectors: 13GiB", "vectors: 13", `30:16: kinds.porep-32g.footprint.vectors: model: size "13": write a number and a unit`},
		{"vectors: 13GiB", "vectors: 1025TiB", "30:16: kinds.porep-32g.footprint.vectors is 1025TiB: from 0B to 1024TiB"},
		{"vectors: 13GiB", "vectors: 13GiB\n      freeing: 1.5", "31:16: kinds.porep-32g.footprint.freeing is 1.5: a part of a block, at most 1"},
		{"vectors: 13GiB", "vectors: 13GiB\n      freeing: -0.5", "31:16: kinds.porep-32g.footprint.freeing is -0.5: a number from 0, at most 1000000"},
		{"[0, 0B]", "[0.9, 0B]", "34:28: kinds.porep-32g.footprint.during.synth[1] has progress 0.85: from that of the point before (0.9) to 1"},
		{"[1, 15GiB]", "[1.5, 15GiB]", "34:75: kinds.porep-32g.footprint.during.synth[2] has progress 1.5: from that of the point before (0.85) to 1"},
		{"[0, 0B]", "[0]", "34:17: kinds.porep-32g.footprint.during.synth[0] is a list: a pair [progress, bytes]"},
		{"        synth: [[0", "        tail: [[0", "34:9: kinds.porep-32g.footprint.during.tail is of a stage that the kind's work does not have"},
		{"jobs: 2, ", "jobs: -2, ", "8:7: provenance.traces[0] has -2 jobs and 20 partitions: neither is negative"},
		{"held_out: true", "held_out: yes", `12:34: provenance.fit[0].held_out is "yes": true or false`},
	} {
		if strings.Count(written, c.old) != 1 {
			t.Fatalf("%q is not in the profile once", c.old)
		}
		_, err := profile.Read([]byte(strings.Replace(written, c.old, c.new, 1)), "f.yaml")
		first, _, _ := strings.Cut(fmt.Sprint(err), "\n")
		if !strings.HasPrefix(first, "profile: f.yaml:"+c.want) {
			t.Errorf("%s\ngot  %s\nwant profile: f.yaml:%s", c.new, first, c.want)
		}
	}
}

func TestAProfileMadeInCodeIsJudgedBeforeItIsWritten(t *testing.T) {
	for _, c := range []struct {
		want string
		set  func(*profile.Profile)
	}{
		{"name is missing: a profile needs one", func(p *profile.Profile) { p.Name = "" }},
		{"name is not UTF-8 text", func(p *profile.Profile) { p.Name = "\xff" }},
		{"kinds is empty: at least one kind of job", func(p *profile.Profile) { p.Kinds = nil }},
		{"kinds.job is there twice: one entry for each kind", func(p *profile.Profile) { p.Kinds = append(p.Kinds, p.Kinds[0]) }},
		{"kinds. has no name: each kind needs one", func(p *profile.Profile) { p.Kinds[0].Name = "" }},
		{"kinds.job.footprint.during.synth has no points: at least one [progress, bytes]",
			func(p *profile.Profile) {
				p.Kinds[0].Footprint.During = map[model.Stage][]profile.Point{model.Synth: nil}
			}},
		{`kinds.job.work names stage "unknown": one of parse, synth, prep, kernel, tail, finish, dealloc`,
			func(p *profile.Profile) { p.Kinds[0].Work[model.NumStages] = p.Kinds[0].Work[model.Synth] }},
		{"kinds.job.footprint.during.synth[0] has progress NaN: from that of the point before (0) to 1",
			func(p *profile.Profile) {
				p.Kinds[0].Footprint.During = map[model.Stage][]profile.Point{model.Synth: {{Progress: math.NaN()}}}
			}},
		{"kinds.job.work.synth.cv is +Inf: a number from 0, at most 1000000", func(p *profile.Profile) {
			p.Kinds[0].Work[model.Synth] = profile.Work{Law: profile.Lognormal, CV: profile.Exactly(math.Inf(1))}
		}},
		{"provenance.fit[0] has an error of NaN: a finite number", func(p *profile.Profile) {
			p.Provenance.Fit = []profile.FitQuality{{PeakError: math.NaN()}}
		}},
	} {
		p := small()
		c.set(p)
		var b bytes.Buffer
		if err := p.Write(&b); err == nil || err.Error() != "profile: not written: "+c.want || b.Len() > 0 {
			t.Errorf("got  %v and %d bytes\nwant %s", err, b.Len(), c.want)
		}
	}
}

func TestEveryFaultOfAProfileIsReported(t *testing.T) {
	text := strings.NewReplacer("partitions: 10\n", "partitions: 0\n", "capacity: 96", "capacity: 0", "cv: 0.05", "cv: -1").Replace(written)
	_, err := profile.Read([]byte(text), "f.yaml")
	for _, want := range []string{"f.yaml:20:31: ", "f.yaml:23:17: ", "f.yaml:26:72: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not have the fault at %s", err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(written))
	f.Add([]byte("schema: 1\nname: x\nkinds: {a: {partitions: 1, work: {synth: {law: constant, mean: 1s}, kernel: {law: constant, mean: 1s}}}}\n"))
	f.Add([]byte("schema: 1\nbaseline: {value: 1GiB, low: 2GiB, high: .inf}\nkinds: {? : 1}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Read(data, "fuzzed.yaml")
		if err != nil {
			return
		}
		text, err := write(p)
		if err != nil {
			t.Fatalf("what was read is not written: %v", err)
		}
		again, err := profile.Read(text, "again.yaml")
		if err != nil || again.Hash() != p.Hash() {
			t.Fatalf("what was written reads as %v, %v\n%s", again, err, text)
		}
	})
}
