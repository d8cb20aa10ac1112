package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"headroom/backend/confine"
	"headroom/cmd/internal/demo"
	"headroom/cmd/internal/render"
	"headroom/model/trace"
)

const demoLong = `demo keeps the product's promise on this machine, in a few minutes and without a GPU: it
records a few configurations of a real Groth16 prover, calibrates a profile from the
recordings, predicts configurations that were never run, runs them, and prints predicted
against measured. Then it gives a safe and an unsafe configuration a memory limit between
their predicted peaks, states the verdicts, and lets it happen.

--keep DIR keeps the traces and the profile, for headroom check, calibrate and compare.`

// demo returns the command that goes through the whole loop.
func (a *app) demo() *cobra.Command {
	var keys, keep, mechanism string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Record, calibrate, predict and run: the whole loop on this machine",
		Long:  demoLong,
		Args:  exactly(),
		RunE: a.entry(func(ctx context.Context, _ []string) error {
			return a.runDemo(ctx, keys, keep, confine.Mechanism(mechanism))
		}),
	}
	words(c, &keys, "keys", "", "cache keys and data in `DIR` (default in the user's cache directory)")
	words(c, &keep, "keep", "", "keep the traces and the profile in `DIR`")
	words(c, &mechanism, "mechanism", "", "confine by this alone: cgroup, systemd-run or watchdog")
	return c
}

func (a *app) runDemo(ctx context.Context, keys, keep string, mechanism confine.Mechanism) error {
	if err := knownMechanism(mechanism); err != nil {
		return refuse(err)
	}
	keys, err := keyDir(keys)
	if err != nil {
		return err
	}
	if keep != "" {
		if err := makeFolder("--keep", keep); err != nil {
			return err
		}
	}
	start := time.Now()
	report, err := demo.Run(ctx, demo.Options{
		Here: here, KeyDir: keys, Keep: keep, Mechanism: mechanism, Tool: Version(), Log: nil,
		Step: func(i, n int, what string) {
			if !a.quiet {
				fmt.Fprintf(a.stderr, "[%2d/%d %3.0f s] %s\n", i, n, time.Since(start).Seconds(), what)
			}
		},
	})
	if report == nil {
		return err
	}
	if err := a.show(render.NewDemo(report), func(t render.Text) { t.Demo(report) }); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	for _, c := range report.Confined {
		if c.Verdict.Over() != (c.Outcome == trace.Killed) {
			return errors.New("demo: a verdict did not come true")
		}
	}
	return nil
}
