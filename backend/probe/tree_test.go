package probe

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plant writes files, each after a line "-- path --", below a new directory, with proc/self pointing to self.
func plant(t testing.TB, self string, texts ...string) Root {
	t.Helper()
	root := t.TempDir()
	for _, text := range texts {
		for _, part := range strings.Split("\n"+text, "\n-- ")[1:] {
			name, content, found := strings.Cut(part+"\n", " --\n")
			if !found {
				t.Fatalf("no file name in %q", part)
			}
			write(t, Root(root).path(name), content)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "proc", self), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(root, "proc/self")); err != nil {
		t.Fatal(err)
	}
	return Root(root)
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plantFile plants a tree that was copied from a machine.
func plantFile(t testing.TB, self, file string) Root {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return plant(t, self, strings.TrimSuffix(string(text), "\n"))
}

// dirs returns the directories of the groups, relative to the root.
func dirs(r Root, groups []Group) []string {
	var names []string
	for _, g := range groups {
		names = append(names, strings.TrimPrefix(g.Dir, string(r)))
	}
	return names
}
