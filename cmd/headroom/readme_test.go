package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// consoleBlock is a command in the README and what it prints.
var consoleBlock = regexp.MustCompile("(?m)^```console\n\\$ headroom (.*)\n((?:[^`].*\n|\n)*)```$")

// TestReadme runs every console block of the README and compares what it prints.
func TestReadme(t *testing.T) {
	const file = "../../README.md"
	readme, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	printed := consoleBlock.ReplaceAllStringFunc(string(readme), func(found string) string {
		commands++
		args := consoleBlock.FindStringSubmatch(found)[1]
		return "```console\n$ headroom " + args + "\n" + output(strings.Fields(args)) + "```"
	})
	if commands == 0 {
		t.Fatal("the README shows no command")
	}
	if *update {
		if err := os.WriteFile(file, []byte(printed), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(readme), printed); diff != "" {
		t.Errorf("the commands do not print what the README says (-README +printed); go test -update rewrites it:\n%s", diff)
	}
}
