package input

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesAreMadeAndEmptied(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.yaml")
	for _, text := range []string{"a long text", "a text"} {
		f, err := Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); string(got) != text || err != nil {
			t.Errorf("%q was written, and %q, %v is read", text, got, err)
		}
	}
	for _, name := range []string{t.TempDir(), filepath.Join(t.TempDir(), "lost", "file")} {
		if f, err := Create(name); err == nil {
			f.Close()
			t.Errorf("%s was opened for writing", name)
		}
	}
}
