package tidy

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// section returns the lines of a section of ARCHITECTURE.md.
func section(t *testing.T, heading string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("ARCHITECTURE.md has no section %q", heading)
	}
	body, _, _ := strings.Cut(after, "\n## ")
	return strings.Split(body, "\n")
}

var quoted = regexp.MustCompile("`([^`]+)`")

// declared returns the names that a folder's code declares at the top level, methods as Type.method and without the type.
func declared(t *testing.T, folder string) map[string]bool {
	names := map[string]bool{}
	for _, f := range files(t) {
		if f.test || f.folder() != folder {
			continue
		}
		for _, d := range f.syntax.Decls {
			for _, name := range declares(d) {
				names[name] = true
			}
		}
	}
	return names
}

func declares(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		return []string{d.Name.Name, typeName(d.Recv.List[0].Type) + "." + d.Name.Name}
	case *ast.GenDecl:
		var list []string
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				list = append(list, s.Name.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					list = append(list, name.Name)
				}
			}
		}
		return list
	}
	return nil
}

// identifier is the name of a function, a method or a constant. Names of knobs have a point and begin small, or have
// an underscore.
var identifier = regexp.MustCompile(`^([a-z]+\.[A-Z]\w*\.\w+|[A-Z]\w*\.\w+|[A-Za-z]+)$`)

// TestWayOfOnePartition holds the names in the way of one partition against the code: those of package model are written
// without a package.
func TestWayOfOnePartition(t *testing.T) {
	packages := map[string]string{"work": "model/work", "cpu": "backend/device/cpu"}
	known := map[string]map[string]bool{}
	checked := 0
	for _, line := range section(t, "The way of one partition through the code") {
		for _, match := range quoted.FindAllStringSubmatch(line, -1) {
			name, folder := match[1], "model"
			if !identifier.MatchString(name) {
				continue
			}
			if before, after, _ := strings.Cut(name, "."); packages[before] != "" {
				folder, name = packages[before], after
			}
			if known[folder] == nil {
				known[folder] = declared(t, folder)
			}
			if checked++; !known[folder][name] {
				t.Errorf("ARCHITECTURE.md: %s: package %s declares no %s", strings.TrimSpace(line), folder, name)
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d names found", checked)
	}
}

// TestPackageTable holds the table of packages against the folders: each package of ours is in it, and each file that is
// to be opened first is there.
func TestPackageTable(t *testing.T) {
	var named []string
	for _, line := range section(t, "Packages") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 2 || !strings.Contains(cells[0], "`") {
			continue
		}
		var folders []string
		for _, match := range quoted.FindAllStringSubmatch(cells[0], -1) {
			folders = append(folders, match[1])
		}
		named = append(named, folders...)
		for _, name := range regexp.MustCompile(`[\w/]+\.(go|md)\b`).FindAllString(cells[1], -1) {
			if !slices.ContainsFunc(append(folders, "."), func(folder string) bool {
				_, err := os.Stat(filepath.Join("..", "..", "..", folder, name))
				return err == nil
			}) {
				t.Errorf("ARCHITECTURE.md: none of %s has a file %s", strings.Join(folders, ", "), name)
			}
		}
	}
	for _, folder := range named {
		if _, err := os.Stat(filepath.Join("..", "..", "..", folder)); err != nil {
			t.Errorf("ARCHITECTURE.md names the package %s, which is not there", folder)
		}
	}
	for _, f := range files(t) {
		if !slices.Contains(named, f.folder()) {
			t.Errorf("ARCHITECTURE.md: the package %s is not in the table", f.folder())
			named = append(named, f.folder())
		}
	}
}
