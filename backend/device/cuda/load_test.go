//go:build linux && cgo

package cuda

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// library compiles a shared library from C source.
func library(t *testing.T, source string) string {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("NOT TESTED, no gcc: loading is not tested. To run it: apt-get install gcc && go test ./backend/device/cuda")
	}
	path := filepath.Join(t.TempDir(), fileName)
	command := exec.Command(compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", path)
	command.Stdin = strings.NewReader(source)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	const newer = "#include <stdint.h>\nuint32_t hr_abi(void) { return 99; }"
	const partial = "#include <stdint.h>\nuint32_t hr_abi(void) { return 2; }"
	for name, c := range map[string]struct {
		path string
		want []string
	}{
		"absent":      {"/nowhere/" + fileName, []string{"/nowhere/", "as asked for", "make -C cuda"}},
		"another ABI": {library(t, newer), []string{"ABI 99", "wants 2", "make -C cuda"}},
		"no library":  {library(t, "int x;"), []string{"hr_abi"}},
		"functions":   {library(t, partial), []string{"hr_open"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(c.path)
			if err == nil {
				t.Fatal("loaded")
			}
			for _, word := range c.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q should say %q", err, word)
				}
			}
		})
	}
}

func TestLoadLooksInOrder(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(Environment, "/from/environment.so")
	if path, origin, err := find("/asked.so", folder); path != "/asked.so" || origin != "as asked for" || err != nil {
		t.Errorf("with a path: %q %q %v", path, origin, err)
	}
	if path, _, err := find("", folder); path != "/from/environment.so" || err != nil {
		t.Errorf("with the environment: %q %v", path, err)
	}
	t.Setenv(Environment, "")
	if _, _, err := find("", folder); err == nil || !strings.Contains(err.Error(), Environment) {
		t.Errorf("with neither: %v", err)
	}
	beside := filepath.Join(folder, fileName)
	if err := os.WriteFile(beside, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if path, _, err := find("", folder); path != beside || err != nil {
		t.Errorf("beside the binary: %q %v", path, err)
	}
}
