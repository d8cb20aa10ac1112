package strict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"headroom/model"
)

// step is one part of a path: a key, or for an empty key an index.
type step struct {
	key   string
	index int
}

// With returns the document with the value at path, such as config.admission.permits or machine.gpus[0].vram, in
// place of what was there; maps on the way are made as needed. An empty value takes the key away. The document
// itself is not changed.
func (n *Node) With(path string, value *Node) (*Node, error) {
	steps, err := steps(path)
	if err != nil {
		return nil, err
	}
	return with(n, "", steps, value)
}

// rightPath ends the errors about a path.
const rightPath = "write for example config.admission.permits or machine.gpus[0].vram"

func steps(path string) ([]step, error) {
	var list []step
	if parts := strings.Count(path, ".") + strings.Count(path, "[") + 1; parts > MaxDepth {
		return nil, fmt.Errorf("the key %q has %d parts: at most %d", model.Clip(path), parts, MaxDepth)
	}
	for part := range strings.SplitSeq(path, ".") {
		key, rest, indexed := strings.Cut(part, "[")
		if key == "" {
			return nil, fmt.Errorf("the key %q has an empty part: "+rightPath, path)
		}
		list = append(list, step{key: key})
		for indexed {
			var number string
			number, rest, indexed = strings.Cut(rest, "[")
			index, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 31)
			if err != nil || !strings.HasSuffix(number, "]") {
				return nil, fmt.Errorf("the key %q has an index that is not a number in brackets: "+rightPath, path)
			}
			list = append(list, step{index: int(index)})
		}
	}
	return list, nil
}

// with returns n, which is nil where the document has nothing, with the value under the steps.
func with(n *Node, path string, steps []step, value *Node) (*Node, error) {
	if len(steps) == 0 {
		return value.moved(path), nil
	}
	indexed := steps[0].key == ""
	if n == nil || n.Kind == Null {
		n = &Node{Kind: Map, Path: path, place: value.place}
		if indexed {
			n.Kind = List
		}
	}
	if indexed {
		return n.withItem(path, steps, value)
	}
	return n.withField(path, steps, value)
}

func (n *Node) withItem(path string, steps []step, value *Node) (*Node, error) {
	index := steps[0].index
	if n.Kind != List {
		return nil, fmt.Errorf("%s is %s, which has no items: set %s as a whole", path, n, path)
	}
	if index >= len(n.Items) {
		return nil, fmt.Errorf("%s has no item %d: the file gives %d, numbered from 0; set %s as a whole",
			path, index, len(n.Items), path)
	}
	item, err := with(n.Items[index], fmt.Sprintf("%s[%d]", path, index), steps[1:], value)
	if err != nil {
		return nil, err
	}
	changed := *n
	changed.Items = slices.Clone(n.Items)
	changed.Items[index] = item
	return &changed, nil
}

func (n *Node) withField(path string, steps []step, value *Node) (*Node, error) {
	key := steps[0].key
	if n.Kind != Map {
		return nil, fmt.Errorf("%s is %s, which has no keys: set %s as a whole", path, n, path)
	}
	at := slices.IndexFunc(n.Fields, func(f Field) bool { return f.Key == key })
	if value.Kind == Null && at < 0 {
		return n, nil
	}
	changed := *n
	changed.Fields = slices.Clone(n.Fields)
	if value.Kind == Null && len(steps) == 1 {
		changed.Fields = slices.Delete(changed.Fields, at, at+1)
		return &changed, nil
	}
	if at < 0 {
		at = len(changed.Fields)
		changed.Fields = append(changed.Fields, Field{Key: key, place: value.place})
	}
	inner, err := with(changed.Fields[at].Value, join(path, key), steps[1:], value)
	if err != nil {
		return nil, err
	}
	changed.Fields[at].Value = inner
	return &changed, nil
}

// moved returns a copy that stands at path.
func (n *Node) moved(path string) *Node {
	copied := *n
	copied.Path = path
	copied.Fields = slices.Clone(n.Fields)
	for i, f := range copied.Fields {
		copied.Fields[i].Value = f.Value.moved(join(path, f.Key))
	}
	copied.Items = slices.Clone(n.Items)
	for i, v := range copied.Items {
		copied.Items[i] = v.moved(fmt.Sprintf("%s[%d]", path, i))
	}
	return &copied
}
