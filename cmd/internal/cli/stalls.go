package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"headroom/cmd/internal/live"
	"headroom/cmd/internal/render"
	"headroom/model"
	"headroom/model/reach"
	"headroom/model/trace"
	"headroom/scenarios"
)

// stallsFlags are the flags of stalls.
type stallsFlags struct {
	question
	jobs, partitions  int
	failures, cancels bool
	maxStates         int
	trace             string
}

const stallsLong = `stalls looks for a history of a scenario's pipeline after which nothing can go on although work
is left, or which breaks what must be true of every run. It follows every order in which stages
can end and jobs can arrive, not one as a run does, so that "none" is a proof for up to --jobs
jobs, whatever the durations.

The states grow fast with the jobs and their partitions, so that only --partitions of each job
are searched. The exit code is 0 if nothing is found, 3 if something is, with the shortest
history, and 1 if --max-states states were not enough.`

// stalls returns the command that searches the states of a scenario's pipeline.
func (a *app) stalls() *cobra.Command {
	f := stallsFlags{jobs: 2, partitions: 2, maxStates: reach.DefaultStates}
	c := &cobra.Command{
		Use:   "stalls SCENARIO",
		Short: "Find a history after which nothing can go on, or prove that there is none",
		Long:  stallsLong,
		Args:  exactly("SCENARIO"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.refused(a.runStalls(ctx, &f, args[0]), func(r render.Run) any { return r })
		}),
	}
	f.flags(c)
	whole(c, &f.jobs, "jobs", 1, 1000, "number of jobs, of any of the workload's kinds")
	whole(c, &f.partitions, "partitions", 1, model.MaxPartitions, "most partitions of a job")
	c.Flags().BoolVar(&f.failures, "failures", false, "let every stage fail as well")
	c.Flags().BoolVar(&f.cancels, "cancels", false, "let every job be cancelled and the pipeline be drained as well")
	whole(c, &f.maxStates, "max-states", 1, 1<<30, "most states to explore")
	words(c, &f.trace, "trace", "", "write the history that is found to `FILE`; .zst compresses")
	return c
}

func (a *app) runStalls(ctx context.Context, f *stallsFlags, name string) error {
	variants, err := f.variants(name)
	if err != nil {
		return err
	}
	if len(variants) > 1 {
		return refuse(errors.New("stalls searches one configuration: --set no range and no list"))
	}
	if err := refuseTrace(f.trace); err != nil {
		return err
	}
	scenario := variants[0].Scenario
	space, warnings := f.space(scenario)
	plan := live.Plan(scenario)
	warnings = append(warnings, plan.Contradictions()...)
	if _, err := model.NewCore(space.Config, space.Kinds); err != nil {
		return refuse(err)
	}
	answer, err := watched(ctx, a, "searching", f.maxStates, func(step func()) (*reach.Answer, error) {
		return reach.Search(space, step)
	})
	if err != nil {
		return err
	}
	if f.trace != "" && answer.History != nil {
		if err := writeHistory(f.trace, scenario, &space, answer); err != nil {
			return err
		}
	}
	out := render.NewStalls(&space, answer, warnings)
	if err := a.show(out, func(t render.Text) { t.Stalls(&out) }); err != nil {
		return err
	}
	switch answer.Verdict {
	case reach.Clear:
		return nil
	case reach.Unfinished:
		return &ExitError{Code: Failure}
	}
	return &ExitError{Code: Broken}
}

// space returns what of a scenario is searched, and in which respects it is less than the scenario.
func (f *stallsFlags) space(s *scenarios.Scenario) (reach.Space, []string) {
	space := reach.Space{Config: s.Config, Jobs: f.jobs, Failures: f.failures, Cancels: f.cancels, MaxStates: f.maxStates}
	var warnings []string
	most := 0
	for _, share := range s.Workload.Shares {
		k := s.Profile.Kind(share.Kind).Model()
		if k.Partitions > f.partitions {
			warnings = append(warnings, cut(&s.Config, &k, f.partitions))
			k.Partitions = f.partitions
		}
		most = max(most, k.Partitions)
		space.Kinds = append(space.Kinds, k)
	}
	partitions := model.Count(most * f.jobs)
	for _, limit := range []struct {
		key  string
		what string
		n    model.Count
		most model.Count
	}{
		{"config.jobs_in_flight", "job", s.Config.JobsInFlight, model.Count(f.jobs)},
		{"config.admission.permits", "partition", s.Config.Admission.Permits, partitions},
	} {
		if limit.n != model.Unbounded && limit.n >= limit.most {
			warnings = append(warnings, fmt.Sprintf("%s is %s and never binds in a search of %s: --set a smaller one to search what happens when it does",
				limit.key, limit.n, model.Counted(limit.most, limit.what)))
		}
	}
	return space, warnings
}

// cut says that jobs of a kind are searched with some of their partitions, and what this hides: a job that reserves for
// all of them together may fit with fewer and not as it is.
func cut(c *model.Config, k *model.Kind, partitions int) string {
	text := fmt.Sprintf("jobs of kind %s are searched with %d of their %d partitions (--partitions)", k.Name, partitions, k.Partitions)
	if c.Admission.Budget == nil {
		return text
	}
	d := c.Admission.Budget.Kinds[k.Name]
	if d.AcquireOrder != model.WorkingFirst {
		return text
	}
	return text + fmt.Sprintf(", which reserve %s each and all at once: so few may fit into the ledger where a whole job does not", d.Reserve)
}

// writeHistory writes a history as a trace for headroom check.
func writeHistory(path string, s *scenarios.Scenario, space *reach.Space, answer *reach.Answer) error {
	file, err := createTrace(path, &trace.Header{
		Tool: Version(), Clock: trace.Virtual, Config: space.Config, Workload: s.Workload, Kinds: space.Kinds,
	})
	if err != nil {
		return err
	}
	defer file.discard()
	for i := range answer.History {
		file.step(&answer.History[i])
	}
	return file.finish(trace.End{Outcome: trace.Broken, Error: answer.Reason})
}
