package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/cmd/internal/render"
)

const scenario = `schema: 1
machine: {ram: 450MiB}
workload: {jobs: 6, kind: block}
config: {jobs_in_flight: 2, admission: {permits: 3}, channel: {capacity: 1}}
profile: spread.yaml
`

// inFolder makes a folder with the scenario drawn.yaml and its profile the working directory.
func inFolder(t *testing.T) {
	profile, err := os.ReadFile("../../headroom/testdata/scenarios/spread.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"spread.yaml": string(profile), "drawn.yaml": scenario} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// call runs a command and decodes the JSON that it prints.
func call(t *testing.T, result any, args ...string) {
	t.Helper()
	var out, problems bytes.Buffer
	code := Run(t.Context(), &out, &problems, append(args, "--json"))
	if problems.Len() > 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, &problems)
	}
	if err := json.Unmarshal(out.Bytes(), result); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

func TestErrorsTellTheTerminalNothing(t *testing.T) {
	for text, want := range map[string]string{
		"two\n\tlines, é and 鍵": "two\n\tlines, é and 鍵", "\x1b[2J\x07\x00": `\x1b[2J\a\x00`, "a\u200b\u202e\r": `a\u200b\u202e\r`,
	} {
		if got := printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}

// TestRiskIsItsReplications holds risk against the runs that it is made of, asked for one by one.
func TestRiskIsItsReplications(t *testing.T) {
	inFolder(t)
	const n = 25
	var risk render.Risk
	call(t, &risk, "risk", "drawn.yaml", "--seed", "3", "--replications", fmt.Sprint(n))
	ooms, sum := 0, 0.0
	var peaks []int64
	for r := 1; r <= n; r++ {
		one := []string{"simulate", "drawn.yaml", "--seed", "3", "--replication", fmt.Sprint(r)}
		var cut, whole struct {
			Verdict string `json:"verdict"`
			Peak    int64  `json:"host_peak_bytes"`
		}
		call(t, &cut, one...)
		call(t, &whole, append(one, "--ignore-limit")...)
		if cut.Verdict == "oom" {
			ooms++
		}
		if cut.Verdict != whole.Verdict {
			t.Errorf("replication %d: %s, and %s when the limit is ignored", r, cut.Verdict, whole.Verdict)
		}
		peaks = append(peaks, whole.Peak)
		sum += float64(whole.Peak)
	}
	slices.Sort(peaks)
	// Nearest rank: the k-th smallest of 25 with k = ceil(25 q).
	want := map[string]int64{"0.01": peaks[0], "0.05": peaks[1], "0.5": peaks[12], "0.95": peaks[23], "0.99": peaks[24]}
	if diff := cmp.Diff(want, risk.Quantiles); diff != "" {
		t.Errorf("quantiles (-one by one +risk):\n%s", diff)
	}
	if ooms == 0 || ooms == n || *risk.POOM != float64(ooms)/n {
		t.Errorf("p_oom is %v, and %d of %d runs were oom", *risk.POOM, ooms, n)
	}
	if mean := sum / n; float64(*risk.HostPeakBytes) < mean-1 || float64(*risk.HostPeakBytes) > mean+1 {
		t.Errorf("the mean peak is %d, want %.0f", *risk.HostPeakBytes, mean)
	}
}

// TestAnInterruptedCommandPrintsAndLeavesNothing ends the context before a command begins.
func TestAnInterruptedCommandPrintsAndLeavesNothing(t *testing.T) {
	inFolder(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{
		{"simulate", "drawn.yaml", "--trace", "t.jsonl"}, {"simulate", "drawn.yaml", "--set", "seed=1..3"},
		{"risk", "drawn.yaml"}, {"check", "t.jsonl"}, {"compare", "spread.yaml", "t.jsonl"},
		{"explain", "drawn.yaml"}, {"stalls", "drawn.yaml"}, {"diagnose", "t.jsonl"}, {"calibrate", "t.jsonl", "--out", "p.yaml"},
	} {
		var out, problems bytes.Buffer
		if code := Run(ctx, &out, &problems, args); code != Failure || problems.String() != "headroom: interrupted\n" || out.Len() > 0 {
			t.Errorf("%v: exit code %d, %q and %q", args, code, out.String(), problems.String())
		}
	}
	if files, _ := filepath.Glob("*jsonl*"); len(files) > 0 {
		t.Errorf("%v are left", files)
	}
}

// TestATraceFreesWhatItTakes adds up the bytes of all events.
func TestATraceFreesWhatItTakes(t *testing.T) {
	inFolder(t)
	for _, replication := range []string{"0", "7"} {
		var problems bytes.Buffer
		args := []string{"simulate", "drawn.yaml", "--ignore-limit", "--trace", "t.jsonl", "--replication", replication}
		Run(t.Context(), io.Discard, &problems, args)
		text, err := os.ReadFile("t.jsonl")
		if err != nil {
			t.Fatal(err, problems.String())
		}
		var taken, freed int64
		for line := range bytes.Lines(text) {
			var step struct {
				Effects []struct {
					Do    string `json:"do"`
					Bytes int64  `json:"bytes"`
				} `json:"effects"`
			}
			if err := json.Unmarshal(line, &step); err != nil {
				t.Fatal(err)
			}
			for _, e := range step.Effects {
				if e.Do == "free" {
					freed += e.Bytes
				} else {
					taken += e.Bytes
				}
			}
		}
		if taken != freed || taken == 0 {
			t.Errorf("replication %s takes %d bytes and frees %d", replication, taken, freed)
		}
	}
}

// full is a file on a full disk.
type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestAResultThatCannotBeWrittenIsAFailure lets no result be written, which must not pass for success.
func TestAResultThatCannotBeWrittenIsAFailure(t *testing.T) {
	inFolder(t)
	for _, args := range [][]string{
		{"simulate", "drawn.yaml"}, {"simulate", "drawn.yaml", "--csv"}, {"risk", "drawn.yaml", "--json", "--replications", "2"}, {"scenarios"},
	} {
		var problems bytes.Buffer
		if code := Run(t.Context(), full{}, &problems, args); code != Failure || !strings.Contains(problems.String(), errFull.Error()) {
			t.Errorf("%v: exit code %d and %q", args, code, problems.String())
		}
	}
}

// heard passes on what is written to it.
type heard chan string

func (h heard) Write(b []byte) (int, error) {
	h <- string(b)
	return len(b), nil
}

// TestABarShowsItsStepsAndIsRemoved waits until each bar has shown its steps, and until it is removed.
func TestABarShowsItsStepsAndIsRemoved(t *testing.T) {
	for n, want := range map[int]string{3: "(2/3)", uncounted: "waiting"} {
		shown := make(heard)
		p := newProgress(shown, "waiting", n, 0)
		p.step()
		p.step()
		all := ""
		for !strings.Contains(all, want) {
			all += <-shown
		}
		closed := make(chan struct{})
		go func() {
			p.close()
			close(closed)
		}()
		for open := true; open; {
			select {
			case all = <-shown:
			case <-closed:
				open = false
			}
		}
		if strings.Trim(all, "\r \x1b[K2") != "" {
			t.Errorf("%d steps: %q is left", n, all)
		}
	}
	newProgress(full{}, "never seen", 1, patience).close()
}
