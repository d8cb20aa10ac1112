package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// partialPath returns where to write what becomes the file at path when it is complete: beside it, or path itself
// if that is there and no regular file, such as a pipe.
func partialPath(path string) string {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return path
	}
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%d-%s", os.Getpid(), filepath.Base(path)))
}

// replaceFile writes a file at once or not at all.
func replaceFile(path string, data []byte) error {
	partial := partialPath(path)
	err := os.WriteFile(partial, data, 0o644)
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

// sameFile reports whether two paths are of one file that is there.
func sameFile(a, b string) bool {
	first, errA := os.Stat(a)
	second, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(first, second)
}

// traceTarget refuses, before anything runs, a path at which no trace can be written, and one that holds something
// else, such as the scenario itself: a trace replaces only a trace.
func traceTarget(path string) error {
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
	start := make([]byte, len(traceStart))
	n, err := io.ReadFull(f, start)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if start = start[:n]; !bytes.HasPrefix(start, []byte(traceStart)) && !bytes.HasPrefix(start, []byte(zstdStart)) {
		return fmt.Errorf("%s is there and is no trace: name another file, or remove it first", path)
	}
	return nil
}

// How traces begin, and how compressed ones do.
const (
	traceStart = `{"schema":`
	zstdStart  = "\x28\xb5\x2f\xfd"
)

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
