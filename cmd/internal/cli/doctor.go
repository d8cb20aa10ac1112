package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"headroom/backend/confine"
	"headroom/backend/probe"
	"headroom/cmd/internal/live"
	"headroom/cmd/internal/render"
	"headroom/model"
	"headroom/scenarios"
)

const doctorLong = `doctor lists every limit of memory that this machine sets to a process, each with its file, and
what of it is used: RAM, cgroups, memory nodes, /dev/shm, memlock, mappings, and the memory of
each GPU. It names the one that binds, which is the limit of every verdict on machine: here, and
what is wrong or easily overlooked. Linux only.

With a scenario it says whether this machine grants what the scenario's machine has. If not, the
exit code is 2.`

// doctor returns the command that examines the host.
func (a *app) doctor() *cobra.Command {
	var q question
	c := &cobra.Command{
		Use:   "doctor [SCENARIO]",
		Short: "List the limits of this machine, and say whether a scenario gets what it counts on",
		Long:  doctorLong,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%s takes one SCENARIO or none, and was given %q", c.CommandPath(), args)
			}
			return nil
		},
		RunE: a.entry(func(ctx context.Context, args []string) error { return a.runDoctor(ctx, &q, args) }),
	}
	q.flags(c)
	return c
}

func (a *app) runDoctor(ctx context.Context, q *question, args []string) error {
	s, err := q.scenario(args)
	if err != nil {
		return err
	}
	e, err := await(ctx, func() (*probe.Examination, error) { return probe.Live.Examine(ctx, os.Getpid()) })
	if err != nil {
		return err
	}
	mechanism := tryConfinement(ctx, e)
	result := render.NewHost(e)
	result.Confinement = mechanism
	if s != nil {
		machine := &s.Machine
		if machine.Cores > e.Machine.CoresAllowed {
			result.Findings = append(result.Findings, render.HostFinding{About: "cores", Text: fmt.Sprintf(
				"machine.cores is %d, and this process may run on %d: it will not be as fast", machine.Cores, e.Machine.CoresAllowed)})
		}
		result.Plan = render.NewHostPlan(args[0], append(e.Shortfalls(machine, true), e.Pinning(live.LeastPinned(s, ""))...))
	}
	if err := a.show(result, func(t render.Text) { t.Host(&result, e.Machine) }); err != nil {
		return err
	}
	if result.Plan != nil && !result.Plan.Granted {
		return &ExitError{Code: Usage}
	}
	return nil
}

// scenario returns the scenario that the arguments name, or nil if they name none.
func (q *question) scenario(args []string) (*scenarios.Scenario, error) {
	if len(args) == 0 {
		if len(q.settings) > 0 || q.seeded() {
			return nil, refuse(errors.New("--set and --seed: of a scenario, and none is named"))
		}
		return nil, nil
	}
	variants, err := q.expand(args[0])
	if err != nil {
		return nil, refuse(err)
	}
	if len(variants) != 1 {
		return nil, refuse(fmt.Errorf("--set: %d scenarios: doctor compares one", len(variants)))
	}
	return variants[0].Scenario, nil
}

// tryConfinement confines a program that does nothing and returns the mechanism that did it, or nil. Better ones that
// did not work are findings.
func tryConfinement(ctx context.Context, e *probe.Examination) *string {
	note := func(err error) {
		e.Findings = append(e.Findings, probe.Finding{About: "confinement", Text: err.Error()})
	}
	child, err := confine.Start(ctx, exec.Command("/bin/sh", "-c", ":"), 64*model.MiB, confine.Options{})
	if err != nil {
		note(err)
		return nil
	}
	outcome, err := child.Wait()
	for _, skipped := range outcome.Skipped {
		note(skipped)
	}
	if err != nil {
		note(err)
		return nil
	}
	return new(string(outcome.Mechanism))
}
