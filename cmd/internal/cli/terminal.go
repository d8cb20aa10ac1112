package cli

import (
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

// progress shows a bar on standard error. A nil progress shows nothing.
type progress struct {
	bar   *progressbar.ProgressBar
	start time.Time
	steps atomic.Int64
}

// progress returns a bar of n steps, or nil if nobody wants to see one.
func (a *app) progress(what string, n int) *progress {
	if a.quiet || !isTerminal(a.stderr) {
		return nil
	}
	bar := progressbar.NewOptions(n, progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return &progress{bar: bar, start: time.Now()}
}

// step notes that one more step is done.
func (p *progress) step() {
	if p == nil {
		return
	}
	if n := p.steps.Add(1); time.Since(p.start) > patience {
		_ = p.bar.Set64(n) // a bar that cannot be drawn is no reason to stop
	}
}

// close removes the bar.
func (p *progress) close() {
	if p != nil && time.Since(p.start) > patience {
		_ = p.bar.Finish()
	}
}

// childLog returns where the log of a child process goes.
func (a *app) childLog() io.Writer {
	if a.quiet {
		return io.Discard
	}
	return a.stderr
}
