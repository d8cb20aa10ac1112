// Package output writes result files: each at once or not at all, and never over something that is of another sort.
package output

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"headroom/model/input"
	"headroom/model/profile"
	"headroom/model/strict"
)

// Partial returns where to write what becomes the file at path when it is complete: beside it, or path itself if
// that is there and no regular file, such as a pipe. The name does not grow with that of path, which may be as long as
// names can be, and keeps its end, which asks for compression.
func Partial(path string) string {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return path
	}
	end := filepath.Ext(path)
	if len(end) > 10 {
		end = ""
	}
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".headroom-%d%s", os.Getpid(), end))
}

// Replace writes a file at once or not at all.
func Replace(path string, data []byte) error {
	partial := Partial(path)
	err := write(partial, data)
	if partial == path {
		return err
	}
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		os.Remove(partial)
	}
	return err
}

func write(path string, data []byte) error {
	f, err := input.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Same reports whether two paths are of one file that is there.
func Same(a, b string) bool {
	first, errA := os.Stat(a)
	second, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(first, second)
}

// Trace refuses, before anything runs, a path at which no trace can be written, and one that holds something else,
// such as the scenario itself: a trace replaces only a trace.
func Trace(path string) error {
	return target(path, "trace", func(f io.Reader) (bool, error) {
		start := make([]byte, len(traceStart))
		n, err := io.ReadFull(f, start)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		start = start[:n]
		return bytes.HasPrefix(start, []byte(traceStart)) || bytes.HasPrefix(start, []byte(zstdStart)), err
	})
}

// How traces begin, and how compressed ones do.
const (
	traceStart = `{"schema":`
	zstdStart  = "\x28\xb5\x2f\xfd"
)

// Profile refuses, before anything is fitted, a path at which no profile can be written, and one that holds something
// else: a profile replaces only a profile.
func Profile(path string) error {
	return target(path, "profile", func(f io.Reader) (bool, error) {
		data, err := io.ReadAll(io.LimitReader(f, strict.MaxSize+1))
		if err != nil {
			return false, err
		}
		_, wrong := profile.Read(data, path)
		return wrong == nil, nil
	})
}

// target refuses a path at which no file can be written, and a file that is not what is to be written there.
func target(path, what string, is func(io.Reader) (bool, error)) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writableFolder(filepath.Dir(path))
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder: name a file in it", path)
	case !info.Mode().IsRegular() || info.Size() == 0:
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := input.Lock(f); err != nil {
		return err
	}
	same, err := is(f)
	if err == nil && !same {
		err = fmt.Errorf("%s is there and is no %s: name another file, or remove it first", path, what)
	}
	return err
}

// writableFolder reports why no file can be made in a folder.
func writableFolder(dir string) error {
	f, err := os.CreateTemp(dir, ".headroom-*")
	if err != nil {
		if wrapped := errors.Unwrap(err); wrapped != nil {
			err = wrapped // without the name of a file that nobody asked for
		}
		return fmt.Errorf("no file can be made in %s: %w", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
