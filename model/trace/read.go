package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"headroom/model"
)

// Reader reads a trace line by line.
type Reader struct {
	header   Header
	lines    lineReader
	close    func()
	owners   owners
	takes    sizes
	ended    bool          // an end was read
	started  bool          // a baseline was read
	sampled  model.Instant // the latest sample
	over     bool          // there is nothing more to read
	strict   bool          // no unknown field was seen yet
	doubted  bool          // bytes were seen that do not follow from the header
	warnings []string
}

// NewReader reads the header of a trace, compressed or not. A newer schema, and a header that is cut off or makes
// no sense, is an error.
func NewReader(in io.Reader) (*Reader, error) {
	text, closeText, err := decompressor(in)
	if err != nil {
		return nil, err
	}
	r := &Reader{lines: lineReader{in: text}, close: closeText, owners: owners{}, strict: true}
	if err := r.readHeader(); err != nil {
		closeText()
		return nil, err
	}
	return r, nil
}

// Header returns the first line.
func (r *Reader) Header() *Header { return &r.header }

// Warnings returns what was noticed so far and survived: fields that this version does not know, a last line that
// was cut off, a missing end.
func (r *Reader) Warnings() []string { return r.warnings }

// Close releases what reading took; it does not close the reader that NewReader was given.
func (r *Reader) Close() { r.close() }

func (r *Reader) readHeader() error {
	line, whole, err := r.lines.next()
	if err == io.EOF && r.lines.cut {
		return r.fault(errors.New("the header is in a compressed block that is cut off: there is nothing to read"))
	}
	if err == io.EOF {
		return errors.New("trace: is empty: its first line must be a header")
	}
	if err != nil {
		return r.fault(err)
	}
	var version struct {
		Schema int `json:"schema"`
	}
	err = json.NewDecoder(bytes.NewReader(line)).Decode(&version)
	switch {
	case !whole && errors.Is(err, io.ErrUnexpectedEOF):
		return r.fault(errors.New("the header is cut off: there is nothing to read"))
	case err != nil || version.Schema < 1:
		return r.fault(fmt.Errorf(`is not a header: it must be an object with "schema":%d`, Schema))
	case version.Schema > Schema:
		return r.fault(fmt.Errorf("schema %d is newer than %d, the newest that this version reads", version.Schema, Schema))
	}
	view := viewHeader(&r.header)
	if err := r.decode(line, view); err != nil {
		return r.fault(err)
	}
	if err := view.check(); err != nil {
		return r.fault(err)
	}
	r.takes = r.header.sizes()
	return nil
}

// Next returns the next line. At the end of the trace the error is io.EOF; any other error says which line is
// wrong, and reading cannot go on.
func (r *Reader) Next() (Line, error) {
	if r.over {
		return Line{}, io.EOF
	}
	line, whole, err := r.lines.next()
	if err == io.EOF {
		return Line{}, r.finish()
	}
	if err == nil {
		var l Line
		if l, err = r.parse(line); err == nil {
			return l, nil
		}
		if !whole && errors.Is(err, io.ErrUnexpectedEOF) {
			r.warn("line %d is cut off and was left out", r.lines.number)
			return Line{}, r.finish()
		}
	}
	r.over = true
	return Line{}, r.fault(err)
}

func (r *Reader) finish() error {
	r.over = true
	if !r.ended {
		r.warn("the trace has no end: the run was cut off")
	}
	return io.EOF
}

func (r *Reader) warn(format string, args ...any) {
	r.warnings = append(r.warnings, "trace: "+fmt.Sprintf(format, args...))
}

func (r *Reader) fault(err error) error { return fmt.Errorf("trace: line %d: %w", r.lines.number, err) }

// Read reads a whole trace, compressed or not.
func Read(in io.Reader) (*Trace, error) {
	r, err := NewReader(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t := &Trace{Header: *r.Header()}
	for {
		l, err := r.Next()
		if err == io.EOF {
			t.Warnings = r.Warnings()
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case l.Step != nil:
			t.Records = append(t.Records, *l.Step)
		case l.Sample != nil:
			t.Samples = append(t.Samples, *l.Sample)
		case l.Baseline != nil:
			t.Baseline = l.Baseline
		case l.End != nil:
			t.End = l.End
		}
	}
}
