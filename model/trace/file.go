package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"headroom/model/input"
)

// Create makes or replaces the file, which nobody else may be writing, and writes the header. A name that ends in .zst
// asks for compression.
func Create(path string, h *Header) (*Writer, error) {
	file, err := input.Create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	var out io.Writer = file
	var pressed *zstd.Encoder
	if strings.HasSuffix(path, ".zst") {
		if pressed, err = zstd.NewWriter(file, zstd.WithEncoderConcurrency(1)); err != nil {
			return nil, errors.Join(fmt.Errorf("trace: %s: %w", path, err), file.Close())
		}
		out = pressed
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

// maxWindow bounds what a compressed trace can make its reader allocate.
const maxWindow = 64 << 20

// decompressor returns the text of a trace, compressed or not, and what to close after reading.
func decompressor(in io.Reader) (*bufio.Reader, func(), error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	magic, err := buffered.Peek(4)
	if err != nil || !bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return buffered, func() {}, nil // too short for magic: the line reader says what is wrong
	}
	pressed := &counted{in: buffered}
	plain, err := zstd.NewReader(pressed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, fmt.Errorf("trace: %w", err)
	}
	return bufio.NewReaderSize(&unpacked{plain: plain, pressed: pressed}, 1<<16), plain.Close, nil
}

// counted counts the bytes that were read.
type counted struct {
	in io.Reader
	n  int64
}

// Read reads and counts.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

// unpacked is text that is decompressed. It ends with an error where there is so much more of it than of what it was
// compressed to that nothing but a wish to fill somebody's memory can have made it.
type unpacked struct {
	plain   io.Reader
	pressed *counted
	text    int64
}

// A trace of more than so much text is no more than so many times as large as when it is compressed. The traces that
// there are come to 14 times.
const (
	mostUnasked = 16 << 20
	mostRatio   = 1000
)

// Read reads text.
func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.plain.Read(p)
	u.text += int64(n)
	switch {
	case u.text > mostUnasked && u.text/mostRatio > u.pressed.n:
		return 0, fmt.Errorf("is part of %d bytes of text that were compressed to %d: no trace is more than %d times as large as when it is compressed",
			u.text, u.pressed.n, mostRatio)
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("is in compressed text that is damaged, from here on nothing can be read: %w", err)
	}
	return n, err
}

// ReadFile reads a whole trace. A named pipe to which nobody writes is an error.
func ReadFile(path string) (*Trace, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	t, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%w (in %s)", err, path)
	}
	return t, nil
}
