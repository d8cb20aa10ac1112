package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"headroom/cmd/internal/live"
	"headroom/cmd/internal/render"
	"headroom/scenarios"
	"headroom/sim"
	"headroom/sim/explain"
)

// explainFlags are the flags of explain.
type explainFlags struct {
	question
	replications int
	groups       []string
}

const explainLong = `explain says why a peak is what it is. Of one scenario it gives who holds the peak, how many
partitions can hold vectors at once and why, how busy the stations are, and which single knobs
lower the peak at what cost in speed. The exit code is that of simulate.

Of two scenarios, A and B, or of one with a setting of two values, it divides the difference in
peak and in seconds per job (B minus A) among the knobs in which they differ: each knob's share
is the mean of what turning it changes, over all orders in which the knobs can be turned
(Shapley). The shares add up exactly. More than 8 knobs are refused; those of a --group move
together, and so do knobs of which one makes no sense without the other. Means are over
replications 1 to n of one seed, with the memory limit ignored. --set is for both scenarios. A
comparison is no verdict and exits with 0.`

// explain returns the command that says why a peak is what it is.
func (a *app) explain() *cobra.Command {
	f := explainFlags{replications: 20}
	c := &cobra.Command{
		Use:   "explain A [B]",
		Short: "Say what holds the peak, and which knobs cause the difference between two scenarios",
		Long:  explainLong,
		Args:  oneOrTwo("SCENARIO"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.refused(a.runExplain(ctx, &f, args), func(r render.Run) any { return r })
		}),
	}
	f.flags(c)
	whole(c, &f.replications, "replications", 1, explain.MaxReplications, "number of replications")
	c.Flags().StringArrayVar(&f.groups, "group", nil,
		"let knobs move together: `name=key,key`; a key stands for all below it; repeatable")
	return c
}

// oneOrTwo accepts one argument of a name or two.
func oneOrTwo(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 || len(args) == 2 {
			return nil
		}
		return fmt.Errorf("%s takes one %s or two, and was given %q", c.CommandPath(), name, args)
	}
}

func (a *app) runExplain(ctx context.Context, f *explainFlags, names []string) error {
	groups, err := parseGroups(f.groups)
	if err != nil {
		return refuse(err)
	}
	list, err := f.all(names)
	if err != nil {
		return err
	}
	switch {
	case len(list) == 1 && len(groups) > 0:
		return refuse(errors.New("--group: of two scenarios, and there is one"))
	case len(list) == 1:
		return a.explainOne(ctx, f, list[0].scenario)
	case len(list) == 2:
		return a.explainTwo(ctx, f, groups, list)
	}
	const format = "the scenarios and settings give %d variants: one to explain, or two to compare"
	return refuse(fmt.Errorf(format, len(list)))
}

// named is a scenario and what to call it.
type named struct {
	name     string
	scenario *scenarios.Scenario
}

// all returns the variants of all scenarios. Those of a single scenario are called by their settings.
func (f *explainFlags) all(names []string) ([]named, error) {
	var list []named
	for _, name := range names {
		variants, err := f.variants(name)
		if err != nil {
			return nil, err
		}
		for _, v := range variants {
			n := named{name, v.Scenario}
			if len(names) == 1 {
				n.name = strings.Join(v.Settings, " ")
			}
			list = append(list, n)
		}
	}
	return list, nil
}

// parseGroups reads name=key,key.
func parseGroups(texts []string) ([]explain.Group, error) {
	var list []explain.Group
	for _, text := range texts {
		name, keys, _ := strings.Cut(text, "=")
		g := explain.Group{Name: strings.TrimSpace(name)}
		for key := range strings.SplitSeq(keys, ",") {
			g.Keys = append(g.Keys, strings.TrimSpace(key))
		}
		if g.Name == "" || slices.Contains(g.Keys, "") {
			return nil, fmt.Errorf("--group %s: a group is name=key,key, for example size=workload,config.jobs_in_flight", text)
		}
		list = append(list, g)
	}
	return list, nil
}

// explainOne explains a scenario.
func (a *app) explainOne(ctx context.Context, f *explainFlags, s *scenarios.Scenario) error {
	p := live.Plan(s)
	question, err := explain.NewSingle(p, f.replications)
	if err != nil {
		return refuse(err)
	}
	answer, err := watched(ctx, a, "explaining", question.Runs(), question.Explain)
	if err != nil {
		return err
	}
	warnings := append(answer.Notes, planWarnings(&p)...)
	out := render.NewExplanation(answer, f.replications, warnings)
	if err := a.show(out, func(t render.Text) { t.Explanation(answer, f.replications, warnings) }); err != nil {
		return err
	}
	return exitOn(answer.Result.Verdict)
}

// explainTwo explains the difference between two scenarios.
func (a *app) explainTwo(ctx context.Context, f *explainFlags, groups []explain.Group, two []named) error {
	plans := [2]sim.Plan{live.Plan(two[0].scenario), live.Plan(two[1].scenario)}
	question, err := explain.NewPair(plans[0], plans[1], f.replications, groups)
	if err != nil {
		return refuse(err)
	}
	answer, err := watched(ctx, a, "explaining", question.Runs(), question.Explain)
	if err != nil {
		return err
	}
	out := render.PairAnswer{
		A: two[0].name, B: two[1].name, Replications: f.replications, Of: answer,
		Warnings: [][]string{answer.Notes, planWarnings(&plans[0]), planWarnings(&plans[1])},
	}
	return a.show(out.Difference(), func(t render.Text) { t.Difference(&out) })
}
