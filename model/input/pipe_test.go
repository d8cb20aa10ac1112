//go:build linux

package input

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAPipeWithoutAWriterIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, name); err == nil || !strings.HasSuffix(err.Error(), "is a pipe to which nobody writes: name a file, or begin to write first") {
		t.Errorf("error %v", err)
	}
	// One that is open for reading and writing is open at once, and is a writer from then on.
	writer, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	go func() {
		fmt.Fprint(writer, "schema: 1\n")
		writer.Close()
	}()
	text := make([]byte, 10)
	if n, err := f.Read(text); string(text[:n]) != "schema: 1\n" || err != nil {
		t.Errorf("read %q, %v", text[:n], err)
	}
}

// A shell's process substitution and /dev/stdin are such paths.
func TestThePathOfAPipeIsReadToItsEnd(t *testing.T) {
	for _, text := range []string{"schema: 1\n", ""} {
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		fmt.Fprint(writer, text)
		writer.Close()
		got, err := read(t, fmt.Sprintf("/proc/self/fd/%d", reader.Fd()))
		if got != text || (err != nil) != (text == "") {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	}
}

// Of two that would write one file the second is refused, and what the first has written stays.
func TestAFileIsWrittenByOneAtATime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "trace")
	first, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(first, "one")
	if second, err := Create(name); err == nil || !strings.Contains(err.Error(), name+" is being written by another program") {
		t.Errorf("the second: %v, %v", second, err)
	}
	if text, err := os.ReadFile(name); string(text) != "one" || err != nil {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	third.Close()
}

// Writing to a named pipe does not wait for somebody who reads, neither before nor after it has begun.
func TestAPipeWithoutAReaderIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err := Create(name); err == nil || !strings.HasSuffix(err.Error(), "is a pipe from which nobody reads: name a file, or begin to read first") {
		t.Errorf("%v, %v", f, err)
	}
	reader, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, "schema: 1\n")
	text := make([]byte, 10)
	if n, err := reader.Read(text); string(text[:n]) != "schema: 1\n" || err != nil {
		t.Errorf("read %q, %v", text[:n], err)
	}
	reader.Close()
	if _, err := f.Write(make([]byte, 1<<20)); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("writing after the reader has gone: %v", err)
	}
}
