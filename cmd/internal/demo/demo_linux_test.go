package demo_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/backend/probe"
	"headroom/backend/record"
	"headroom/cmd/internal/demo"
	"headroom/cmd/internal/live"
	"headroom/model"
	"headroom/model/check"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/sim"
)

// TestMain lets the test's own program be the prover.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == live.ChildCommand {
		if err := record.Child(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func here() (model.Machine, error) {
	host, err := probe.Live.Host(context.Background(), os.Getpid())
	if err != nil {
		return model.Machine{}, err
	}
	return host.Describe()
}

// small is a scenario whose jobs take a fraction of a second and whose partitions stand clear of the baseline.
const small = `
schema: 1
machine: here
config:
  jobs_in_flight: 4
  admission: {permits: 2, release: after_send}
  channel: {capacity: 1}
  gpu: {devices: 1, workers_per_device: 1}
workload: {jobs: 6, kind: small}
kinds:
  small: {circuit: mimc, log2_constraints: 10, partitions: 4, data: 8MiB, leaf: 64KiB}
`

// The whole loop: what is predicted is predicted before it is run, every figure is there, every trace that is kept passes
// the checkers, and the limit kills the unsafe configuration and not the safe one.
func TestDemo(t *testing.T) {
	dir := t.TempDir()
	var steps []string
	report, err := demo.Run(t.Context(), demo.Options{
		Here: here, KeyDir: t.TempDir(), Keep: dir, Scenario: []byte(small), Tool: "test",
		Step: func(i, n int, what string) {
			what, _, _ = strings.Cut(what, ":")
			if what, _, _ = strings.Cut(what, ","); !slices.Contains(steps, what) {
				steps = append(steps, what)
			}
			if i < 1 || i > n {
				t.Errorf("step %d of %d", i, n)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"recording", "calibrating", "running what was predicted", "confining to"}
	for i := range steps {
		steps[i] = steps[i][:min(len(steps[i]), len(want[min(i, len(want)-1)]))]
	}
	if diff := cmp.Diff(want, slices.Compact(steps)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	for i := range report.Configs {
		c := &report.Configs[i]
		if c.Unseen != (i >= 3) {
			t.Errorf("%s is said to be unseen: %v", c.Name, c.Unseen)
		}
		if !(c.Peak.Low <= c.Peak.Median && c.Peak.Median <= c.Peak.High && c.Peak.Low > float64(c.Measured.Baseline)) {
			t.Errorf("%s: the predicted peak is %+v, and the baseline %s", c.Name, c.Peak, c.Measured.Baseline)
		}
		if !(c.Seconds.Low <= c.Seconds.Median && c.Seconds.Median <= c.Seconds.High && c.Seconds.Low > 0) {
			t.Errorf("%s: the predicted seconds per job are %+v", c.Name, c.Seconds)
		}
		if c.Measured.Peak <= c.Measured.Baseline || c.Measured.Baseline < model.MiB || c.Measured.SecondsPerJob <= 0 {
			t.Errorf("%s: measured were %+v", c.Name, c.Measured)
		}
	}
	var verdicts []string
	for _, c := range report.Confined {
		verdicts = append(verdicts, fmt.Sprintf("%s: %s, %s", c.Name, c.Verdict, c.Outcome))
	}
	if diff := cmp.Diff([]string{
		fmt.Sprintf("three workers: %s, %s", sim.Fits, trace.Finished),
		fmt.Sprintf("five workers, early release: %s, %s", sim.OOM, trace.Killed),
	}, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if report.Noise.First == report.Noise.Second {
		t.Errorf("two runs of one configuration came to the same: %+v", report.Noise.First)
	}
	proofs := keptTraces(t, dir, 14)
	if proofs != report.ProofsVerified {
		t.Errorf("the traces tell of %d verified proofs, the report of %d", proofs, report.ProofsVerified)
	}
	text, err := os.ReadFile(filepath.Join(dir, "demo-profile.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := profile.Read(text, "demo-profile.yaml"); err != nil || kept.Hash() != report.Profile.Hash() {
		t.Errorf("the profile that was kept is not the one that predicted: %v", err)
	}
}

// keptTraces checks the traces in a folder, of which there must be so many, and returns the proofs that they tell of.
func keptTraces(t *testing.T, dir string, want int) (proofs int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl.zst"))
	if err != nil || len(names) != want {
		t.Fatalf("%d traces were kept (%v): want %d", len(names), err, want)
	}
	for _, name := range names {
		read, err := trace.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := check.Err(check.Run(check.Of(read))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		proofs += read.End.ProofsVerified
	}
	return proofs
}
