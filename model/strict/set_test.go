package strict_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/model/strict"
)

const document = "top: {a: 1, list: [{x: 1}, 2]}\nword: here\nempty:\n"

// with applies path=value settings and returns the result as plain values.
func with(settings ...string) (any, error) {
	root, err := strict.Parse([]byte(document), "f.yaml")
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		path, text, _ := strings.Cut(s, "=")
		node, err := strict.ParseValue(text, "--set "+s)
		if err != nil {
			return nil, err
		}
		if root, err = root.With(path, node); err != nil {
			return nil, err
		}
	}
	return value(root), nil
}

func TestWithReplacesAddsAndRemoves(t *testing.T) {
	type m = map[string]any
	list := []any{m{"x": "1"}, "2"}
	for _, c := range []struct {
		setting string
		want    any
	}{
		{"top.a=2", m{"top": m{"a": "2", "list": list}, "word": "here", "empty": nil}},
		{"top.a={b: 2}", m{"top": m{"a": m{"b": "2"}, "list": list}, "word": "here", "empty": nil}},
		{"top.new.deep=2", m{"top": m{"a": "1", "list": list, "new": m{"deep": "2"}}, "word": "here", "empty": nil}},
		{"top.list[0].x=[]", m{"top": m{"a": "1", "list": []any{m{"x": []any{}}, "2"}}, "word": "here", "empty": nil}},
		{"top.a=null", m{"top": m{"list": list}, "word": "here", "empty": nil}},
		{"top.none.deep=null", m{"top": m{"a": "1", "list": list}, "word": "here", "empty": nil}},
		{"top=null", m{"word": "here", "empty": nil}},
		{"empty.a=1", m{"top": m{"a": "1", "list": list}, "word": "here", "empty": m{"a": "1"}}},
	} {
		got, err := with(c.setting)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", c.setting, err, diff)
		}
	}
}

func TestWithSaysWhyAPathLeadsNowhere(t *testing.T) {
	for _, c := range []struct{ setting, want string }{
		{"word.a=1", `word is "here", which has no keys: set word as a whole`},
		{"top.list.a=1", "top.list is a list, which has no keys: set top.list as a whole"},
		{"top.list[2]=1", "top.list has no item 2: the file gives 2, numbered from 0; set top.list as a whole"},
		{"top[0]=1", "top is a map, which has no items: set top as a whole"},
		{"none[0].a=1", "none has no item 0: the file gives 0, numbered from 0; set none as a whole"},
		{"empty[0]=1", "empty has no item 0: the file gives 0, numbered from 0; set empty as a whole"},
		{"top..a=1", `the key "top..a" has an empty part: write for example config.admission.permits or machine.gpus[0].vram`},
		{"top.list[x]=1",
			`the key "top.list[x]" has an index that is not a number in brackets: write for example config.admission.permits or machine.gpus[0].vram`},
		{"top.list[1=1",
			`the key "top.list[1" has an index that is not a number in brackets: write for example config.admission.permits or machine.gpus[0].vram`},
		{strings.Repeat("top.", 32) + "a=1",
			`the key "` + strings.Repeat("top.", 32) + `a" has 33 parts: at most 32`},
		{"top.a=[1", "--set top.a=[1: this is not YAML: sequence end token ']' not found"},
		{"top.a=", "--set top.a=: the document is empty"},
	} {
		if _, err := with(c.setting); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.setting, err, c.want)
		}
	}
}

func TestErrorsAboutASettingShowTheSetting(t *testing.T) {
	root, err := strict.Parse([]byte("whole: 1\n"), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	node, err := strict.ParseValue("{spam: 2s}", "--set inner={spam: 2s}")
	if err != nil {
		t.Fatal(err)
	}
	if root, err = root.With("inner", node); err != nil {
		t.Fatal(err)
	}
	const want = "--set inner={spam: 2s}: inner.spam is not a key here: did you mean span? the keys are span"
	if err = root.Decode(&sample{}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestWithChangesOnlyItsPath compares with a change of plain maps, and looks at the first document again.
func TestWithChangesOnlyItsPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SampledFrom([]string{"a", "b", "c"})
		root, err := strict.ParseValue("{}", "drawn")
		if err != nil {
			t.Fatal(err)
		}
		plain := map[string]any{}
		for range rapid.IntRange(1, 8).Draw(t, "settings") {
			path := rapid.SliceOfN(keys, 1, 3).Draw(t, "path")
			text := rapid.SampledFrom([]string{"1", "null", "{a: 1}"}).Draw(t, "value")
			node, err := strict.ParseValue(text, "drawn")
			if err != nil {
				t.Fatal(err)
			}
			before := value(root)
			changed, err := root.With(strings.Join(path, "."), node)
			if diff := cmp.Diff(before, value(root)); diff != "" {
				t.Fatalf("the document itself changed:\n%s", diff)
			}
			if ok := change(plain, path, value(node)); ok != (err == nil) {
				t.Fatalf("%v=%s: %v, want an error only below a value without keys", path, text, err)
			}
			if err == nil {
				root = changed
			}
			if diff := cmp.Diff(plain, value(root)); diff != "" {
				t.Fatalf("%v=%s (-want +got):\n%s", path, text, diff)
			}
		}
	})
}

// change sets the value under the path and reports whether that was possible; nil removes.
func change(m map[string]any, path []string, v any) bool {
	if len(path) == 1 {
		if v == nil {
			delete(m, path[0])
		} else {
			m[path[0]] = v
		}
		return true
	}
	inner, there := m[path[0]]
	if !there {
		if v == nil {
			return true
		}
		inner = map[string]any{}
		m[path[0]] = inner
	}
	next, ok := inner.(map[string]any)
	return ok && change(next, path[1:], v)
}
