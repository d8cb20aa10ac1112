package output_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"headroom/cmd/internal/output"
)

func TestAFileIsReplacedAtOnceOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result")
	for _, text := range []string{"first", "second"} {
		if err := output.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file holds %q, %v; want %q", got, err, text)
		}
	}
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, filepath.Join(dir, "missing", "result")} {
		if err := output.Replace(path, nil); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v; want the result and the folder", left, err)
	}
}

// A name may be as long as names can be; what is written first has none that is longer, and keeps its end.
func TestLongNamesAreWritten(t *testing.T) {
	for _, name := range []string{strings.Repeat("a", 251) + ".zst", "a." + strings.Repeat("b", 253)} {
		path := filepath.Join(t.TempDir(), name)
		if err := output.Replace(path, []byte("text")); err != nil {
			t.Error(err)
		}
		if partial := output.Partial(path); strings.HasSuffix(path, ".zst") != strings.HasSuffix(partial, ".zst") {
			t.Errorf("%s is written first as %s", path, partial)
		}
	}
}

func TestAResultReplacesOnlyItsSort(t *testing.T) {
	const profile = "schema: 1\nname: p\nbaseline: 1MiB\nkinds: {a: {partitions: 1, " +
		"work: {synth: {law: constant, mean: 1s}, kernel: {law: constant, mean: 1s}}, footprint: {vectors: 1GiB}}}\n"
	dir := t.TempDir()
	for _, c := range []struct {
		text           string
		trace, profile bool // may be replaced by one
	}{
		{"", true, true},
		{`{"schema":1,"tool":"x"}`, true, false},
		{"\x28\xb5\x2f\xfd, and more that nobody reads", true, false},
		{"{", false, false},
		{"schema: 1\ntitle: a scenario\n", false, false},
		{profile, false, true},
	} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := output.Trace(path); (err == nil) != c.trace {
			t.Errorf("a trace in place of %.40q: %v", c.text, err)
		}
		if err := output.Profile(path); (err == nil) != c.profile {
			t.Errorf("a profile in place of %.40q: %v", c.text, err)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != c.text {
			t.Errorf("%.40q has become %.40q, %v", c.text, left, err)
		}
	}
	if err := output.Trace(filepath.Join(dir, "missing", "file")); err == nil || strings.Contains(err.Error(), ".headroom-") {
		t.Errorf("in a missing folder: %v", err)
	}
}
