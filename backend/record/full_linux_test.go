package record_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"headroom/backend/record"
)

// A disk that is full at once gets no file, and one that is full later keeps what can be read.
func TestAFullDiskKeepsNoEmptyTrace(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("NOT TESTED: a small disk cannot be mounted here (%v). To run it, as root: go test -run TestAFullDiskKeepsNoEmptyTrace ./backend/record", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	spec := smallSpec(t)
	spec.Device, spec.Kinds = record.Virtual, nil
	spec.Profile = bytes.ReplaceAll([]byte(slowProfile), []byte("10h"), []byte("1ms"))
	spec.Workload.Shares[0].Jobs = 1000
	o := options(t)
	o.Trace = filepath.Join(disk, "trace.jsonl")
	filler := filepath.Join(disk, "filler")
	for _, c := range []struct {
		fill int
		left bool
	}{{64 << 10, false}, {32 << 10, true}} {
		if err := os.WriteFile(filler, make([]byte, c.fill), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := record.Run(t.Context(), spec, o); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("with %d bytes taken: error %v, want %v", c.fill, err, unix.ENOSPC)
		}
		if _, err := os.Stat(o.Trace); (err == nil) != c.left {
			t.Errorf("with %d bytes taken a trace is left: %t, want %t", c.fill, err == nil, c.left)
		}
	}
}
