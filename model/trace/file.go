package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Create makes or replaces the file and writes the header. A name that ends in .zst asks for compression.
func Create(path string, h *Header) (*Writer, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	out, pressed, err := compressor(file, path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("trace: %s: %w", path, err), file.Close())
	}
	w, err := NewWriter(out, h)
	w.closers = []io.Closer{file}
	if pressed != nil {
		w.closers = []io.Closer{pressed, file}
		w.flusher = pressed
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// compressor returns what to write to for the file of that name; pressed is nil if nothing is compressed.
func compressor(file io.Writer, path string) (out io.Writer, pressed *zstd.Encoder, err error) {
	if !strings.HasSuffix(path, ".zst") {
		return file, nil, nil
	}
	pressed, err = zstd.NewWriter(file, zstd.WithEncoderConcurrency(1))
	return pressed, pressed, err
}

// maxWindow bounds what a compressed trace can make its reader allocate.
const maxWindow = 64 << 20

// decompressor returns the text of a trace, compressed or not, and what to close after reading.
func decompressor(in io.Reader) (*bufio.Reader, func(), error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	magic, err := buffered.Peek(4)
	if err != nil || !bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return buffered, func() {}, nil // too short for magic: the line reader says what is wrong
	}
	plain, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, fmt.Errorf("trace: %w", err)
	}
	return bufio.NewReaderSize(plain, 1<<16), plain.Close, nil
}

// ReadFile reads a whole trace.
func ReadFile(path string) (*Trace, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer file.Close()
	t, err := Read(file)
	if err != nil {
		return nil, fmt.Errorf("%w (in %s)", err, path)
	}
	return t, nil
}

// Finish gives an end to the trace of a run whose writer was killed: it keeps the whole lines of the file, drops a
// line that was cut off, and adds the end. The file is replaced at once or not at all. A trace that has an end
// already is an error.
func Finish(path string, end End) error {
	old, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	defer old.Close()
	file, err := os.CreateTemp(filepath.Dir(path), ".trace-*")
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	err = finish(file, old, path, end)
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
		return fmt.Errorf("trace: ending %s: %w", path, err)
	}
	return nil
}

// finish copies a trace and its end into the file, which it closes.
func finish(file *os.File, old io.Reader, path string, end End) (err error) {
	w := &Writer{closers: []io.Closer{file}}
	defer func() {
		if closing := w.Close(); err == nil {
			err = closing
		}
	}()
	out, pressed, err := compressor(file, path)
	w.out = bufio.NewWriter(out)
	if err != nil {
		return err
	}
	if pressed != nil {
		w.closers = []io.Closer{pressed, file}
	}
	text, closeText, err := decompressor(old)
	if err != nil {
		return err
	}
	defer closeText()
	lines := lineReader{in: text}
	for {
		line, whole, err := lines.next()
		if err == io.EOF || (err == nil && !whole) {
			return w.End(end)
		}
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte(`{"end":`)) {
			return fmt.Errorf("line %d is an end already", lines.number)
		}
		if err := w.write(line); err != nil {
			return err
		}
	}
}
