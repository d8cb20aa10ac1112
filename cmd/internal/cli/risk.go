package cli

import (
	"context"

	"github.com/spf13/cobra"

	"headroom/cmd/internal/live"
	"headroom/cmd/internal/render"
	"headroom/scenarios"
	"headroom/sim"
)

// riskFlags are the flags of risk.
type riskFlags struct {
	question
	replications int
	bound        float64
}

// maxReplications keeps the time that risk and compare take within reason.
const maxReplications = 1_000_000

const riskLong = `risk runs many replications of a scenario, each with numbers drawn from the intervals of its
profile and with its own draws of work, and gives the probability of running out of memory with
its exact 95 % interval, and the quantiles of the peak.

The verdict is fits if the upper end of the interval is at most --bound, oom if the lower end is
at least one half, stall if a replication stalls, and else risk. The exit code is 3 on oom and
stall; risk, which is neither, exits with 0. Replication r of headroom risk --seed s is headroom
simulate --seed s --replication r.`

// risk returns the command that replicates a scenario.
func (a *app) risk() *cobra.Command {
	f := riskFlags{replications: 400, bound: sim.RiskBound}
	c := &cobra.Command{
		Use:   "risk SCENARIO",
		Short: "Give the probability of running out of memory, and the distribution of the peak",
		Long:  riskLong,
		Args:  exactly("SCENARIO"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.refused(a.runRisk(ctx, &f, args[0]), func(r render.Run) any { return render.Risk{Run: r} })
		}),
	}
	f.flags(c)
	whole(c, &f.replications, "replications", 1, maxReplications, "number of replications")
	probability(c, &f.bound, "bound", "largest probability of running out of memory that fits")
	return c
}

func (a *app) runRisk(ctx context.Context, f *riskFlags, name string) error {
	variants, err := f.variants(name)
	if err != nil {
		return err
	}
	list, err := a.assess(ctx, f, variants)
	if err != nil {
		return err
	}
	if len(list) > 1 {
		return a.show(render.NewRisks(list), func(t render.Text) { t.Risks(list) })
	}
	one := &list[0]
	out := one.Risk()
	out.Schema, out.Settings = render.Schema, nil
	if err := a.show(out, func(t render.Text) { t.Risk(one.Report, one.Warnings) }); err != nil {
		return err
	}
	return exitOn(one.Report.Verdict)
}

// assess replicates every variant.
func (a *app) assess(ctx context.Context, f *riskFlags, variants []scenarios.Variant) ([]render.Assessment, error) {
	return watched(ctx, a, "replicating", f.replications*len(variants), func(step func()) ([]render.Assessment, error) {
		list := make([]render.Assessment, len(variants))
		for i, v := range variants {
			p := live.Plan(v.Scenario)
			report, err := sim.AssessRisk(p, f.replications, f.bound, step)
			if err != nil {
				return nil, err
			}
			list[i] = render.Assessment{Settings: v.Settings, Report: report, Warnings: planWarnings(&p)}
		}
		return list, nil
	})
}
