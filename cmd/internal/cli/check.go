package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"headroom/cmd/internal/render"
	"headroom/model/check"
	"headroom/model/trace"
)

const checkLong = `check reads a trace, live or simulated, and holds it against everything that must be true of
every run, among it that a fresh pipeline given the recorded inputs answers with exactly the
recorded effects. The exit code is 1 if something is found, and 2 if the file is no trace.`

// check returns the command that judges a trace.
func (a *app) check() *cobra.Command {
	return &cobra.Command{
		Use:   "check TRACE",
		Short: "Hold a trace against what must be true of every run",
		Long:  checkLong,
		Args:  exactly("TRACE"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.runCheck(ctx, args[0])
		}),
	}
}

func (a *app) runCheck(ctx context.Context, path string) error {
	result, err := a.checked(ctx, path)
	if err != nil {
		return err
	}
	if err := a.show(result, func(t render.Text) { t.Check(&result) }); err != nil {
		return err
	}
	if !result.OK {
		return fmt.Errorf("check: %s is not what a pipeline does", path)
	}
	return nil
}

// checked reads a trace and holds the checkers against it.
func (a *app) checked(ctx context.Context, path string) (render.Check, error) {
	return watched(ctx, a, "checking", uncounted, func(func()) (render.Check, error) {
		t, err := trace.ReadFile(path)
		if err != nil {
			return render.Check{}, refuse(err)
		}
		return render.NewCheck(t, check.Run(check.Of(t))), nil
	})
}
