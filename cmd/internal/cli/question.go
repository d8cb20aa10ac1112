package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/spf13/cobra"

	"headroom/cmd/internal/render"
	"headroom/model/strict"
	"headroom/scenarios"
	"headroom/sim"
)

// question is the flags by which a command changes the scenario that it is about.
type question struct {
	settings []string
	seed     uint64
	seeded   func() bool // --seed was given
}

// flags adds the flags to a command.
func (q *question) flags(c *cobra.Command) {
	c.Flags().StringArrayVar(&q.settings, "set", nil,
		"change the scenario: `key=value`, key=4..20 or key=1,2,4; repeatable")
	whole(c, &q.seed, "seed", 0, math.MaxUint64, "seed of all draws (default the scenario's)")
	q.seeded = func() bool { return c.Flags().Changed("seed") }
}

// variants returns a plan for every combination of settings of the scenario, which is an embedded one or a file.
func (q *question) variants(name string) ([]scenarios.Variant, error) {
	variants, err := q.expand(name)
	if err != nil {
		return nil, err
	}
	for _, v := range variants {
		if v.Scenario.Profile == nil {
			return nil, &refusal{fmt.Errorf("scenario: %s names no profile, without which nothing can be predicted: "+
				"add profile: NAME, or --set profile=NAME", name)}
		}
	}
	return variants, nil
}

// expand returns the scenario with every combination of settings.
func (q *question) expand(name string) ([]scenarios.Variant, error) {
	data, filename, err := source(name)
	if err != nil {
		return nil, refuse(err)
	}
	variants, err := scenarios.Expand(data, filename, q.settings, here)
	if err != nil {
		return nil, &refusal{err}
	}
	if q.seeded() {
		for _, v := range variants {
			v.Scenario.Seed = q.seed
		}
	}
	return variants, nil
}

// source reads the text of a scenario. For an unknown name the error suggests the closest one there is, or says where they
// are listed.
func source(name string) (data []byte, filename string, err error) {
	data, filename, err = scenarios.Source(name)
	if errors.Is(err, fs.ErrNotExist) {
		hint := "headroom scenarios lists them"
		if near := strict.Closest(name, scenarios.Names()); near != "" {
			hint = "did you mean " + near + "?"
		}
		err = fmt.Errorf("%w; %s", err, hint)
	}
	return data, filename, err
}

// refusal is a scenario that makes no sense.
type refusal struct{ err error }

// Error says what makes no sense.
func (r *refusal) Error() string { return r.err.Error() }

// refused ends a command that judges scenarios, which has ended with an error or nil. A scenario that makes no sense, or
// cannot be simulated, has a verdict, which is in the JSON too.
func (a *app) refused(err error, result func(render.Run) any) error {
	var r *refusal
	var plan *sim.PlanError
	if !errors.As(err, &r) && !errors.As(err, &plan) {
		return err
	}
	if a.json {
		run := render.Refused(err.Error())
		run.Schema = render.Schema
		if err := a.show(result(run), nil); err != nil {
			return err
		}
	}
	return refuse(err)
}
