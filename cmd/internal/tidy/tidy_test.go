// Package tidy holds the tests of the repository's shape: which package may import which, what the pure packages may
// not touch, and that everything exported is documented.
package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the path in go.mod.
const module = "headroom"

// file is a Go file of the repository.
type file struct {
	path    string // from the root, with slashes
	test    bool
	syntax  *ast.File
	imports map[string]string // from the name in the file to the path
}

// folder returns the folder of the file's package.
func (f *file) folder() string { return path.Dir(f.path) }

// top returns the top folder.
func (f *file) top() string { return strings.SplitN(f.path, "/", 2)[0] }

var fset = token.NewFileSet()

// files returns every Go file of the repository, sorted by path.
func files(t *testing.T) []*file {
	t.Helper()
	list, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 50 {
		t.Fatalf("only %d files found", len(list))
	}
	return list
}

var repository = sync.OnceValues(func() ([]*file, error) {
	root := filepath.Join("..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return nil, err
	}
	var list []*file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := read(name, filepath.ToSlash(relative))
		list = append(list, f)
		return err
	})
	return list, err
})

func read(name, relative string) (*file, error) {
	syntax, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &file{path: relative, test: strings.HasSuffix(name, "_test.go"), syntax: syntax, imports: map[string]string{}}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		f.imports[name] = imported
	}
	return f, nil
}

// imports maps each top folder to those of ours that its packages may import besides their own, and why no others.
var imports = map[string]struct {
	allowed []string
	reason  string
}{
	"model":     {nil, "it is the pipeline itself, which every driver shares and none may change"},
	"sim":       {[]string{"model"}, "a prediction must need neither a GPU nor a clock"},
	"backend":   {[]string{"model"}, "a live prover must not carry the simulator, and must not be steered by it"},
	"calibrate": {[]string{"model", "sim"}, "it reads traces and must run on a laptop without cgo and without a prover"},
	"scenarios": {[]string{"model"}, "a scenario says what is asked, and must not depend on who answers"},
	"cmd":       {[]string{"model", "sim", "backend", "calibrate", "scenarios"}, "it is above everything and below nothing"},
}

// TestImportDirection holds the direction of imports between the top folders. Tests may look wherever they like.
func TestImportDirection(t *testing.T) {
	for _, f := range files(t) {
		rule, known := imports[f.top()]
		if !known {
			t.Errorf("%s: the folder %s has no rule here: which packages may it import?", f.path, f.top())
			continue
		}
		for _, imported := range f.imports {
			ours, is := strings.CutPrefix(imported, module+"/")
			top := strings.SplitN(ours, "/", 2)[0]
			if is && !f.test && top != f.top() && !slices.Contains(rule.allowed, top) {
				t.Errorf("%s imports %s: %s may import of ours %v: %s", f.path, imported, f.top(), rule.allowed, rule.reason)
			}
		}
	}
}

// TestTestingKitIsForTests keeps package modeltest, and rapid with it, out of what users build.
func TestTestingKitIsForTests(t *testing.T) {
	for _, f := range files(t) {
		for _, imported := range f.imports {
			if imported == module+"/model/modeltest" && !f.test {
				t.Errorf("%s imports %s: only tests may, since it brings rapid with it", f.path, imported)
			}
		}
	}
}

// ban is something that some folders may not use.
type ban struct {
	folders []string
	what    []string // packages, or functions as package.Name
	reason  string
	except  map[string]string // file or folder to the reason why it may
}

var pure = []string{"model", "sim"}

var bans = []ban{
	{pure, []string{"os", "os/exec", "os/signal", "io/ioutil", "log", "log/slog", "syscall"}, "its results must depend on its arguments alone",
		map[string]string{"model/input": "it is where files are opened to be read and written"}},
	{pure, []string{"net", "net/http"}, "its results must depend on its arguments alone", nil},
	{pure, []string{"sync", "sync/atomic", "runtime", "context"}, "the core has one owner; who shares it brings his own locks",
		map[string]string{"sim/replicate.go": "replications are independent runs on all processors, and their order does not show in the result"}},
	{pure, []string{"math/rand", "math/rand/v2", "crypto/rand"}, "draws are a function of seed, job and partition, so that two configurations see the same ones (model/stream)", nil},
	{pure, []string{
		"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTicker", "time.NewTimer",
	}, "time is what its driver says it is", nil},
	{[]string{"model", "sim", "backend", "calibrate", "scenarios"}, []string{"os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln"},
		"libraries return errors, and only commands end the program", nil},
	{[]string{"model", "sim", "calibrate", "scenarios"}, []string{"C", "unsafe"}, "it must build everywhere without cgo", nil},
}

// TestBans holds what the packages may not use. Tests may.
func TestBans(t *testing.T) {
	used := map[string]bool{}
	for _, f := range files(t) {
		if f.test {
			continue
		}
		uses := f.uses()
		for i := range bans {
			b := &bans[i]
			if !slices.Contains(b.folders, f.top()) {
				continue
			}
			for _, use := range uses {
				switch {
				case !slices.Contains(b.what, use):
				case b.except[f.path] != "":
					used[f.path] = true
				case b.except[f.folder()] != "":
					used[f.folder()] = true
				default:
					t.Errorf("%s uses %s: %s", f.path, use, b.reason)
				}
			}
		}
	}
	for _, b := range bans {
		for name := range b.except {
			if !used[name] {
				t.Errorf("%s is excepted from a ban on %v and uses none of them", name, b.what)
			}
		}
	}
}

// uses returns the packages that the file imports, and what it selects of them as package.Name.
func (f *file) uses() []string {
	list := slices.Sorted(maps.Values(f.imports))
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && f.imports[x.Name] != "" {
				list = append(list, f.imports[x.Name]+"."+s.Sel.Name)
			}
		}
		return true
	})
	return list
}

// TestNoGoroutines keeps goroutines out of the pure packages but for replications, which sync.WaitGroup starts.
func TestNoGoroutines(t *testing.T) {
	for _, f := range files(t) {
		if f.test || !slices.Contains(pure, f.top()) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: a goroutine: the order of its steps would not be the same in every run", fset.Position(g.Pos()))
			}
			return true
		})
	}
}

// TestPackageComments demands one package comment a package; a package of tests has it in a test.
func TestPackageComments(t *testing.T) {
	code := map[string]bool{} // folders with more than tests
	for _, f := range files(t) {
		code[f.folder()] = code[f.folder()] || !f.test
	}
	commented := map[string][]string{}
	for _, f := range files(t) {
		if f.syntax.Doc != nil && f.test != code[f.folder()] {
			commented[f.folder()] = append(commented[f.folder()], f.path)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(code)) {
		if list := commented[folder]; len(list) != 1 {
			t.Errorf("%s has %d package comments (%s): one is right", folder, len(list), strings.Join(list, ", "))
		}
	}
}

// TestDocComments demands a comment on everything exported. In a group of constants or variables the group's will do.
func TestDocComments(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s is exported and has no comment", fset.Position(d.Pos()), name)
			}
		}
	}
}

// undocumented returns the exported names that a declaration leaves without a comment.
func undocumented(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || ast.IsExported(typeName(d.Recv.List[0].Type))) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var list []string
		for _, s := range d.Specs {
			list = append(list, undocumentedSpec(s, d.Doc)...)
		}
		return list
	}
	return nil
}

func undocumentedSpec(s ast.Spec, group *ast.CommentGroup) []string {
	var list []string
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && group == nil {
			list = append(list, s.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() && s.Doc == nil && s.Comment == nil && group == nil {
				list = append(list, name.Name)
			}
		}
	}
	return list
}

// typeName returns the name of a receiver's type without its star and its parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return ""
}
