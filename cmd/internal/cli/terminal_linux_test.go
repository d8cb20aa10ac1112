package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal returns a terminal at which nobody looks.
func terminal(t *testing.T) *os.File {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("NOT TESTED: no terminal can be made here (%v). To run it, where there is a /dev/ptmx: "+
			"go test -run %s ./cmd/internal/cli", err, t.Name())
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetUint32(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	go io.Copy(io.Discard, screen) // ends with the screen
	return tty
}

// TestABarChangesNoResult runs commands with and without somebody who would see their bars.
func TestABarChangesNoResult(t *testing.T) {
	tty := terminal(t)
	inFolder(t)
	for _, args := range []string{
		"simulate drawn.yaml --trace t.jsonl", "simulate drawn.yaml --set seed=1..3", "risk drawn.yaml --replications 3",
		"explain drawn.yaml --replications 2", "explain drawn.yaml --set config.admission.permits=2,3 --replications 2",
		"stalls drawn.yaml", "check t.jsonl", "diagnose t.jsonl", "compare spread.yaml t.jsonl --replications 2",
		"calibrate t.jsonl --out p.yaml",
	} {
		var plain, seen, problems bytes.Buffer
		want := Run(t.Context(), &plain, &problems, strings.Fields(args))
		if got := Run(t.Context(), &seen, tty, strings.Fields(args)); got != want || seen.String() != plain.String() {
			t.Errorf("%s: exit code %d and %q, without a terminal %d and %q (%s)", args, got, &seen, want, &plain, &problems)
		}
	}
}
