package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"headroom/backend/confine"
	"headroom/backend/device/cuda"
	"headroom/backend/record"
	"headroom/cmd/internal/live"
	"headroom/cmd/internal/output"
	"headroom/cmd/internal/render"
	"headroom/model"
	"headroom/scenarios"
	"headroom/sim"
)

// recordFlags are the flags of record.
type recordFlags struct {
	question
	liveFlags
	out, profile string
	force        bool
}

// liveFlags are the flags of commands that run the live prover.
type liveFlags struct {
	device, keys, confine, mechanism string
	library, cudaMemory              string
	sample                           time.Duration
}

const recordLong = `record runs a scenario's configuration and workload on the live prover, in a child process,
and writes its trace: every step of the pipeline, samples of its memory, and the kernel's
high-water mark. Every proof is verified.

A scenario whose machine has more memory than this host grants is refused with exit code 2.
Given a profile, record predicts first and refuses with exit code 3 what is predicted to run
out of memory, and with 2 what is over a limit before the first job; --force runs it all
the same, and the trace says so. --confine SIZE gives the child that much memory and no more:
by a cgroup where one can be made, else by systemd-run, else by a watchdog. A child that this
limit killed, or one of the machine, is exit code 3 too; its trace is kept.

The keys are for tests: they are made on this machine at the first use and cached.`

// record returns the command that runs a scenario on the live prover.
func (a *app) record() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record SCENARIO --out TRACE",
		Short: "Run a configuration on the live prover and write its trace",
		Long:  recordLong,
		Args:  exactly("SCENARIO"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.runRecord(ctx, &f, args[0])
		}),
	}
	f.question.flags(c)
	f.liveFlags.flags(c)
	words(c, &f.out, "out", "o", "write the trace to `FILE`; .zst compresses")
	words(c, &f.profile, "profile", "", "predict with this profile, `NAME` or file, instead of the scenario's")
	c.Flags().BoolVar(&f.force, "force", false, "run what is refused for want of memory")
	return c
}

func (l *liveFlags) flags(c *cobra.Command) {
	l.device = record.CPU
	words(c, &l.device, "device", "", "what proves: cpu, cuda, or virtual, which waits as the profile says")
	words(c, &l.library, "cuda-library", "", "load the kernels for cuda from `FILE` (default $"+cuda.Environment+", else beside the program)")
	words(c, &l.cudaMemory, "cuda-memory", "", "take this much memory of each card and no more, such as `2GiB` (default $"+cudaMemory+")")
	words(c, &l.keys, "keys", "", "cache keys and data in `DIR` (default in the user's cache directory)")
	words(c, &l.confine, "confine", "", "give the prover this much memory, such as `2GiB`")
	words(c, &l.mechanism, "mechanism", "", "confine by this alone: cgroup, systemd-run or watchdog")
	l.sample = 50 * time.Millisecond
	span(c, &l.sample, "sample", time.Millisecond, time.Minute, "time between two readings of memory")
}

// request returns the run of a scenario that the flags ask for.
func (l *liveFlags) request(a *app, s *scenarios.Scenario) (*live.Request, error) {
	r := &live.Request{
		Scenario: s, Device: l.device, Mechanism: confine.Mechanism(l.mechanism),
		SampleEvery: model.Span(l.sample), Tool: Version(), Log: a.childLog(), Library: l.library,
	}
	faults := []error{knownMechanism(r.Mechanism)}
	if !slices.Contains(record.Devices, l.device) {
		faults = append(faults, fmt.Errorf("--device %s: it must be one of %s", l.device, strings.Join(record.Devices, ", ")))
	}
	for _, only := range []struct{ flag, given string }{{"--cuda-library", l.library}, {"--cuda-memory", l.cudaMemory}} {
		if only.given != "" && l.device != record.CUDA {
			faults = append(faults, fmt.Errorf("%s: of the device %s alone, and --device is %s", only.flag, record.CUDA, l.device))
		}
	}
	if l.mechanism != "" && l.confine == "" {
		faults = append(faults, errors.New("--mechanism: there is nothing to confine without --confine"))
	}
	var err error
	if r.Limit, err = l.limit(); err != nil {
		faults = append(faults, fmt.Errorf("--confine: %w", err))
	}
	if r.Cap, err = l.cap(); err != nil {
		faults = append(faults, fmt.Errorf("--cuda-memory: %w", err))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, refuse(err)
	}
	r.KeyDir, err = keyDir(l.keys)
	return r, err
}

// limit returns the limit of memory that the flags ask for; 0 is none.
func (l *liveFlags) limit() (model.Bytes, error) {
	if l.confine == "" {
		return 0, nil
	}
	limit, err := model.ParseBytes(l.confine)
	if err == nil && (limit < model.MiB || limit > maxConfine) {
		err = fmt.Errorf("%s: from 1MiB, below which no prover starts, to %s", limit, maxConfine)
	}
	return limit, err
}

// cudaMemory names the variable with the memory that may be taken of each card where --cuda-memory is silent.
const cudaMemory = "HEADROOM_CUDA_MEMORY"

// cap returns how much may be taken of a card's memory; 0 is all of it.
func (l *liveFlags) cap() (model.Bytes, error) {
	if l.device != record.CUDA {
		return 0, nil
	}
	given := cmp.Or(l.cudaMemory, os.Getenv(cudaMemory))
	if given == "" {
		return 0, nil
	}
	limit, err := model.ParseBytes(given)
	if err == nil && limit <= 0 {
		err = fmt.Errorf("%s: it must be more than nothing", limit)
	}
	return limit, err
}

// keyDir returns the folder for keys and data that --keys names, or else the user's own, made if need be.
func keyDir(named string) (string, error) {
	if named != "" {
		return named, makeFolder("--keys", named)
	}
	dir, err := live.KeyDir()
	if err != nil {
		return "", fmt.Errorf("%w; name another with --keys", err)
	}
	return dir, nil
}

// makeFolder makes the folder that a flag names.
func makeFolder(flag, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return refuse(fmt.Errorf("%s: %w", flag, err))
	}
	return nil
}

// maxConfine is more memory than any machine has, and the largest limit that a trace can tell of.
const maxConfine = 1024 * model.TiB

// knownMechanism refuses a mechanism that there is not; none is whichever works.
func knownMechanism(m confine.Mechanism) error {
	switch m {
	case confine.Auto, confine.Cgroup, confine.SystemdRun, confine.Watchdog:
		return nil
	}
	return fmt.Errorf("--mechanism %s: it must be %s, %s or %s", m, confine.Cgroup, confine.SystemdRun, confine.Watchdog)
}

func (a *app) runRecord(ctx context.Context, f *recordFlags, name string) error {
	if f.out == "" {
		return refuse(errors.New("--out: where is the trace to go?"))
	}
	if err := output.Trace(f.out); err != nil {
		return refuse(fmt.Errorf("--out: %w", err))
	}
	if f.profile != "" {
		f.settings = append(f.settings, "profile="+f.profile)
	}
	variants, err := f.expand(name)
	if err != nil {
		return refuse(err)
	}
	if len(variants) != 1 {
		return refuse(fmt.Errorf("--set: %d runs: record does one", len(variants)))
	}
	s := variants[0].Scenario
	request, err := f.request(a, s)
	if err != nil {
		return err
	}
	if err := request.Validate(); err != nil {
		return refuse(err)
	}
	if err := a.granted(ctx, request, f.force); err != nil {
		return err
	}
	prediction, err := a.predictRun(ctx, request)
	if err != nil {
		return err
	}
	var warnings []string
	if prediction != nil {
		plan := request.Plan()
		warnings = planWarnings(&plan)
	}
	if prediction != nil && prediction.Verdict.Over() {
		if !f.force {
			return a.refuseRun(prediction, warnings)
		}
		request.Forced = true
	}
	request.Trace = f.out
	return a.prove(ctx, request, prediction, warnings)
}

// refuseRun ends a command because its run is predicted to run out of memory, or to have too little of it to begin
// with, which is in the JSON too.
func (a *app) refuseRun(prediction *sim.RiskReport, warnings []string) error {
	if a.json {
		if err := a.show(render.RefusedRecording(prediction, warnings), nil); err != nil {
			return err
		}
	}
	if prediction.Verdict == sim.Refuse {
		return refuse(fmt.Errorf("refused: %s; --force runs it all the same", prediction.Reason))
	}
	q, limit := prediction.PeakQuantiles, prediction.Limit
	return &ExitError{Code: Broken, Err: fmt.Errorf("refused: this configuration is predicted to run out of memory: it passes "+
		"%s of %s, and host memory peaks at %s (%s to %s): %s; headroom explain says what lowers a peak, and --force runs it all the same",
		limit.Name, limit.Bytes.Short(), q[2].Short(), q[1].Short(), q[3].Short(), prediction.Reason)}
}

// granted refuses a run whose scenario counts on more than this host grants, unless it is forced.
func (a *app) granted(ctx context.Context, r *live.Request, force bool) error {
	shortfalls, err := r.Shortfalls(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for _, s := range shortfalls {
		faults = append(faults, fmt.Errorf("refused: %s; --force runs it all the same", s))
	}
	if len(faults) == 0 || !force {
		return refuse(errors.Join(faults...))
	}
	r.Forced = true
	return nil
}

// predictRun predicts a live run; the prediction is nil if there is no profile to predict with.
func (a *app) predictRun(ctx context.Context, r *live.Request) (*sim.RiskReport, error) {
	return watched(ctx, a, "predicting", live.Replications, r.Predict)
}

// prove does a live run and prints what it came to.
func (a *app) prove(ctx context.Context, request *live.Request, prediction *sim.RiskReport, warnings []string) error {
	outcome, err := a.launch(ctx, request)
	if errors.Is(err, record.ErrNoRoom) || errors.Is(err, record.ErrStarved) {
		return &ExitError{Code: Broken, Err: err}
	}
	if err != nil {
		return err
	}
	result := render.NewRecording(outcome, prediction, request.Trace, warnings)
	if err := a.show(result, func(t render.Text) { t.Recording(&result) }); err != nil {
		return err
	}
	switch {
	case outcome.Killed:
		return &ExitError{Code: Broken}
	case outcome.Starved:
		return &ExitError{Code: Broken, Err: record.ErrStarved}
	case !outcome.Finished:
		return fmt.Errorf("the prover was ended by %s", outcome.Signal)
	case outcome.Trace.End.Error != "":
		return errors.New(outcome.Trace.End.Error)
	}
	return nil
}

// launch does a live run and shows how many jobs are over.
func (a *app) launch(ctx context.Context, request *live.Request) (*record.Outcome, error) {
	bar := a.progress("proving", request.Scenario.Workload.Jobs())
	defer bar.close()
	request.Progress = func(int) { bar.step() }
	return live.Run(ctx, request)
}

// child returns the hidden command whose process is the prover.
func (a *app) child() *cobra.Command {
	return &cobra.Command{
		Use:    live.ChildCommand,
		Hidden: true,
		Args:   exactly(),
		RunE: a.entry(func(ctx context.Context, _ []string) error {
			slog.SetDefault(slog.New(slog.NewTextHandler(a.stderr, nil)))
			if err := record.Child(ctx, os.Stdin, a.stdout); err != nil {
				fmt.Fprintln(a.stderr, err) // for the parent, which says it again as its own
				return &ExitError{Code: Failure}
			}
			return nil
		}),
	}
}
