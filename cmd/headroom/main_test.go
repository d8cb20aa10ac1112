package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the commands print into the scripts and the manual; read the difference before committing it")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"headroom": main})
}

// TestScripts runs the scripts in testdata/script, each in a folder of its own that holds testdata/scenarios and
// testdata/traces. H200 is where the recordings of cards are.
func TestScripts(t *testing.T) {
	data, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	cards, err := filepath.Abs("../../testdata/h200")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("H200", cards)
			return errors.Join(
				os.CopyFS(env.WorkDir, os.DirFS(filepath.Join(data, "scenarios"))),
				os.CopyFS(env.WorkDir, os.DirFS(filepath.Join(data, "traces"))))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"same":  same,
			"holds": holds,
			"edit":  edit,
			"cut":   cut,
		},
	})
}

// exits runs a command that must end with an exit code: exits 3 headroom simulate early.yaml.
func exits(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		ts.Fatalf("usage: exits code command [arguments]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitCode(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// exitCode runs a command and returns its exit code.
func exitCode(ts *testscript.TestScript, args []string) int {
	var exit *exec.ExitError
	switch err := ts.Exec(args[0], args[1:]...); {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		ts.Check(err)
	}
	return 0
}

// same runs a command that must end with an exit code on one, two and seven processors, and on seven again, and compares
// the bytes that it prints and those of the files that it writes: same 4 fitted.yaml headroom calibrate run.jsonl --out fitted.yaml.
func same(ts *testscript.TestScript, negated bool, args []string) {
	command := slices.Index(args, "headroom")
	if negated || command < 1 {
		ts.Fatalf("usage: same code [files] headroom [arguments]")
	}
	code, files := args[0], append([]string{"stdout", "stderr"}, args[1:command]...)
	first := map[string]string{}
	for _, processors := range []string{"1", "2", "7", "7"} {
		ts.Setenv("GOMAXPROCS", processors)
		if got := strconv.Itoa(exitCode(ts, args[command:])); got != code {
			ts.Fatalf("exit code %s, want %s", got, code)
		}
		for _, name := range files {
			text := ts.ReadFile(name)
			if before, ran := first[name]; !ran {
				first[name] = text
			} else if diff := cmp.Diff(before, text); diff != "" {
				ts.Fatalf("on %s processors %s differs (-on one +now):\n%s", processors, name, diff)
			}
		}
	}
	if first["stdout"] == "" {
		ts.Fatalf("nothing was printed, so that nothing was compared")
	}
}

// edit copies a file with the first occurrence of a text replaced: edit in.jsonl old new out.jsonl.
func edit(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 4 {
		ts.Fatalf("usage: edit file old new copy")
	}
	before := ts.ReadFile(args[0])
	after := strings.Replace(before, args[1], args[2], 1)
	if before == after {
		ts.Fatalf("%s does not contain %s", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(after), 0o644))
}

// cut copies the first bytes of a file: cut in.jsonl 3000 out.jsonl.
func cut(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 3 {
		ts.Fatalf("usage: cut file bytes copy")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[0])[:n]), 0o644))
}
