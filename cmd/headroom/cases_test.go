package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asked is a command in the document of cases from the field, and what the document shows of its output.
var asked = regexp.MustCompile("(?m)^\\$ headroom (.*)\n(?:[^$`].*\n)*")

// TestFieldCases runs every command in the document and compares the verdict, which is the first line, and what is said
// of reservations.
func TestFieldCases(t *testing.T) {
	const file = "../../docs/field-cases.md"
	document, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	printed := asked.ReplaceAllStringFunc(string(document), func(found string) string {
		commands++
		args := asked.FindStringSubmatch(found)[1]
		verdict, rest, _ := strings.Cut(output(strings.Fields(args)), "\n")
		shown := "$ headroom " + args + "\n" + verdict + "\n"
		for line := range strings.Lines(rest) {
			if strings.HasPrefix(line, "- ") && strings.Contains(line, " reserve") {
				shown += line
			}
		}
		return shown
	})
	if commands == 0 {
		t.Fatal("the document shows no command")
	}
	if *update {
		if err := os.WriteFile(file, []byte(printed), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(document), printed); diff != "" {
		t.Errorf("%s says what the commands do not print (-document +printed); go test -update rewrites it:\n%s", file, diff)
	}
}
