package strict_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/model/strict"
)

// value returns the node as encoding/json would decode it, with every scalar as its text.
func value(n *strict.Node) any {
	switch n.Kind {
	case strict.Map:
		m := map[string]any{}
		for _, f := range n.Fields {
			m[f.Key] = value(f.Value)
		}
		return m
	case strict.List:
		list := make([]any, len(n.Items))
		for i, v := range n.Items {
			list[i] = value(v)
		}
		return list
	case strict.Scalar:
		return n.Text
	}
	return nil
}

// drawTree draws maps, lists, texts and whole numbers in each other.
func drawTree(t *rapid.T, depth int) any {
	texts := rapid.OneOf(rapid.StringMatching(`[a-z_]{1,8}`), rapid.StringN(1, 6, 20))
	switch rapid.IntRange(0, 4-min(depth, 2)).Draw(t, "kind") {
	case 0:
		return texts.Draw(t, "text")
	case 1:
		return json.Number(fmt.Sprint(rapid.Int32().Draw(t, "number")))
	case 2:
		return nil
	case 3:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, drawTree(t, depth+1))
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "keys") {
		m[texts.Draw(t, "key")] = drawTree(t, depth+1)
	}
	return m
}

// texts replaces numbers by their text, as value does.
func texts(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for key, one := range v {
			m[key] = texts(one)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = texts(one)
		}
		return list
	case json.Number:
		return v.String()
	}
	return v
}

func TestJSONReadsAsEncodingJSONReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{"top": drawTree(t, 0)}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			if data, err = json.MarshalIndent(want, "", "  "); err != nil {
				t.Fatal(err)
			}
		}
		got, err := strict.Parse(data, "drawn.json")
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if diff := cmp.Diff(texts(want), value(got)); diff != "" {
			t.Fatalf("differs (-json +strict):\n%s\n%q", diff, data)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "a: 1", "a: [1, {b: c}]\n", "- a\n- b: 1\n  c: |\n    text\n", "a: &x 1\nb: *x", "\ufeffa: 1\r\nb: \"\\u00e9\"",
		"? a\n: b", "%YAML 1.2\n---\na: 1\n...", "a: 'it''s'\n# c\n", "{a: 1, 2}", "a:\n\tb: 1", "<<: {a: 1}", "a: !!x 1", "a: >-\n  b\n  c",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := strict.Parse(data, "fuzzed.yaml")
		if (root == nil) == (err == nil) {
			t.Fatalf("root %v and error %v", root, err)
		}
		if err != nil && !strings.Contains(err.Error(), "fuzzed.yaml:") {
			t.Fatalf("the error does not name the file: %v", err)
		}
		if err == nil && !utf8.Valid(data) {
			t.Fatal("text that is not UTF-8 was read")
		}
	})
}
