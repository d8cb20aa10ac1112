package record

import (
	"bytes"
	"io"
	"strings"
)

// childLog parts what a child writes to its standard error: the lines of its log are passed on as they come, and the
// others, which say why it failed, are kept for the error.
type childLog struct {
	to   io.Writer // nil: the log goes nowhere
	line []byte    // that is not whole yet
	kept []byte
}

// mostKept is how much is kept: enough for the beginning of a panic, which says more than its end.
const mostKept = 4000

// logStart is how slog's text handler begins a line.
const logStart = "time="

// Write takes part of the child's standard error.
func (l *childLog) Write(p []byte) (int, error) {
	l.line = append(l.line, p...)
	for {
		end := bytes.IndexByte(l.line, '\n') + 1
		if end == 0 && len(l.line) < mostKept {
			return len(p), nil
		}
		if end == 0 {
			end = len(l.line)
		}
		if err := l.take(l.line[:end]); err != nil {
			return 0, err
		}
		l.line = l.line[end:]
	}
}

// take passes a line on or keeps it.
func (l *childLog) take(line []byte) error {
	if !bytes.HasPrefix(line, []byte(logStart)) {
		l.kept = append(l.kept, line[:min(len(line), mostKept-len(l.kept))]...)
		return nil
	}
	if l.to == nil {
		return nil
	}
	_, err := l.to.Write(line)
	return err
}

// words returns what was kept, to go on after what happened to the child.
func (l *childLog) words() string {
	text := strings.TrimSpace(string(l.kept) + string(l.line))
	if text == "" {
		return ""
	}
	return ": " + text
}
