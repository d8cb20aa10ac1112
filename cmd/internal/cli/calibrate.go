package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"headroom/calibrate"
	"headroom/cmd/internal/output"
	"headroom/cmd/internal/render"
	"headroom/model/check"
	"headroom/model/input"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/scenarios"
)

const calibrateLong = `calibrate makes a profile from traces that headroom record wrote of the same kind of job on
the same machine, best of three or four different configurations. Every number of the profile
carries a 95 % interval and where it came from.

Runs with batches, with resident data and with a pool teach what a partition holds too: what a
batch holds is that of each of its proofs, and the bytes of data are known from the trace. With
a pool vectors are held before they are filled, so that one trace at least must be of a run
without.

The profile is judged by predicting each trace from the others. When the median error is above
5 % the exit code is 4, and the report says what more to record; the profile is written all
the same.`

// calibrate returns the command that makes a profile.
func (a *app) calibrate() *cobra.Command {
	var out, name string
	c := &cobra.Command{
		Use:   "calibrate TRACE... --out PROFILE",
		Short: "Make a profile from recorded traces",
		Long:  calibrateLong,
		Args:  oneOrMore("TRACE"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.runCalibrate(ctx, args, out, name)
		}),
	}
	words(c, &out, "out", "o", "write the profile to `FILE`")
	words(c, &name, "name", "", "the profile's name (default the file's)")
	return c
}

func (a *app) runCalibrate(ctx context.Context, paths []string, out, name string) error {
	if out == "" {
		return refuse(errors.New("--out: where is the profile to go?"))
	}
	if slices.ContainsFunc(paths, func(path string) bool { return output.Same(path, out) }) {
		return refuse(fmt.Errorf("--out: %s is one of the traces, which would be lost: name another file", out))
	}
	if err := output.Profile(out); err != nil {
		return refuse(fmt.Errorf("--out: %w", err))
	}
	if name == "" {
		base := filepath.Base(out)
		name = base[:len(base)-len(filepath.Ext(base))]
	}
	traces, err := a.readTraces(ctx, paths)
	if err != nil {
		return err
	}
	f, err := a.fit(ctx, name, traces)
	if err != nil {
		return err
	}
	if err := output.Replace(out, f.text); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	result := render.NewCalibration(f.report, out)
	if err := a.show(result, func(t render.Text) { t.Calibration(f.report, out) }); err != nil {
		return err
	}
	if !f.report.Good {
		return &ExitError{Code: Unfit}
	}
	return nil
}

// fitted is a profile as text, and how good it is.
type fitted struct {
	text   []byte
	report *calibrate.Report
}

// fit makes a profile of that name from traces.
func (a *app) fit(ctx context.Context, name string, recordings []recording) (fitted, error) {
	o := calibrate.Options{Name: name}
	var traces []*trace.Trace
	for _, r := range recordings {
		traces, o.Sources = append(traces, r.trace), append(o.Sources, r.source)
	}
	return watched(ctx, a, "fitting", 1+len(recordings), func(step func()) (fitted, error) {
		o.Progress = func(int, int) { step() }
		p, report, err := calibrate.Fit(traces, o)
		if err != nil {
			return fitted{}, refuse(err)
		}
		var text bytes.Buffer
		err = p.Write(&text)
		return fitted{text.Bytes(), report}, err
	})
}

// recording is a trace and where it is from.
type recording struct {
	trace  *trace.Trace
	source calibrate.Source
}

// readTraces reads recordings and shows how many are read.
func (a *app) readTraces(ctx context.Context, paths []string) ([]recording, error) {
	return watched(ctx, a, "reading", len(paths), func(step func()) ([]recording, error) {
		var list []recording
		for _, path := range paths {
			r, err := readTrace(path)
			if err != nil {
				return nil, refuse(err)
			}
			list = append(list, r)
			step()
		}
		return list, nil
	})
}

// readTrace reads a trace and its file's hash. A trace that somebody has edited teaches nothing, so it is refused.
func readTrace(path string) (recording, error) {
	f, err := input.Open(path)
	if err != nil {
		return recording{}, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	text := io.TeeReader(f, sum)
	t, err := trace.Read(text)
	if err == nil {
		_, err = io.Copy(io.Discard, text)
	}
	if err != nil {
		return recording{}, fmt.Errorf("%s: %w", path, err)
	}
	if findings := check.Run(check.Of(t)); len(findings) > 0 {
		return recording{}, fmt.Errorf("%s is not what a pipeline does: %s; headroom check says more", path, findings[0])
	}
	return recording{t, calibrate.Source{Path: path, SHA256: hex.EncodeToString(sum.Sum(nil))}}, nil
}

const compareLong = `compare predicts the run that a trace is of and prints predicted against measured: the error
of each metric, and whether what was measured lies in the predicted 95 % band.`

// compare returns the command that holds a profile against a trace.
func (a *app) compare() *cobra.Command {
	replications := calibrate.DefaultReplications
	c := &cobra.Command{
		Use:   "compare PROFILE TRACE",
		Short: "Hold a prediction against a recorded run",
		Long:  compareLong,
		Args:  exactly("PROFILE", "TRACE"),
		RunE: a.entry(func(ctx context.Context, args []string) error {
			return a.runCompare(ctx, args[0], args[1], replications)
		}),
	}
	whole(c, &replications, "replications", 1, maxReplications, "how many runs to predict from")
	return c
}

func (a *app) runCompare(ctx context.Context, profileName, path string, replications int) error {
	p, err := scenarios.LoadProfile(profileName)
	if err != nil {
		return refuse(err)
	}
	traces, err := a.readTraces(ctx, []string{path})
	if err != nil {
		return err
	}
	comparison, err := a.predict(ctx, p, traces[0].trace, replications)
	if err != nil {
		return err
	}
	return a.show(render.NewComparison(comparison), func(t render.Text) { t.Comparison(comparison) })
}

// predict holds the prediction of a profile against a trace.
func (a *app) predict(
	ctx context.Context, p *profile.Profile, t *trace.Trace, replications int,
) (*calibrate.Comparison, error) {
	return watched(ctx, a, "predicting", uncounted, func(func()) (*calibrate.Comparison, error) {
		c, err := calibrate.Compare(p, t, replications)
		return c, refuse(err)
	})
}
