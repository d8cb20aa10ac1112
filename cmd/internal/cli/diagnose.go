package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"headroom/calibrate/diagnose"
	"headroom/cmd/internal/render"
	"headroom/model"
)

const diagnoseLong = `diagnose reads a trace that headroom record wrote and says what its memory does:

  leak          it grows with each job that finishes, and nothing in flight explains it
  queue_growth  what is in flight grows, because one side of a queue is faster
  plateau       it grew until what is in flight reached its bound
  retention     it stays when what is in flight falls, and does not pass its high-water mark
  cannot_tell   the trace does not say; the reason says what to record

Below it are the numbers that it rests on, with 95 % intervals. With a limit, the trace's own or
--limit, it says how long a growth takes to get there. The exit code is 0 whatever is found.`

// diagnose returns the command that says what the memory of a recorded run does.
func (a *app) diagnose() *cobra.Command {
	var limit string
	c := &cobra.Command{
		Use:   "diagnose TRACE",
		Short: "Say whether a trace shows a leak, a queue that grows, or neither",
		Long:  diagnoseLong,
		Args:  exactly("TRACE"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.runDiagnose(ctx, args[0], limit)
		}),
	}
	words(c, &limit, "limit", "", "the limit of resident memory, a `SIZE` such as 32GiB (default the trace's)")
	return c
}

func (a *app) runDiagnose(ctx context.Context, path, limit string) error {
	var bytes model.Bytes
	if limit != "" {
		var err error
		if bytes, err = model.ParseBytes(limit); err == nil && bytes <= 0 {
			err = fmt.Errorf("%s: more than 0 is needed", bytes)
		}
		if err != nil {
			return refuse(fmt.Errorf("--limit: %w", err))
		}
	}
	result, err := await(ctx, func() (render.Diagnosis, error) {
		r, err := readTrace(path)
		if err != nil {
			return render.Diagnosis{}, refuse(err)
		}
		report, err := diagnose.Of(r.trace, bytes)
		if err != nil {
			return render.Diagnosis{}, refuse(fmt.Errorf("%s: %w", path, err))
		}
		return render.NewDiagnosis(report, r.trace.Warnings), nil
	})
	if err != nil {
		return err
	}
	return a.show(result, func(t render.Text) { t.Diagnosis(&result) })
}
