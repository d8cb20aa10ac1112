package input

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, name string) (string, error) {
	t.Helper()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return string(data), err
}

func TestFilesAreRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.yaml")
	for _, text := range []string{"", "schema: 1\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := read(t, name); got != text || err != nil {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "lost")); !os.IsNotExist(err) {
		t.Errorf("a file that there is not: %v", err)
	}
}

func TestAFolderIsNotRead(t *testing.T) {
	if _, err := read(t, t.TempDir()); err == nil || strings.Contains(err.Error(), "pipe") {
		t.Errorf("error %v", err)
	}
}
