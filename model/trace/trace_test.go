package trace

import (
	"bytes"
	stdcmp "cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"headroom/model"
)

func someHeader() Header {
	every := model.StageSet(0).With(model.Parse, model.Synth, model.Prep, model.Kernel, model.Tail, model.Finish, model.Dealloc)
	config := model.DefaultConfig(2)
	config.Admission.Permits = 7
	return Header{
		Schema:      Schema,
		Tool:        "headroom 1",
		Prover:      "gnark v0.16.0",
		Machine:     Machine{Name: "box", CPU: "a <fast> one", Cores: 2, RAM: 24 * model.GiB, Kernel: "6.1"},
		Clock:       Monotonic,
		Started:     "2026-01-02T03:04:05Z",
		Config:      config,
		Kinds:       []model.Kind{{Name: "small", Partitions: 4, Stages: every}, {Name: "large", Partitions: 100, Priority: 3, Stages: model.StageSet(0).With(model.Synth, model.Kernel)}},
		Circuits:    map[string]model.Circuit{"small": {Family: "mimc", Log2Constraints: 13, Data: model.MiB, Leaf: 4 * model.KiB}},
		Blocks:      map[string]model.Blocks{"large": {Vectors: 30, Assignment: 4, Pinned: 7, Device: 8}},
		Keys:        map[string]Keys{"small": {Host: 5, Device: 6}},
		Devices:     []Device{{Total: 9, Driver: 2, Keys: 3, Used: 5}, {Total: 8}},
		Workload:    model.Workload{Shares: []model.Share{{Kind: "small", Jobs: 3}}, Arrival: model.Arrival{Pattern: model.Closed}},
		ProfileHash: "abc",
		Seed:        1<<64 - 1,
		Replication: 5,
		Device:      "cpu",
		LimitBytes:  3 * model.GiB,
		CapBytes:    2 * model.GiB,
		Mechanism:   "cgroup",
		Forced:      true,
	}
}

var (
	drawCount = rapid.Int32Range(0, 1<<31-2)
	drawBytes = rapid.Custom(func(t *rapid.T) model.Bytes { return model.Bytes(rapid.Int64Range(0, 1<<50).Draw(t, "bytes")) })
	drawAt    = rapid.Custom(func(t *rapid.T) model.Instant { return model.Instant(rapid.Int64Min(0).Draw(t, "ns")) })
)

func drawTask(t *rapid.T) model.Task {
	task := model.Task{
		Stage: rapid.SampledFrom([]model.Stage{model.Load, model.Parse, model.Synth, model.Prep, model.Kernel, model.Tail, model.Finish, model.Dealloc}).Draw(t, "stage"),
		Lane:  drawCount.Draw(t, "lane"),
		Slot:  drawCount.Draw(t, "slot"),
		Gen:   rapid.Uint32().Draw(t, "gen"),
	}
	if task.Stage == model.Dealloc {
		task.Block = rapid.SampledFrom([]model.Block{model.Vectors, model.Assignment}).Draw(t, "block")
	}
	return task
}

func drawInput(t *rapid.T) model.Input {
	switch op := model.InputOp(rapid.IntRange(int(model.Arrive), int(model.Wake)).Draw(t, "op")); op {
	case model.Arrive:
		return model.Input{Op: op, Kind: rapid.Uint16Max(1).Draw(t, "kind"), Job: rapid.Int32Range(0, 1e8).Draw(t, "job"), Count: rapid.Int32Range(1, 1e8).Draw(t, "count")}
	case model.Cancel:
		return model.Input{Op: op, Job: drawCount.Draw(t, "job")}
	case model.Drain:
		return model.Input{Op: op}
	case model.Wake:
		return model.Input{Op: op, Task: model.Task{Slot: drawCount.Draw(t, "timer"), Gen: rapid.Uint32().Draw(t, "gen")}}
	default:
		return model.Input{Op: op, Task: drawTask(t)}
	}
}

func drawEffect(t *rapid.T) model.Effect {
	e := model.Effect{
		Op:        model.EffectOp(rapid.IntRange(int(model.JobStart), int(model.Stall)).Draw(t, "do")),
		Device:    rapid.Uint8Max(1).Draw(t, "device"),
		Call:      rapid.Bool().Draw(t, "call"),
		Reused:    rapid.Bool().Draw(t, "reused"),
		Kind:      rapid.Uint16Max(1).Draw(t, "kind"),
		Proofs:    rapid.Uint16Max(3).Draw(t, "proofs"),
		Job:       drawCount.Draw(t, "job"),
		Partition: rapid.Int32Range(0, 3).Draw(t, "partition"),
	}
	switch e.Op {
	case model.Start:
		e.Task = drawTask(t)
	case model.WakeAt:
		e.After = model.Span(rapid.Int64Min(1).Draw(t, "after"))
	case model.Freed, model.Pooled:
		e.Task.Block = rapid.SampledFrom([]model.Block{model.Vectors, model.Assignment, model.ParseBuffer}).Draw(t, "block")
	}
	return e
}

func drawMemory(t *rapid.T) Memory {
	var m Memory
	for _, b := range []*model.Bytes{&m.RSSBytes, &m.AnonBytes, &m.FileBytes, &m.ShmemBytes, &m.CgroupBytes, &m.CgroupPeakBytes, &m.VRAMBytes, &m.PinnedBytes} {
		*b = drawBytes.Draw(t, "memory")
	}
	return m
}

// drawTrace draws a trace that the format can hold, whether or not a core would make it.
func drawTrace(t *rapid.T) *Trace {
	tr := &Trace{Header: someHeader()}
	for range rapid.IntRange(0, 8).Draw(t, "steps") {
		r := model.Record{At: drawAt.Draw(t, "at"), Input: drawInput(t), Begin: drawAt.Draw(t, "begin"), End: drawAt.Draw(t, "end")}
		r.Effects = rapid.SliceOfN(rapid.Custom(drawEffect), 0, 4).Draw(t, "effects")
		r.State = model.State{
			Permits: model.Count(rapid.Int32Range(0, 7).Draw(t, "permits")), Channel: drawCount.Draw(t, "channel"), Blocked: drawCount.Draw(t, "blocked"),
			Ledger: drawBytes.Draw(t, "ledger"),
		}
		tr.Records = append(tr.Records, r)
	}
	for range rapid.IntRange(0, 3).Draw(t, "samples") {
		tr.Samples = append(tr.Samples, Sample{
			At: drawAt.Draw(t, "at"), Memory: drawMemory(t), Phase: rapid.String().Draw(t, "phase"),
			PSISomeMicros: rapid.Int64Min(0).Draw(t, "some"), PSIFullMicros: rapid.Int64Min(0).Draw(t, "full"),
		})
	}
	slices.SortStableFunc(tr.Samples, func(a, b Sample) int { return stdcmp.Compare(a.At, b.At) })
	if rapid.Bool().Draw(t, "has a baseline") {
		tr.Baseline = &Baseline{At: drawAt.Draw(t, "at"), Memory: drawMemory(t)}
	}
	tr.End = &End{
		Outcome: OOM, JobsDone: rapid.IntMin(0).Draw(t, "jobs"), ProofsVerified: rapid.IntMin(0).Draw(t, "proofs"),
		MakespanNs: model.Span(drawAt.Draw(t, "makespan")), PeakBytes: drawBytes.Draw(t, "peak"), VmHWMBytes: drawBytes.Draw(t, "hwm"),
		CgroupPeakBytes: drawBytes.Draw(t, "cgroup"), VRAMPeakBytes: rapid.SliceOf(drawBytes).Draw(t, "vram"),
		Signal: "SIGKILL", Error: rapid.String().Draw(t, "error"),
	}
	return tr
}

// put writes a trace, the end last.
func put(w *Writer, tr *Trace) error {
	if tr.Baseline != nil {
		w.Baseline(*tr.Baseline)
	}
	for i := range tr.Records {
		w.Step(&tr.Records[i])
	}
	for _, s := range tr.Samples {
		w.Sample(s)
	}
	if tr.End != nil {
		w.End(*tr.End)
	}
	return w.Close()
}

func text(t *testing.T, tr *Trace) string {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, &tr.Header)
	if err != nil {
		t.Fatal(err)
	}
	if err := put(w, tr); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// What is written is what is read, compressed or not, and text that is not valid UTF-8 aside.
func TestRoundTrip(t *testing.T) {
	for _, name := range []string{"trace.jsonl", "trace.jsonl.zst"} {
		path := filepath.Join(t.TempDir(), name)
		rapid.Check(t, func(rt *rapid.T) {
			want := drawTrace(rt)
			w, err := Create(path, &want.Header)
			if err != nil {
				rt.Fatal(err)
			}
			if err := put(w, want); err != nil {
				rt.Fatal(err)
			}
			got, err := ReadFile(path)
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				rt.Fatal(diff)
			}
		})
	}
}

func TestLinesReadAsDocumented(t *testing.T) {
	task := model.Task{Stage: model.Synth, Lane: 1, Slot: 4, Gen: 2}
	tr := &Trace{Header: someHeader(), Records: []model.Record{
		{Input: model.Input{Op: model.Arrive, Kind: 1, Count: 4}, Effects: []model.Effect{
			{Op: model.JobStart, Kind: 1, Proofs: 1, Job: 3},
			{Op: model.Start, Kind: 1, Proofs: 1, Job: 3, Partition: 2, Task: task},
		}, State: model.State{Permits: 3}},
		{At: 123, Input: model.Input{Op: model.Done, Task: task}, Begin: 100, End: 120, Effects: []model.Effect{
			{Op: model.Freed, Call: true, Kind: 1, Proofs: 1, Job: 3, Partition: 2, Task: model.Task{Block: model.Assignment}},
		}, State: model.State{Channel: 1, Blocked: 2}},
		{At: 124, Input: model.Input{Op: model.Drain}},
		{At: 125, Input: model.Input{Op: model.Wake, Task: model.Task{Slot: 1, Gen: 2}}, Effects: []model.Effect{
			{Op: model.Join, Kind: 1, Proofs: 2, Job: 4},
			{Op: model.WakeAt, Task: model.Task{Slot: 2}, After: model.Second},
		}, State: model.State{Permits: 3, Ledger: 77}},
	},
		Samples:  []Sample{{At: 130, Memory: Memory{RSSBytes: 5, AnonBytes: 4}, PSISomeMicros: 6, Phase: "load"}},
		Baseline: &Baseline{At: -0, Memory: Memory{VRAMBytes: 7}},
		End:      &End{Outcome: Killed, MakespanNs: 130, VmHWMBytes: 9, VRAMPeakBytes: []model.Bytes{11, 0}, Signal: "SIGKILL"}}
	_, body, _ := strings.Cut(text(t, tr), "\n")
	want := `{"at":0,"baseline":{"vram_bytes":7}}
{"at":0,"input":"arrive","kind":1,"count":4,"effects":[{"do":"job_start","kind":1,"job":3},{"do":"start","kind":1,"job":3,"partition":2,"stage":"synth","lane":1,"slot":4,"gen":2,"bytes":34}],"permits":3}
{"at":123,"input":"done","job":3,"partition":2,"stage":"synth","lane":1,"slot":4,"gen":2,"began":100,"ended":120,"effects":[{"do":"free","kind":1,"job":3,"partition":2,"block":"assignment","call":true,"bytes":4}],"channel":1,"blocked":2}
{"at":124,"input":"drain"}
{"at":125,"input":"wake","slot":1,"gen":2,"effects":[{"do":"join","kind":1,"job":4,"proofs":2},{"do":"wake_at","slot":2,"after":1000000000}],"permits":3,"ledger":77}
{"at":130,"sample":{"rss_bytes":5,"anon_bytes":4,"psi_some_us":6,"phase":"load"}}
{"end":{"outcome":"killed","jobs_done":0,"signal":"SIGKILL","makespan_ns":130,"vm_hwm_bytes":9,"vram_peak_bytes":[11,0]}}
`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

// A trace that is cut anywhere after its header is read up to the cut, with a warning.
func TestTruncationIsSurvived(t *testing.T) {
	whole := text(t, rapid.Custom(drawTrace).Example(3))
	header := strings.Index(whole, "\n")
	for cut := range len(whole) {
		tr, err := Read(strings.NewReader(whole[:cut]))
		if cut < header {
			if err == nil {
				t.Fatalf("a header of %d of %d bytes was read", cut, header)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		lines := len(tr.Records) + len(tr.Samples)
		if tr.Baseline != nil {
			lines++
		}
		complete := strings.Count(whole[:cut], "\n") - 1
		if whole[cut] == '\n' && cut > header {
			complete++ // only the newline is missing
		}
		if tr.End != nil {
			complete--
		} else if len(tr.Warnings) == 0 {
			t.Fatalf("cut at %d: no warning", cut)
		}
		if lines != max(complete, 0) {
			t.Fatalf("cut at %d: %d lines were read of %d", cut, lines, complete)
		}
	}
}

// A compressed trace that is cut off inside a block is read up to there.
func TestTruncationOfCompressedTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.zst")
	header := someHeader()
	w, err := Create(path, &header)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		w.Step(&model.Record{At: model.Instant(i), Input: model.Input{Op: model.Drain}})
		if i == 499 {
			w.Flush()
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := Read(bytes.NewReader(packed[:len(packed)-20]))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tr.Records); n < 500 || n >= 1000 || len(tr.Warnings) == 0 {
		t.Errorf("%d records and warnings %q: 500 were flushed, and not all 1000 are there", n, tr.Warnings)
	}
	const want = "trace: line 1: the header is in a compressed block that is cut off"
	for _, size := range []int{5, 20, 100} {
		if _, err := Read(bytes.NewReader(packed[:size])); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("of %d bytes: %v, want %s", size, err, want)
		}
	}
}

func TestBadTracesAreRefused(t *testing.T) {
	good := someHeader()
	header := strings.TrimSuffix(text(t, &Trace{Header: good}), "\n")
	const start = `{"at":0,"input":"arrive","count":1,"effects":[{"do":"start","stage":"synth","slot":2}]}`
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "trace: is empty"},
		{"no header", `{"at":0,"input":"drain"}` + "\n", `line 1: is not a header`},
		{"no JSON", "hello\n", `line 1: is not a header`},
		{"a list", "[]\n", `line 1: is not a header`},
		{"newer schema", `{"schema":2}` + "\n", "schema 2 is newer than 1"},
		{"cut header", header[:40], "line 1: the header is cut off"},
		{"unknown unit", strings.Replace(header, `"time":"ns"`, `"time":"ms"`, 1), `units are "ms" and "bytes"`},
		{"unknown clock", strings.Replace(header, `"monotonic"`, `"sundial"`, 1), `clock is "sundial"`},
		{"no partitions", strings.Replace(header, `"partitions":4`, `"partitions":0`, 1), "kinds[0].partitions is 0: from 1 to 1000000"},
		{"no kernel", strings.Replace(header, `"synth","kernel"]`, `"synth"]`, 1), "kinds[1].stages"},
		{"unknown stage", strings.Replace(header, `"synth","kernel"]`, `"synth","cook"]`, 1), `stage "cook" is not known`},
		{"bad configuration", strings.Replace(header, `"permits":7`, `"permits":0`, 1), "config.admission.permits is 0"},
		{"unknown circuit", strings.Replace(header, `"circuit":"mimc"`, `"circuit":"plonk"`, 1), `line 1: circuits.small.circuit is "plonk": one of mimc, sha256`},
		{"negative limit", strings.Replace(header, `"limit_bytes":`, `"limit_bytes":-`, 1), "limit_bytes is -3GiB"},
		{"broken line", header + "\n{\"at\":1,\"inp\n", "line 2: "},
		{"empty line", header + "\n\n", "line 2: is empty: every line is a JSON object"},
		{"two objects", header + "\n{\"at\":1,\"input\":\"drain\"}{}\n", "line 2: has more than one JSON object"},
		{"no instant", header + "\n{\"input\":\"drain\"}\n", `line 2: needs an instant "at"`},
		{"negative instant", header + "\n{\"at\":-1,\"input\":\"drain\"}\n", `line 2: needs an instant "at"`},
		{"fractional instant", header + "\n{\"at\":1.5,\"input\":\"drain\"}\n", `line 2: has a number 1.5 as "at": it must be a whole number of 64 bits`},
		{"a list where an object is due", header + "\n[]\n", "line 2: is an array: it must be an object"},
		{"a word where an object is due", header + "\n\"drain\"\n", "line 2: is a string: it must be an object"},
		{"an object where a list is due", header + "\n{\"at\":1,\"input\":\"drain\",\"effects\":{}}\n", `line 2: has an object as "effects": it must be a list`},
		{"nothing on it", header + "\n{\"at\":1}\n", `line 2: needs one of "input", "sample", "baseline" and "end"`},
		{"unknown input", header + "\n{\"at\":1,\"input\":\"sleep\"}\n", `line 2: input "sleep" is not known: one of arrive, done, failed, cancel, drain`},
		{"unknown effect", header + "\n{\"at\":1,\"input\":\"drain\",\"effects\":[{\"do\":\"sing\"}]}\n", `line 2: effect 1: effect "sing" is not known: one of job_start, join, reserve, admit, start,`},
		{"unknown block", header + "\n{\"at\":1,\"input\":\"drain\",\"effects\":[{\"do\":\"free\",\"block\":\"x\"}]}\n", `block "x": one of vectors, assignment, parse`},
		{"absurd count", header + "\n{\"at\":1,\"input\":\"arrive\",\"count\":2000000000}\n", "line 2: brings 2000000000 jobs"},
		{"number too large", header + "\n{\"at\":1,\"input\":\"arrive\",\"count\":20000000000}\n", `number 20000000000 as "count": it must be a whole number of 32 bits`},
		{"no such kind", header + "\n{\"at\":1,\"input\":\"arrive\",\"count\":1,\"kind\":2}\n", "is of kind 2: the header has 2 kinds"},
		{"no such partition", header + "\n{\"at\":1,\"input\":\"drain\",\"effects\":[{\"do\":\"leave\",\"partition\":4}]}\n", "partition 4: from 0 to 3"},
		{"no such device", header + "\n{\"at\":1,\"input\":\"drain\",\"effects\":[{\"do\":\"take\",\"device\":2}]}\n", "device 2: the header's configuration has 2"},
		{"drain with a stage", header + "\n{\"at\":1,\"input\":\"drain\",\"stage\":\"synth\"}\n", "which drain has not"},
		{"done without a stage", header + "\n{\"at\":1,\"input\":\"done\"}\n", "needs a stage"},
		{"synth of a block", header + "\n{\"at\":1,\"input\":\"done\",\"stage\":\"synth\",\"block\":\"vectors\"}\n", "has a block without the stage dealloc"},
		{"negative lane", header + "\n{\"at\":1,\"input\":\"done\",\"stage\":\"synth\",\"lane\":-1}\n", "has lane -1"},
		{"edited job", header + "\n" + start + "\n{\"at\":1,\"input\":\"done\",\"stage\":\"synth\",\"slot\":2,\"job\":1}\n", "line 3: is about job 1 partition 0: in slot 2 there is job 0 partition 0"},
		{"too many permits", header + "\n{\"at\":1,\"input\":\"drain\",\"permits\":8}\n", "has 8 free permits: from 0 to 7"},
		{"negative sample", header + "\n{\"at\":1,\"sample\":{\"rss_bytes\":-5}}\n", "line 2: rss_bytes is -5B"},
		{"negative peak", header + "\n{\"end\":{\"outcome\":\"oom\",\"vram_peak_bytes\":[1,-2]}}\n", "line 2: vram_peak_bytes[1] is -2B"},
		{"unknown outcome", header + "\n{\"end\":{\"outcome\":\"bored\"}}\n", `line 2: outcome is "bored": one of finished,`},
		{"a sample out of order", header + "\n{\"at\":2,\"sample\":{}}\n{\"at\":1,\"sample\":{}}\n", "line 3: has a sample at 1 ns, after one at 2 ns: samples are in order of time"},
		{"a second baseline", header + "\n{\"at\":1,\"baseline\":{}}\n{\"at\":2,\"baseline\":{}}\n", "line 3: has a second baseline: a run begins once"},
		{"more after the end", header + "\n{\"end\":{\"outcome\":\"oom\"}}\n{\"at\":1,\"input\":\"drain\"}\n", "line 3: follows the end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v\nwant one with %s", err, c.want)
			}
		})
	}
}

// Unknown fields are worth one warning in all, wherever they are.
func TestUnknownFieldsAreIgnored(t *testing.T) {
	header := strings.Replace(text(t, &Trace{Header: someHeader()}), `{"schema":1,`, `{"schema":1,"mood":"good",`, 1)
	tr, err := Read(strings.NewReader(header +
		`{"at":1,"input":"drain","mood":"bad","effects":[{"do":"stall","mood":"worse"}]}` + "\n" +
		`{"at":2,"sample":{"rss_bytes":5,"mood":1}}` + "\n" + `{"end":{"outcome":"oom"}}` + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`trace: line 1 has the field "mood", which this version does not know: unknown fields are ignored`}
	if diff := cmp.Diff(want, tr.Warnings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(someHeader(), tr.Header); diff != "" {
		t.Error(diff)
	}
	if len(tr.Records) != 1 || len(tr.Records[0].Effects) != 1 || len(tr.Samples) != 1 || tr.Samples[0].RSSBytes != 5 {
		t.Errorf("got %+v", tr)
	}
}

// fullDisk takes some bytes and then no more.
type fullDisk struct{ left int }

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.left)
	d.left -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

// A full disk is an error of every later call, and leaves a trace without an end.
func TestFullDisk(t *testing.T) {
	header := someHeader()
	w, err := NewWriter(&fullDisk{left: 100_000}, &header)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for range 10_000 {
		if err := w.Step(&model.Record{Input: model.Input{Op: model.Drain}}); errors.Is(err, errFull) {
			failed++
		} else if failed > 0 {
			t.Fatalf("error %v after an error", err)
		}
	}
	if failed == 0 {
		t.Error("no step reported the full disk")
	}
	for _, err := range []error{w.Sample(Sample{}), w.End(End{}), w.Flush(), w.Close()} {
		if !errors.Is(err, errFull) {
			t.Errorf("error %v after the disk was full", err)
		}
	}
}

func TestLongLinesAreRefused(t *testing.T) {
	header := someHeader()
	long := text(t, &Trace{Header: header}) + `{"at":1,"sample":{"phase":"` + strings.Repeat("x", maxLine)
	if _, err := Read(strings.NewReader(long)); err == nil || !strings.Contains(err.Error(), fmt.Sprint("line 2: is longer than ", maxLine)) {
		t.Errorf("reading: %v", err)
	}
	w, err := NewWriter(io.Discard, &header)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Sample(Sample{Phase: strings.Repeat("x", maxLine)}); err == nil {
		t.Error("a line that cannot be read back was written")
	}
}

// A line of so many objects that reading them would take a hundred times its length in memory.
func TestLinesOfManyObjectsAreRefused(t *testing.T) {
	header := someHeader()
	start := text(t, &Trace{Header: header})
	for name, long := range map[string]string{
		"effects": start + `{"at":1,"input":"drain","effects":[` + strings.Repeat("{},", maxObjects) + "{}]}\n",
		"kinds":   strings.Replace(start, `"kinds":[`, `"kinds":[`+strings.Repeat("{},", maxObjects), 1),
	} {
		if _, err := Read(strings.NewReader(long)); err == nil || !strings.Contains(err.Error(), "has more than 2097152 objects, the most that a line has") {
			t.Errorf("%s: %v", name, err)
		}
	}
	few := strings.Replace(start, `"kinds":[`, `"kinds":[`+strings.Repeat("{},", maxKinds), 1)
	if _, err := Read(strings.NewReader(few)); err == nil || err.Error() != fmt.Sprintf("trace: line 1: kinds has %d: from 1 to %d", maxKinds+len(header.Kinds), maxKinds) {
		t.Errorf("a few kinds too many: %.300v", err)
	}
	w, err := NewWriter(io.Discard, &header)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Step(&model.Record{Effects: make([]model.Effect, maxObjects)}); err == nil {
		t.Error("a line that cannot be read back was written")
	}
}

func compress(t *testing.T, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll([]byte(text), nil)
}

// Text that a few compressed bytes unfold to fills nobody's memory.
func TestTextOutOfNothingIsRefused(t *testing.T) {
	header := someHeader()
	start := text(t, &Trace{Header: header})
	for name, line := range map[string]string{"samples": `{"at":1,"sample":{}}` + "\n", "one line": " ", "steps": `{"at":1,"input":"drain"}` + "\n"} {
		long := start + strings.Repeat(line, 2*mostUnasked/len(line))
		_, err := Read(bytes.NewReader(compress(t, long)))
		if err == nil || !strings.Contains(err.Error(), "no trace is more than 1000 times as large as when it is compressed") {
			t.Errorf("%s: %.300v", name, err)
		}
	}
	small := start + strings.Repeat(`{"at":1,"sample":{}}`+"\n", 100_000)
	if tr, err := Read(bytes.NewReader(compress(t, small))); err != nil || len(tr.Samples) != 100_000 {
		t.Errorf("a little text: %v", err)
	}
}

func TestDamagedCompressionIsSaid(t *testing.T) {
	header := someHeader()
	pressed := compress(t, text(t, &Trace{Header: header})+strings.Repeat(`{"at":1,"sample":{}}`+"\n", 100_000))
	pressed[len(pressed)-1] ^= 1 // of the checksum
	if _, err := Read(bytes.NewReader(pressed)); err == nil || !strings.Contains(err.Error(), "is in compressed text that is damaged") {
		t.Errorf("error %v", err)
	}
}

// Whatever can be read can be written and read again, and is then the same.
func FuzzRead(f *testing.F) {
	var out bytes.Buffer
	header := someHeader()
	w, err := NewWriter(&out, &header)
	if err != nil {
		f.Fatal(err)
	}
	w.Baseline(Baseline{})
	w.Step(&model.Record{Input: model.Input{Op: model.Arrive, Count: 1}, Effects: []model.Effect{{Op: model.Start, Task: model.Task{Stage: model.Synth}}}})
	w.Step(&model.Record{At: 5, Input: model.Input{Op: model.Done, Task: model.Task{Stage: model.Synth}}, Begin: 1, End: 4})
	w.Sample(Sample{At: 6, Memory: Memory{RSSBytes: 1}})
	w.End(End{Outcome: Finished, VRAMPeakBytes: []model.Bytes{3}})
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Add(bytes.Replace(out.Bytes(), []byte(`"at"`), []byte(`"then"`), 1))
	f.Add(out.Bytes()[:out.Len()-9])
	f.Add([]byte(`{"schema":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		second, err := Read(strings.NewReader(text(t, first)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, second, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(Trace{}, "Warnings")); diff != "" {
			t.Fatal(diff)
		}
	})
}

func BenchmarkStep(b *testing.B) {
	header := someHeader()
	w, err := NewWriter(io.Discard, &header)
	if err != nil {
		b.Fatal(err)
	}
	task := model.Task{Stage: model.Synth, Lane: 1, Slot: 4, Gen: 2}
	r := &model.Record{At: 1e9, Input: model.Input{Op: model.Done, Task: task}, Begin: 9e8, End: 9e8, Effects: []model.Effect{
		{Op: model.Accept, Job: 3, Partition: 2}, {Op: model.Start, Job: 3, Partition: 3, Task: task},
	}}
	b.ReportAllocs()
	for b.Loop() {
		w.Step(r)
	}
}
