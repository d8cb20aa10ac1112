package record_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"headroom/backend/confine"
	"headroom/backend/record"
	"headroom/model"
	"headroom/model/check"
	"headroom/model/trace"
)

// childArgument makes the test binary a child of itself.
const childArgument = "record-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArgument {
		if err := record.Child(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// smallSpec is one that runs in a second or two.
func smallSpec(t *testing.T) record.Spec {
	config := model.DefaultConfig(1)
	config.JobsInFlight = 2
	config.Admission.Permits = 2
	return record.Spec{
		Config:   config,
		Workload: model.Workload{Shares: []model.Share{{Kind: "small", Jobs: 2}}, Arrival: model.Arrival{Pattern: model.Closed}},
		Seed:     1,
		Kinds: []record.Kind{{
			Name: "small", Partitions: 2,
			Circuit: model.Circuit{Family: "mimc", Log2Constraints: 10, Data: model.MiB, Leaf: 4 * model.KiB},
		}},
		Device: record.CPU, KeyDir: t.TempDir(), SampleEvery: 20 * model.Millisecond, Tool: "test",
	}
}

func options(t *testing.T) record.Options {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return record.Options{Command: []string{self, childArgument}, Log: os.Stderr}
}

func TestRunProvesVerifiesAndRecords(t *testing.T) {
	spec := smallSpec(t)
	o, err := record.Run(context.Background(), spec, options(t))
	if err != nil {
		t.Fatal(err)
	}
	if o.Trace.End.JobsDone != 2 || o.Trace.End.ProofsVerified != 4 {
		t.Errorf("end is %+v, want 2 jobs of 2 verified partitions", o.Trace.End)
	}
	if o.Trace.Baseline == nil || o.Peak() < o.Trace.Baseline.RSSBytes {
		t.Errorf("peak %s below baseline %+v", o.Peak(), o.Trace.Baseline)
	}
	if at, first := o.Trace.Baseline.At, o.Trace.Records[0].At; at > first {
		t.Errorf("the baseline was read after %d ns, and the first job came after %d: it may hold what that takes", at, first)
	}
	for _, f := range check.Run(check.Of(o.Trace)) {
		t.Errorf("checker: %+v", f)
	}
}

// slowProfile makes each run take hours.
const slowProfile = `
schema: 1
name: slow
baseline: 1MiB
kinds:
  small:
    partitions: 2
    work: {synth: {law: constant, mean: 10h}, kernel: {law: constant, mean: 10h}}
    footprint: {vectors: 1MiB, assignment: 1MiB}
`

func TestARunWhoseTraceCannotBeWrittenIsEndedAndNotWaitedFor(t *testing.T) {
	spec := smallSpec(t)
	spec.Device, spec.Kinds, spec.Profile = record.Virtual, nil, []byte(slowProfile)
	o := options(t)
	o.Trace = filepath.Join(t.TempDir(), "missing", "trace.jsonl")
	if _, err := record.Run(context.Background(), spec, o); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error is %v, want one that says that the directory is missing", err)
	}
}

func TestAnInterruptedRunLeavesATraceThatSaysSo(t *testing.T) {
	spec := smallSpec(t)
	spec.Device, spec.Kinds = record.Virtual, nil
	spec.Profile = []byte(strings.ReplaceAll(slowProfile, "10h", "1ms"))
	spec.Workload.Shares[0].Jobs = 1_000_000
	ctx, interrupt := context.WithCancelCause(context.Background())
	interrupted := errors.New("somebody changed their mind")
	o := options(t)
	o.Trace = filepath.Join(t.TempDir(), "trace.jsonl")
	o.Progress = func(int) { interrupt(interrupted) }
	if _, err := record.Run(ctx, spec, o); !errors.Is(err, interrupted) {
		t.Errorf("error is %v, want %v", err, interrupted)
	}
	left, err := trace.ReadFile(o.Trace)
	if err != nil {
		t.Fatal(err)
	}
	if left.End == nil || left.End.Outcome != trace.Cancelled || left.End.JobsDone == 0 {
		t.Errorf("the trace ends with %+v, want one that was cancelled after a job", left.End)
	}
}

func TestALimitInWhichTheProverCannotStart(t *testing.T) {
	spec := smallSpec(t)
	spec.Device, spec.Kinds, spec.Profile = record.Virtual, nil, []byte(slowProfile)
	o := options(t)
	o.Limit, o.Mechanism = model.MiB, confine.Cgroup
	_, err := record.Run(context.Background(), spec, o)
	if errors.Is(err, confine.ErrUnavailable) {
		t.Skipf("NOT TESTED: %v. To run it, where a cgroup can be written to, as root: "+
			"go test -run TestALimitInWhichTheProverCannotStart ./backend/record", err)
	}
	if !errors.Is(err, record.ErrNoRoom) {
		t.Errorf("error is %v, want %v", err, record.ErrNoRoom)
	}
}
