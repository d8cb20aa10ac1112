package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/backend"
	"headroom/backend/confine"
	"headroom/model"
	"headroom/model/trace"
)

func TestAShortfallSaysWhatWasNotDone(t *testing.T) {
	for _, c := range []struct {
		summary backend.Summary
		want    string
	}{
		{backend.Summary{JobsDone: 3}, ""},
		{backend.Summary{JobsFailed: 2, Failures: []error{errors.New("no proof"), errors.New("another")}},
			"record: 2 of 2 jobs failed, the first because of this: no proof"},
		{backend.Summary{JobsDone: 1, Stalled: true}, "record: jobs are left after 1, and nothing can proceed"},
	} {
		got := ""
		if err := shortfall(&c.summary); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: got %q, want %q", c.summary, got, c.want)
		}
	}
}

// From the first moment on the file of a trace is one, so that it is even if this process is killed.
func TestTheFileOfATraceIsOneFromTheFirstMomentOn(t *testing.T) {
	spec := Spec{
		Config: model.DefaultConfig(1), Device: CPU,
		Workload: model.Workload{Shares: []model.Share{{Kind: "a", Jobs: 1}}, Arrival: model.Arrival{Pattern: model.Closed}},
		Kinds:    []Kind{{Name: "a", Partitions: 1, Circuit: model.Circuit{Family: "mimc", Log2Constraints: 10, Data: model.MiB, Leaf: 4 * model.KiB}}},
	}
	kinds, err := spec.shapes()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trace.jsonl", "trace.jsonl.zst"} {
		path := filepath.Join(t.TempDir(), name)
		stdout, child := io.Pipe()
		c := childProcess{options: &Options{Trace: path}, process: new(confine.Child), stdout: stdout}
		read := make(chan error)
		go func() {
			_, err := c.read()
			read <- err
		}()
		w, err := trace.NewWriter(child, spec.header(kinds))
		if err != nil {
			t.Fatal(err)
		}
		w.Flush()
		fmt.Fprint(child, `{"at`) // which is taken when the header has been dealt with
		if got, err := trace.ReadFile(path); err != nil || len(got.Header.Kinds) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		child.Close()
		if err := <-read; err != nil {
			t.Error(err)
		}
	}
}

func TestTheEndOfAKilledRunCountsFromItsFirstArrival(t *testing.T) {
	done := []model.Effect{{Op: model.JobDone}}
	killed := &trace.Trace{Records: []model.Record{
		{At: 5, Input: model.Input{Op: model.Arrive, Count: 3}},
		{At: 30, Input: model.Input{Op: model.Done}, Effects: done},
		{At: 47, Input: model.Input{Op: model.Done}, Effects: done},
		{At: 50, Input: model.Input{Op: model.Done}},
	}}
	want := trace.End{Outcome: trace.Killed, JobsDone: 2, MakespanNs: 42}
	if diff := cmp.Diff(want, *endOf(killed, trace.Killed)); diff != "" {
		t.Error(diff)
	}
}

func TestASpecThatCannotRunIsRefused(t *testing.T) {
	err := Child(t.Context(), strings.NewReader("{}"), nil)
	for _, want := range []string{`device is "": one of cpu, cuda, virtual`, "the time between samples is 0s: at least 1ms"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// TestTheLogOfAChildIsPartedIntoLines cuts the same text anywhere.
func TestTheLogOfAChildIsPartedIntoLines(t *testing.T) {
	const text = "time=1 msg=a\npanic: b\ntime=2 msg=c\n\tat d"
	rapid.Check(t, func(t *rapid.T) {
		var passed bytes.Buffer
		l := childLog{to: &passed}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
			if _, err := l.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if passed.String() != "time=1 msg=a\ntime=2 msg=c\n" || l.words() != ": panic: b\n\tat d" {
			t.Errorf("passed on %q and kept %q", &passed, l.words())
		}
	})
}

func TestOnlyTheBeginningOfWhatAChildSaysIsKept(t *testing.T) {
	var l childLog
	for _, part := range []string{"panic", strings.Repeat("x", 3*mostKept), "\nend\n"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if words := l.words(); len(words) > mostKept+2 || !strings.HasPrefix(words, ": panicx") {
		t.Errorf("kept %d bytes: %.20s", len(words), words)
	}
}
