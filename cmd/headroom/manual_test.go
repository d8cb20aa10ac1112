package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/cmd/internal/cli"
	"headroom/cmd/internal/render"
	"headroom/model"
)

// example is a command in the manual and the lines that it prints.
var example = regexp.MustCompile(`(?m)^//\t\$ headroom (.*)\n(?:(?://\n)*//\t[^$\n].*\n)*`)

// TestManual runs every command in the manual, which is the package comment, and compares what it prints with the
// lines below it.
func TestManual(t *testing.T) {
	const file = "doc.go"
	manual, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	printed := example.ReplaceAllStringFunc(string(manual), func(found string) string {
		commands++
		command, _, _ := strings.Cut(found, "\n")
		_, args, _ := strings.Cut(command, "$ headroom ")
		return command + "\n" + comment(output(strings.Fields(args)))
	})
	if commands == 0 {
		t.Fatalf("%s has no commands", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(printed), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(manual), printed); diff != "" {
		t.Errorf("the commands do not print what the manual says (-manual +printed); go test -update rewrites it:\n%s", diff)
	}
}

// TestManualNamesEveryKey looks for the knobs of a configuration and the keys of a run's JSON.
func TestManualNamesEveryKey(t *testing.T) {
	manual, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		tag  string
		what reflect.Type
	}{{"yaml", reflect.TypeFor[model.Config]()}, {"json", reflect.TypeFor[render.Run]()}} {
		names := keys(of.what, of.tag)
		if len(names) < 15 {
			t.Fatalf("%v has the keys %v", of.what, names)
		}
		for _, name := range names {
			if !regexp.MustCompile(`\b` + name + `\b`).Match(manual) {
				t.Errorf("the manual does not name %s of %v", name, of.what)
			}
		}
	}
}

// keys returns the names that a type and those in it have in files.
func keys(typ reflect.Type, tag string) []string {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return keys(typ.Elem(), tag)
	case reflect.Struct:
	default:
		return nil
	}
	var names []string
	for i := range typ.NumField() {
		f := typ.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get(tag), ","); name != "" && name != "-" {
			names = append(append(names, name), keys(f.Type, tag)...)
		}
	}
	return names
}

// output returns what a command prints, and its exit code if that is not 0.
func output(args []string) string {
	var out bytes.Buffer
	if code := cli.Run(context.Background(), &out, &out, args); code != cli.OK {
		fmt.Fprintf(&out, "exit status %d\n", code)
	}
	return out.String()
}

// comment writes text as the code of a comment.
func comment(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			line = "\t" + line
		}
		b.WriteString("//" + line)
	}
	return b.String()
}
