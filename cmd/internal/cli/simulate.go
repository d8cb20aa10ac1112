package cli

import (
	"context"
	"errors"
	"math"

	"github.com/spf13/cobra"

	"headroom/cmd/internal/live"
	"headroom/cmd/internal/render"
	"headroom/model"
	"headroom/scenarios"
	"headroom/sim"
)

// simulateFlags are the flags of simulate.
type simulateFlags struct {
	question
	replication uint32
	ignoreLimit bool
	csv         bool
	trace       string
}

const simulateLong = `simulate runs a scenario, an embedded one or a file, once in virtual time and says whether
it fits into memory, what holds the peak, how fast it is, and which station is the bottleneck.

A run that passes the memory limit stops there; --ignore-limit lets it run on. Replication 0
uses the profile's numbers as they are, replication r those that replication r of headroom risk
draws.

With --set a setting can be a range (=4..20) or a list (=1,2,4): the result is then a table
with a line for every combination. Without one the exit code is 3 on oom and stall, and 2 on
refuse.`

// simulate returns the command that runs a scenario once, or once for every combination of settings.
func (a *app) simulate() *cobra.Command {
	var f simulateFlags
	c := &cobra.Command{
		Use:   "simulate SCENARIO",
		Short: "Say whether a configuration fits into memory, how fast it is, and why",
		Long:  simulateLong,
		Args:  exactly("SCENARIO"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.refused(a.runSimulate(ctx, &f, args[0]), func(r render.Run) any { return r })
		}),
	}
	f.flags(c)
	whole(c, &f.replication, "replication", 0, math.MaxUint32, "which replication to run")
	c.Flags().BoolVar(&f.ignoreLimit, "ignore-limit", false, "run on after the memory limit is passed")
	c.Flags().BoolVar(&f.csv, "csv", false, "print the result as CSV")
	words(c, &f.trace, "trace", "", "write the run's trace to `FILE`; .zst compresses")
	return c
}

func (a *app) runSimulate(ctx context.Context, f *simulateFlags, name string) error {
	if f.csv && a.json {
		return refuse(errors.New("--csv and --json: one of them"))
	}
	variants, err := f.variants(name)
	if err != nil {
		return err
	}
	if len(variants) == 1 {
		return a.simulateOne(ctx, f, &variants[0])
	}
	if f.trace != "" {
		return refuse(errors.New("--trace: of a single run, and the settings give several"))
	}
	list, err := a.simulateAll(ctx, f, variants)
	if err != nil {
		return err
	}
	if f.csv {
		return a.print(func(t render.Text) error { return render.CSV(t.W, list) })
	}
	return a.show(render.NewRuns(list), func(t render.Text) { t.Runs(list) })
}

// plan returns the plan of a variant as the flags have it.
func (f *simulateFlags) plan(s *scenarios.Scenario) sim.Plan {
	p := live.Plan(s)
	p.Replication, p.IgnoreLimit = f.replication, f.ignoreLimit
	return p
}

// simulateOne runs a single plan and prints all there is to say of it.
func (a *app) simulateOne(ctx context.Context, f *simulateFlags, v *scenarios.Variant) error {
	p := f.plan(v.Scenario)
	result, err := a.runTraced(ctx, &p, f.trace)
	if err != nil {
		return err
	}
	doubts, err := a.quickReplications(ctx, &p, result)
	if err != nil {
		return err
	}
	warnings := append(planWarnings(&p), doubts...)
	if f.csv {
		one := []render.Variant{{Settings: v.Settings, Result: result, Warnings: warnings}}
		err = a.print(func(t render.Text) error { return render.CSV(t.W, one) })
	} else {
		out := render.NewRun(result, warnings)
		out.Schema = render.Schema
		err = a.show(out, func(t render.Text) { t.Run(result, warnings) })
	}
	if err != nil {
		return err
	}
	return exitOn(result.Verdict)
}

// runTraced runs a plan, writes its trace if a path is given, and shows how many jobs are over.
func (a *app) runTraced(ctx context.Context, p *sim.Plan, path string) (*sim.Result, error) {
	bar := a.progress("simulating", p.Workload.Jobs())
	defer bar.close()
	if err := refuseTrace(path); err != nil {
		return nil, err
	}
	var file *traceFile
	if path != "" {
		var err error
		if file, err = createTrace(path, traceHeader(p)); err != nil {
			return nil, err
		}
		defer file.discard()
	}
	result, err := await(ctx, func() (*sim.Result, error) { return sim.Run(*p, recorder(bar, file)) })
	if err != nil || file == nil {
		return result, err
	}
	return result, file.finish(traceEnd(p, result))
}

// recorder returns what a run hands its steps to, or nil if nobody wants them.
func recorder(bar *progress, file *traceFile) func(*model.Record) {
	if bar == nil && file == nil {
		return nil
	}
	return func(r *model.Record) {
		if file != nil {
			file.step(r)
		}
		for i := range r.Effects {
			if op := r.Effects[i].Op; op == model.JobDone || op == model.JobFailed {
				bar.step()
			}
		}
	}
}

// simulateAll runs every variant.
func (a *app) simulateAll(
	ctx context.Context, f *simulateFlags, variants []scenarios.Variant,
) ([]render.Variant, error) {
	return watched(ctx, a, "simulating", len(variants), func(step func()) ([]render.Variant, error) {
		list := make([]render.Variant, len(variants))
		for i, v := range variants {
			p := f.plan(v.Scenario)
			result, err := sim.Run(p, nil)
			if err != nil {
				return nil, err
			}
			list[i] = render.Variant{Settings: v.Settings, Result: result, Warnings: planWarnings(&p)}
			step()
		}
		return list, nil
	})
}

// exitOn ends a command as the verdict on its only plan says.
func exitOn(v sim.Verdict) error {
	switch v {
	case sim.OOM, sim.Stall:
		return &ExitError{Code: Broken}
	case sim.Refuse:
		return &ExitError{Code: Usage}
	}
	return nil
}
