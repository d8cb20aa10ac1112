package cuda

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestProgramsCompile holds that the programs that need a card still fit the library's interface and the headers.
func TestProgramsCompile(t *testing.T) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("NOT TESTED, no g++: the programs of cuda/test are not compiled. " +
			"To run it: apt-get install g++ && go test ./backend/device/cuda")
	}
	for _, name := range []string{"check.cc", "bench.cc"} {
		source := filepath.Join("..", "..", "..", "cuda", "test", name)
		command := exec.Command(compiler, append(slices.Clone(compilerFlags), "-fsyntax-only", source)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", command, err, out)
		}
	}
}
