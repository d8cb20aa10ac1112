package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"headroom/model"
)

// maxLine is the longest line that is written or read. A step that starts half a million stages fits.
const maxLine = 64 << 20

// maxObjects is how many objects a line may have: a reader needs far more memory for an object than its text is long.
const maxObjects = 2 << 20

// tooLarge reports why a line is larger than any that is written or read, or nil.
func tooLarge(line []byte) error {
	if len(line) > maxLine {
		return fmt.Errorf("is longer than %d bytes, the longest line that there is", maxLine)
	}
	if len(line) > maxObjects && bytes.Count(line, []byte("{")) > maxObjects {
		return fmt.Errorf("has more than %d objects, the most that a line has", maxObjects)
	}
	return nil
}

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
	if err := tooLarge(line); err != nil {
		w.note(fmt.Errorf("a line %w", err))
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
