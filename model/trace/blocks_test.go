package trace

import (
	"strings"
	"testing"

	"headroom/model"
)

func blocksHeader() *Header {
	h := someHeader()
	h.Blocks = map[string]model.Blocks{
		"small": {Parse: 10, Vectors: 300, Assignment: 40, Call: 5}, "large": {Vectors: 3000, Assignment: 400},
	}
	h.Config.Resident = []model.Resident{{Name: "circuit", Bytes: 1, OnDemand: true}, {Name: "keys", Bytes: 7000, Transient: 80, OnDemand: true}}
	return &h
}

func TestAnEffectSaysWhatItTakesOrFrees(t *testing.T) {
	free := func(b model.Block) model.Task { return model.Task{Block: b} }
	synth := model.Task{Stage: model.Synth}
	for _, c := range []struct {
		effect model.Effect
		want   string // after the proofs and the task
	}{
		{model.Effect{Op: model.JobStart}, `"bytes":10}`},
		{model.Effect{Op: model.JobStart, Kind: 1}, `"job_start","kind":1}`}, // it has no parse buffer
		{model.Effect{Op: model.Start, Task: synth}, `"bytes":340}`},
		{model.Effect{Op: model.Start, Task: synth, Kind: 1}, `"bytes":3400}`},
		{model.Effect{Op: model.Start, Task: synth, Reused: true}, `"bytes":40,"reused":true}`},
		{model.Effect{Op: model.Start, Task: synth, Proofs: 3}, `"bytes":1020}`},
		{model.Effect{Op: model.Start, Task: model.Task{Stage: model.Kernel}}, `"stage":"kernel"}`},
		{model.Effect{Op: model.Take}, `"bytes":5}`},
		{model.Effect{Op: model.Freed, Task: free(model.ParseBuffer)}, `"bytes":10}`},
		{model.Effect{Op: model.Freed, Task: free(model.Vectors)}, `"bytes":300}`},
		{model.Effect{Op: model.Freed, Task: free(model.Assignment)}, `"bytes":40}`},
		{model.Effect{Op: model.Freed, Task: free(model.Assignment), Call: true}, `"bytes":45}`},
		{model.Effect{Op: model.Pooled, Task: free(model.Vectors)}, `"block":"vectors"}`},
		{model.Effect{Op: model.Start, Task: model.Task{Stage: model.Load, Slot: 1}}, `"bytes":7080}`},
		{model.Effect{Op: model.Loaded, Task: model.Task{Slot: 1}}, `"bytes":80}`},
		{model.Effect{Op: model.Evict, Task: model.Task{Slot: 1}}, `"bytes":7000}`},
		{model.Effect{Op: model.Evict, Task: model.Task{Slot: 2}}, `"slot":2}`}, // the header has no such data
	} {
		if c.effect.Proofs == 0 && usualProofs(c.effect.Op, c.effect.Task.Stage) == 1 {
			c.effect.Proofs = 1
		}
		tr := &Trace{Header: *blocksHeader(), Records: []model.Record{{Input: model.Input{Op: model.Drain}, Effects: []model.Effect{c.effect}}}}
		line := text(t, tr)
		if !strings.Contains(line, c.want+"]") {
			t.Errorf("%+v is written as %s, want ... %s", c.effect, line[strings.Index(line, "\n")+1:], c.want)
		}
		if _, err := Read(strings.NewReader(line)); err != nil {
			t.Errorf("%+v: %v", c.effect, err)
		}
	}
}

func TestBytesAgreeWithTheHeader(t *testing.T) {
	header := strings.TrimSpace(text(t, &Trace{Header: *blocksHeader()}))
	for _, c := range []struct{ text, want string }{
		{strings.Replace(header, `"vectors":"300B"`, `"vectors":"2000TiB"`, 1), "blocks.small.vectors is 2000TiB"},
		{strings.Replace(header, `"vectors":"300B"`, `"vectors":"300Mb"`, 1), "line 1: "},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	const line, end = `{"at":1,"input":"drain","effects":[{"do":"take"`, "}]}\n"
	for _, c := range []struct{ lines, want string }{
		{line + `,"bytes":6` + end + line + `,"bytes":7` + end, "trace: line 2 says bytes 6 of take: by the header it is 5"},
		{line + end + line + `,"bytes":5` + end, ""}, // the first is of a writer that says nothing of bytes
	} {
		tr, err := Read(strings.NewReader(header + "\n" + c.lines + `{"end":{"outcome":"finished","jobs_done":0}}`))
		if err != nil || strings.Join(tr.Warnings, ";") != c.want {
			t.Errorf("warnings %v, %v; want %q", tr, err, c.want)
		}
	}
}
