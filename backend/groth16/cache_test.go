package groth16

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"headroom/model"
)

// logged collects what slog says during a test.
func logged(t *testing.T) *bytes.Buffer {
	var b bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	return &b
}

// keyFile makes keys in a directory of their own and returns the file's path and content.
func keyFile(t *testing.T) (path string, content []byte) {
	t.Helper()
	dir := t.TempDir()
	if _, err := OpenKeys(t.Context(), dir, model.Circuit(smallest(MiMC)), nil); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.keys"))
	if err != nil || len(found) != 1 {
		t.Fatalf("key files %q, error %v", found, err)
	}
	content, err = os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return found[0], content
}

func TestDamagedKeyFilesAreRecognized(t *testing.T) {
	path, good := keyFile(t)
	replace := func(old, new string) func([]byte) []byte {
		return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
	}
	damages := map[string]func([]byte) []byte{
		"nothing":               func(b []byte) []byte { return nil },
		"a header alone":        func(b []byte) []byte { return b[:headerSize] },
		"a byte short":          func(b []byte) []byte { return b[:len(b)-1] },
		"a byte too long":       func(b []byte) []byte { return append(b, 0) },
		"a header of zeros":     func(b []byte) []byte { clear(b[:headerSize]); return b },
		"another format":        replace(`"format":1`, `"format":2`),
		"another circuit":       replace(`"depth":1`, `"depth":2`),
		"another gnark version": replace(`"gnark":"0.16`, `"gnark":"0.99`),
	}
	for at := headerSize; at < len(good); at += len(good) / 9 {
		damages[fmt.Sprintf("byte %d changed", at)] = func(b []byte) []byte { b[at] ^= 0x10; return b }
	}
	for name, damage := range damages {
		if err := os.WriteFile(path, damage(bytes.Clone(good)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := new(Keys).read(path, smallest(MiMC).header()); !errors.Is(err, errDamaged) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestDamagedKeysAreBuiltAgainWithAWarning(t *testing.T) {
	path, good := keyFile(t)
	log := logged(t)
	if err := os.WriteFile(path, good[:len(good)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	var found [2]string
	for i := range found {
		keys, err := OpenKeys(t.Context(), filepath.Dir(path), model.Circuit(smallest(MiMC)), nil)
		if err != nil {
			t.Fatal(err)
		}
		found[i] = fingerprint(t, keys)
	}
	if found[0] != found[1] {
		t.Error("the keys that were built are not those that are kept")
	}
	if n := strings.Count(log.String(), "keys are built again"); n != 1 {
		t.Errorf("%d warnings, should be one: %q", n, log)
	}
}

func TestAFolderInPlaceOfACachedFileIsNamed(t *testing.T) {
	path, _ := keyFile(t)
	for _, file := range []string{path, path + ".lock"} {
		if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o755)); err != nil {
			t.Fatal(err)
		}
		_, err := OpenKeys(t.Context(), filepath.Dir(path), model.Circuit(smallest(MiMC)), nil)
		if want := file + " is a folder"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func fingerprint(t testing.TB, k *Keys) string {
	t.Helper()
	var b strings.Builder
	if _, err := k.checks.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const childDir = "GROTH16_TEST_OPEN_KEYS"

// openInChild makes this process a child that opens keys and prints the verifying key, if it was started as one.
func openInChild() {
	dir := os.Getenv(childDir)
	if dir == "" {
		return
	}
	k, err := OpenKeys(context.Background(), dir, model.Circuit(smallest(MiMC)), nil)
	if err == nil {
		_, err = k.checks.WriteTo(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func TestProcessesAndGoroutinesThatOpenKeysAtOnceShareThem(t *testing.T) {
	dir := t.TempDir()
	found := make([]string, 6)
	var wg sync.WaitGroup
	for i := range found {
		wg.Go(func() {
			if i%2 == 0 {
				k, err := OpenKeys(t.Context(), dir, model.Circuit(smallest(MiMC)), nil)
				if err != nil {
					t.Error(err)
					return
				}
				found[i] = fingerprint(t, k)
				return
			}
			child := exec.CommandContext(t.Context(), os.Args[0])
			child.Env = append(os.Environ(), childDir+"="+dir)
			child.Stderr = os.Stderr
			out, err := child.Output()
			if err != nil {
				t.Error(err)
			}
			found[i] = string(out)
		})
	}
	wg.Wait()
	for i := range found {
		if found[i] == "" || found[i] != found[0] {
			t.Errorf("opener %d has other keys than opener 0", i)
		}
	}
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	full := errors.New("no space left on device")
	path := filepath.Join(t.TempDir(), "x")
	load := func() error { _, err := os.Stat(path); return err }
	build := func(f *os.File) error {
		if _, err := io.WriteString(f, "half of"); err != nil {
			return err
		}
		return full
	}
	// What a killed process left goes too.
	if err := os.WriteFile(path+".tmp-123", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := cached(t.Context(), path, load, build, func(error) { t.Error("a warning") })
	if !errors.Is(err, full) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q", err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(left) != 1 || left[0] != path+".lock" {
		t.Errorf("left %q, error %v", left, err)
	}
}

func TestWaitingForTheCacheEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	unlock, err := lock(t.Context(), path+".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = cached(ctx, path, func() error { return fs.ErrNotExist }, nil, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestDataIsReadWholeAndRebuiltWhenShort(t *testing.T) {
	dir, size := t.TempDir(), smallest(MiMC).Data
	read := func() []byte {
		f, err := openData(t.Context(), dir, size)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := read()
	log := logged(t)
	if err := os.Truncate(filepath.Join(dir, fmt.Sprintf("data-%d.bin", size)), 100); err != nil {
		t.Fatal(err)
	}
	if got := read(); !bytes.Equal(got, want) || len(got) != int(size) {
		t.Errorf("%d bytes, should be the %d that were there", len(got), len(want))
	}
	if !strings.Contains(log.String(), "data file is built again") {
		t.Errorf("no warning but %q", log)
	}
}

func TestSynthesisOfACancelledContextHoldsNothing(t *testing.T) {
	p := openProver(t, smallest(MiMC), Threads{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if part, err := p.Synthesize(ctx, 0, 0); part != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("partition %v, error %v", part, err)
	}
}

func FuzzKeyHeader(f *testing.F) {
	for _, family := range []string{MiMC, SHA256} {
		h := smallest(family).header()
		h.Payload, h.SHA256 = 1, strings.Repeat("0", 64)
		line, err := h.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte("{}\n"))
	f.Add([]byte(strings.Repeat(" ", headerSize-1) + "\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		h, err := decodeKeyHeader(line)
		if err != nil {
			if !errors.Is(err, errDamaged) {
				t.Errorf("error %v would not have the keys rebuilt", err)
			}
			return
		}
		again, err := h.encode()
		if err != nil {
			return // a header of long strings has no line of its own
		}
		if back, err := decodeKeyHeader(again); err != nil || back != h {
			t.Errorf("%+v comes back as %+v, error %v", h, back, err)
		}
	})
}
