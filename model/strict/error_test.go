package strict_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"headroom/model"
	"headroom/model/strict"
)

// sample has a value of every sort that Decode stores.
type sample struct {
	Word   string            `yaml:"word"`
	Whole  int               `yaml:"whole"`
	Seed   uint64            `yaml:"seed"`
	Ratio  float64           `yaml:"ratio"`
	Yes    bool              `yaml:"yes"`
	Size   model.Bytes       `yaml:"size"`
	Limit  model.Count       `yaml:"limit"`
	Inner  *struct{ inline } `yaml:"inner"`
	List   []int             `yaml:"list"`
	Named  map[string]int    `yaml:"named"`
	Hidden int
}

type inline struct {
	Span model.Span `yaml:"span"`
}

func decode(text string) (sample, error) {
	var s sample
	root, err := strict.Parse([]byte(text), "f.yaml")
	if err == nil {
		err = root.Decode(&s)
	}
	return s, err
}

func TestDecodeStoresWhatIsWrittenAndLeavesTheRest(t *testing.T) {
	root, err := strict.Parse([]byte("word: 12\nwhole: -3\nratio: 1e-3\nyes: true\nsize: 1.5GiB\nlimit: unbounded\n"+
		"inner: {span: 2s}\nlist: [1, 2]\nnamed: {a: 1}\n"), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := sample{Seed: 7}
	if err := root.Decode(&got); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintln(got.Word, got.Whole, got.Seed, got.Ratio, got.Yes, got.Size, got.Limit, got.Inner.Span, got.List, got.Named)
	if want := "12 -3 7 0.001 true 1536MiB unbounded 2s [1 2] map[a:1]\n"; text != want {
		t.Errorf("got %swant %s", text, want)
	}
}

func TestErrorsNameThePlaceAndWhatWouldBeRight(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an unknown key has a caret and the nearest key", "whole: 1\nratoi: 2\n", `
f.yaml:2:1: ratoi is not a key here: did you mean ratio? the keys are word, whole, seed, ratio, yes, size, limit, inner, list, named
    2 | ratoi: 2
      | ^`},
		{"a key far from all others has no suggestion", "Hidden: 1", `
f.yaml:1:1: Hidden is not a key here: the keys are word, whole, seed, ratio, yes, size, limit, inner, list, named
    1 | Hidden: 1
      | ^`},
		{"a key twice", "inner: {span: 1s, span: 2s}", `
f.yaml:1:19: inner.span is there twice, first in line 1: leave one
    1 | inner: {span: 1s, span: 2s}
      |                   ^`},
		{"a wrong unit", "size: 755Gib", `
f.yaml:1:7: size: model: size "755Gib": write a number and a unit of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB or TiB (powers of 1024), for example 755GiB
    1 | size: 755Gib
      |       ^`},
		{"every fault at once", "whole: x\nyes: 1\nlist: 3", `
f.yaml:1:8: whole is "x": a whole number
    1 | whole: x
      |        ^
f.yaml:2:6: yes is "1": true or false
    2 | yes: 1
      |      ^
f.yaml:3:7: list is "3": a list
    3 | list: 3
      |       ^`},
		{"an empty value", "whole:\n", `
f.yaml:1:1: whole is empty: give it a value or leave the key out
    1 | whole:
      | ^`},
		{"a number in quotes", `whole: "3"`, `
f.yaml:1:8: whole is the text "3": a whole number, without quotes
    1 | whole: "3"
      |        ^`},
		{"a number that is too large", "ratio: 1e309", `
f.yaml:1:8: ratio is "1e309": a number that fits into 64 bits
    1 | ratio: 1e309
      |        ^`},
		{"not a number", "ratio: .nan", `
f.yaml:1:8: ratio is ".nan": a number
    1 | ratio: .nan
      |        ^`},
		{"not a number as Go writes it", "ratio: NaN", `
f.yaml:1:8: ratio is "NaN": a number
    1 | ratio: NaN
      |        ^`},
		{"infinity", "ratio: Inf", `
f.yaml:1:8: ratio is "Inf": a number
    1 | ratio: Inf
      |        ^`},
		{"a negative seed", "seed: -1", `
f.yaml:1:7: seed is "-1": a whole number from 0
    1 | seed: -1
      |       ^`},
		{"a list for a map", "inner: [1]", `
f.yaml:1:8: inner is a list: a map with keys of span
    1 | inner: [1]
      |        ^`},
		{"a map for a word", "word: {a: 1}", `
f.yaml:1:7: word is a map: a text
    1 | word: {a: 1}
      |       ^`},
		{"a map for a size", "size: {a: 1}", `
f.yaml:1:7: size is a map: a value such as a word, a number or a size
    1 | size: {a: 1}
      |       ^`},
		{"a list for named values", "named: [1]", `
f.yaml:1:8: named is a list: a map from names to values
    1 | named: [1]
      |        ^`},
		{"a value deep inside", "list: [1, two]\nnamed:\n  a: b\n", `
f.yaml:1:11: list[1] is "two": a whole number
    1 | list: [1, two]
      |           ^
f.yaml:3:6: named.a is "b": a whole number
    3 |   a: b
      |      ^`},
		{"a place after letters that take two bytes", "word: éé\n\"é\": 1", `
f.yaml:2:1: é is not a key here: the keys are word, whole, seed, ratio, yes, size, limit, inner, list, named
    2 | "é": 1
      | ^`},
		{"a tab", "inner:\n\tspan: 1s", `
f.yaml:2:1: this is not YAML: found character '	' that cannot start any token
    2 | 	span: 1s
      | ^`},
		{"a bracket that does not close", "list: [1, 2\n", `
f.yaml:1:7: this is not YAML: sequence end token ']' not found
    1 | list: [1, 2
      |       ^`},
		{"nothing", "", "\nf.yaml:1:1: the document is empty\n    1 | \n      | ^"},
		{"only a comment", "# a", "\nf.yaml:1:1: the document is empty\n    1 | # a\n      | ^"},
		{"two documents", "whole: 1\n---\nwhole: 2", `
f.yaml:3:6: a second document begins: one for each file
    3 | whole: 2
      |      ^`},
		{"an anchor", "list: &a [1]\n", `
f.yaml:1:7: anchors and aliases (&) are not read here: write the value out
    1 | list: &a [1]
      |       ^`},
		{"a merge key", "<<: {whole: 1}", `
f.yaml:1:1: merge keys (<<) are not read here: write the keys out
    1 | <<: {whole: 1}
      | ^`},
		{"a tag", "word: !!str 1", `
f.yaml:1:7: tags (!!str) are not read here: leave it out
    1 | word: !!str 1
      |       ^`},
		{"a directive", "%YAML 1.2\n---\nwhole: 1", `
f.yaml:1:1: directives (%) are not read here: leave it out
    1 | %YAML 1.2
      | ^`},
		{"a long key", "? whole\n: 1", `
f.yaml:1:1: the long form of keys (?) is not read here: write key: value
    1 | ? whole
      | ^`},
		{"a map as a key", "{[a]: 1}", `
f.yaml:1:5: this is not YAML: found an invalid key for this map
    1 | {[a]: 1}
      |     ^`},
		{"the end of a long line is cut", "word: [" + strings.Repeat("a", 200) + "]", `
f.yaml:1:7: word is a list: a text
    1 | word: [` + strings.Repeat("a", 93) + `
      |       ^`},
		{"not text", "word: \xff", "\nf.yaml: is not UTF-8 text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(c.text)
			if got := fmt.Sprintf("\n%v", err); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestHostileDocumentsAreRefusedBeforeTheyAreParsed(t *testing.T) {
	bomb := "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
	for _, c := range []struct{ name, text, want string }{
		{"a megabyte of nesting", strings.Repeat("[", strict.MaxSize), "words and signs: at most 50000"},
		{"some nesting in brackets", strings.Repeat("[", strict.MaxDepth+1), "nested more than 32 deep"},
		{"some nesting in dashes", strings.Repeat("- ", strict.MaxDepth+1), "nested more than 32 deep"},
		{"some nesting in lines", nested(strict.MaxDepth + 1), "nested more than 32 deep"},
		{"more than a megabyte", strings.Repeat(" ", strict.MaxSize+1), "is larger than 1048576 bytes, the most that is read"},
		{"aliases of aliases", bomb, "anchors and aliases (&) are not read here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := decode(c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.300v, want ...%s", err, c.want)
			}
		})
	}
	if _, err := decode(nested(strict.MaxDepth)); err == nil || strings.Contains(err.Error(), "deep") {
		t.Errorf("nesting of %d: %v, want only that the key is unknown", strict.MaxDepth, err)
	}
}

// nested returns maps in each other, one in a line.
func nested(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// A key of a megabyte is not an error of a megabyte.
func TestLongKeysAreCut(t *testing.T) {
	long := strings.Repeat("k", 500_000)
	for _, text := range []string{long + ": 1", "named: {" + long + ": x}", "named: {" + long + ": 1, " + long + ": 1}"} {
		if _, err := decode(text); err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "kkk...") {
			t.Errorf("%.20s...: %.300v", text, err)
		}
	}
}

func TestABigNumberOfErrorsIsCut(t *testing.T) {
	_, err := decode("list: [" + strings.Repeat("x, ", 100) + "x]")
	if got := strings.Count(err.Error(), "\n"); got != 60 {
		t.Errorf("%d lines for 101 errors, want those of 20 errors and one", got)
	}
	if !strings.HasSuffix(err.Error(), "and 81 more") {
		t.Errorf("ends with %q, want the number of the others", err.Error()[len(err.Error())-20:])
	}
}

func TestTheByteOrderMarkAndCarriageReturnsAreNoText(t *testing.T) {
	s, err := decode("\ufeffwhole: 1\r\nword: a\r\n")
	if err != nil || s.Whole != 1 || s.Word != "a" {
		t.Errorf("got %d and %q, %v; want 1 and a", s.Whole, s.Word, err)
	}
}

func TestCheckSchemaTellsANewerFileFromAWrongOne(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"schema: 1", ""},
		{"schema: 2", "schema is 2: this version reads schema 1"},
		{"schema: one", `schema is "one": a whole number`},
		{"title: x", "the document has no schema: begin with schema: 1"},
		{"- schema: 1", "the document is a list: a map that begins with schema: 1"},
		{"schema", `the document is "schema": a map that begins with schema: 1`},
	} {
		root, err := strict.Parse([]byte(c.text), "f.yaml")
		if err != nil {
			t.Fatal(err)
		}
		err = root.CheckSchema(1)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.text, err, c.want)
		}
	}
}

func TestLocateFindsTheNearestPlace(t *testing.T) {
	root, err := strict.Parse([]byte("a:\n  b: 1\n  list:\n    - {c: 2}\nab: 3\n"), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key          string
		line, column int
	}{
		{"a.b", 2, 6}, {"a.b.c", 2, 3}, {"a.x", 1, 1}, {"a.list[0].c", 4, 11}, {"a.list[0].d", 4, 7}, {"a.list[5]", 3, 3}, {"ab", 5, 5}, {"x", 1, 1},
	} {
		located := root.Locate(errors.Join(&model.Fault{Key: c.key, Problem: "is wrong"}))
		want := fmt.Sprintf("f.yaml:%d:%d: %s is wrong\n", c.line, c.column, c.key)
		if !strings.HasPrefix(located.Error(), want) {
			t.Errorf("got %v, want %s", located, want)
		}
		var fault *model.Fault
		if !errors.As(located, &fault) {
			t.Errorf("%v does not wrap the fault", located)
		}
	}
	if other := errors.New("other"); root.Locate(other) != other || root.Locate(nil) != nil {
		t.Error("an error that is no fault was changed")
	}
}
