package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"headroom/cmd/internal/render"
	"headroom/model"
	"headroom/scenarios"
)

const scenariosLong = `scenarios lists the scenarios that come with headroom; scenarios show NAME prints one as YAML,
to be changed and given to the other commands as a file.`

// scenarios returns the command that lists and shows the embedded scenarios.
func (a *app) scenarios() *cobra.Command {
	c := &cobra.Command{
		Use:   "scenarios",
		Short: "List the scenarios that come with headroom, or show one",
		Long:  scenariosLong,
		Args:  exactly(),
		RunE:  a.entry(a.listScenarios),
	}
	c.AddCommand(&cobra.Command{
		Use:   "list",
		Short: "List the scenarios that come with headroom",
		Args:  exactly(),
		RunE:  a.entry(a.listScenarios),
	}, &cobra.Command{
		Use:   "show NAME",
		Short: "Print a scenario as YAML",
		Args:  exactly("NAME"),
		RunE:  a.entry(a.showScenario),
	})
	return c
}

func (a *app) listScenarios(context.Context, []string) error {
	out := render.Scenarios{Schema: render.Schema, Scenarios: []render.Scenario{}}
	for _, name := range scenarios.Names() {
		s, err := describe(name)
		if err != nil {
			return fmt.Errorf("scenario %s: %w", name, err)
		}
		s.YAML = ""
		out.Scenarios = append(out.Scenarios, *s)
	}
	return a.show(out, func(t render.Text) { t.Scenarios(out.Scenarios) })
}

func (a *app) showScenario(_ context.Context, args []string) error {
	s, err := describe(args[0])
	if err != nil {
		return refuse(err)
	}
	s.Schema = render.Schema
	return a.show(s, func(t render.Text) { fmt.Fprint(t.W, s.YAML) })
}

// anywhere is a machine on which every configuration makes sense, for when nothing is to be run.
func anywhere() (model.Machine, error) {
	return model.Machine{GPUs: make([]model.GPUSpec, model.MaxDevices)}, nil
}

// describe reads a scenario, an embedded one or a file.
func describe(name string) (*render.Scenario, error) {
	data, filename, err := source(name)
	if err != nil {
		return nil, err
	}
	s, err := scenarios.Parse(data, filename, anywhere)
	if err != nil {
		return nil, err
	}
	out := &render.Scenario{Name: name, Title: s.Title, Description: s.Description, YAML: string(data)}
	if s.Profile != nil {
		out.Profile = &s.ProfileName
	}
	return out, nil
}
