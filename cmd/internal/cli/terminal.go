package cli

import (
	"context"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// isTerminal reports whether a person reads what is written.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// colors reports whether results may be coloured; NO_COLOR forbids it (https://no-color.org).
func (a *app) colors() bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(a.stdout)
}

// patience is how long a command works before it shows how far it is.
const patience = 2 * time.Second

// uncounted is the number of steps of work whose steps nobody counts: the bar only shows that it goes on.
const uncounted = -1

// progress shows a bar on standard error once the work has tried a person's patience, and keeps it up to date until it
// is closed. A nil progress shows nothing.
type progress struct {
	bar           *progressbar.ProgressBar
	steps         atomic.Int64
	stop, stopped chan struct{}
}

// progress returns a bar of n steps, or nil if nobody wants to see one.
func (a *app) progress(what string, n int) *progress {
	if a.quiet || !isTerminal(a.stderr) {
		return nil
	}
	return newProgress(a.stderr, what, n, patience)
}

func newProgress(w io.Writer, what string, n int, patience time.Duration) *progress {
	options := []progressbar.Option{
		progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(w), progressbar.OptionClearOnFinish(),
	}
	if n != uncounted {
		options = append(options, progressbar.OptionShowCount())
	}
	p := &progress{
		bar: progressbar.NewOptions(n, options...), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	go p.draw(patience)
	return p
}

// redraw is the time between two drawings of a bar.
const redraw = 200 * time.Millisecond

// draw draws until the bar is closed, and then removes it. A bar that cannot be drawn is no reason to stop.
func (p *progress) draw(patience time.Duration) {
	defer close(p.stopped)
	select {
	case <-p.stop:
		return
	case <-time.After(patience):
	}
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		_ = p.bar.Set64(p.steps.Load())
		_ = p.bar.RenderBlank() // as time goes on also without a step
		select {
		case <-p.stop:
			_ = p.bar.Finish()
			return
		case <-ticker.C:
		}
	}
}

// step notes that one more step is done.
func (p *progress) step() {
	if p != nil {
		p.steps.Add(1)
	}
}

// close removes the bar.
func (p *progress) close() {
	if p != nil {
		close(p.stop)
		<-p.stopped
	}
}

// watched is await with a bar of n steps. f calls step after each.
func watched[T any](ctx context.Context, a *app, what string, n int, f func(step func()) (T, error)) (T, error) {
	bar := a.progress(what, n)
	defer bar.close()
	return await(ctx, func() (T, error) { return f(bar.step) })
}

// childLog returns where the log of a child process goes.
func (a *app) childLog() io.Writer {
	if a.quiet {
		return io.Discard
	}
	return a.stderr
}
