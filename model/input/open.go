// Package input opens the files that a person names, to be read and to be written.
package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a file for reading. Opening a named pipe does not wait for somebody who writes to it: if there is nobody,
// reading is an error that says so.
func Open(name string) (io.ReadCloser, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		return f, nil
	}
	return &pipe{File: f}, nil
}

// pipe is the reading end of a pipe.
type pipe struct {
	*os.File
	read bool // something was
}

// Read reads what was written. A pipe that ends before anything was has no writer.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	p.read = p.read || n > 0
	if errors.Is(err, io.EOF) && !p.read {
		err = fmt.Errorf("%s is a pipe to which nobody writes: name a file, or begin to write first", p.Name())
	}
	return n, err
}
