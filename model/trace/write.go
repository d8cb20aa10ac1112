package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"headroom/model"
)

// maxLine is the longest line that is written or read. A step that starts half a million stages fits.
const maxLine = 64 << 20

// Writer writes a trace. It is not safe for concurrent use. Its first error sticks: every later call returns it
// and writes nothing, so that the trace keeps lacking its end.
type Writer struct {
	out     *bufio.Writer
	closers []io.Closer // from the innermost on
	flusher interface{ Flush() error }
	line    []byte
	owners  owners
	takes   sizes
	err     error
}

// NewWriter writes the header and returns a writer of the rest, uncompressed.
func NewWriter(out io.Writer, h *Header) (*Writer, error) {
	w := &Writer{out: bufio.NewWriterSize(out, 1<<16), owners: owners{}, takes: h.sizes()}
	header := *h
	if header.Schema == 0 {
		header.Schema = Schema
	}
	w.json(viewHeader(&header))
	return w, w.err
}

// Step writes a step and the state after it.
func (w *Writer) Step(r *model.Record) error {
	o, _ := w.owners.of(&r.Input)
	w.owners.note(r.Effects)
	w.line = appendStep(w.line[:0], r, o, &w.takes)
	return w.write(w.line)
}

// Sample writes a reading of memory.
func (w *Writer) Sample(s Sample) error {
	return w.json(struct {
		At     model.Instant `json:"at"`
		Sample *sampleView   `json:"sample"`
	}{s.At, viewSample(&s)})
}

// Baseline writes the reading of memory before the first job.
func (w *Writer) Baseline(b Baseline) error {
	return w.json(struct {
		At       model.Instant `json:"at"`
		Baseline memoryView    `json:"baseline"`
	}{b.At, viewMemory(&b.Memory)})
}

// End writes the last line; nothing may follow but Close.
func (w *Writer) End(e End) error {
	return w.json(struct {
		End *endView `json:"end"`
	}{viewEnd(&e)})
}

// Flush hands everything written so far to the system, so that it survives the end of the process.
func (w *Writer) Flush() error {
	w.note(w.out.Flush())
	if w.flusher != nil {
		w.note(w.flusher.Flush())
	}
	return w.err
}

// Close flushes what is buffered and closes what Create opened. It returns the first error of the writer's life.
func (w *Writer) Close() error {
	w.note(w.out.Flush())
	for _, c := range w.closers {
		w.note(c.Close())
	}
	w.closers, w.flusher = nil, nil
	return w.err
}

func (w *Writer) json(v any) error {
	line, err := json.Marshal(v)
	w.note(err)
	return w.write(line)
}

func (w *Writer) write(line []byte) error {
	if len(line) > maxLine {
		w.note(fmt.Errorf("a line of %d bytes: at most %d", len(line), maxLine))
	}
	if w.err != nil {
		return w.err
	}
	_, err := w.out.Write(line)
	w.note(err)
	w.note(w.out.WriteByte('\n'))
	return w.err
}

// note keeps the first error.
func (w *Writer) note(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("trace: writing: %w", err)
	}
}
