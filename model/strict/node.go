// Package strict reads YAML in which every key must be known and every value must be of its kind. It knows less
// of YAML than the language has (one document, no anchors, aliases, tags or merge keys), so that a file means
// what it seems to mean. Its errors name file, line and column, show the line, and say what would be right.
package strict

import (
	"fmt"
	"strings"

	"headroom/model"
)

// Kind is the kind of a node.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota // a key without a value, or the word null
	Scalar
	List
	Map
)

// Node is a value of a document.
type Node struct {
	Kind   Kind
	Path   string  // where the value stands: config.admission.permits, machine.gpus[0]; empty for the document
	Text   string  // of a scalar, without quotes
	Quoted bool    // a scalar in quotes: a text, whatever it looks like
	Items  []*Node // of a list
	Fields []Field // of a map, in the order of the file
	place  place
}

// Field is an entry of a map.
type Field struct {
	Key   string
	Value *Node
	place place // of the key
}

// Field returns the value of a key of a map, or nil.
func (n *Node) Field(key string) *Node {
	for _, f := range n.Fields {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// At returns the value under nested keys, or nil if one of them is missing.
func (n *Node) At(keys ...string) *Node {
	for _, key := range keys {
		if n = n.Field(key); n == nil {
			return nil
		}
	}
	return n
}

// String describes the value for a message.
func (n *Node) String() string {
	switch n.Kind {
	case Null:
		return "empty"
	case List:
		return "a list"
	case Map:
		return "a map"
	}
	const most = 60
	text := n.Text
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}

// Errorf returns an error about the value. The format goes on after the path of the value: "is %s: ...".
func (n *Node) Errorf(format string, args ...any) error {
	format = strings.ReplaceAll(n.name(), "%", "%%") + " " + format
	return &Error{place: n.place, cause: fmt.Errorf(format, args...)}
}

func (n *Node) name() string {
	if n.Path == "" {
		return "the document"
	}
	return model.Clip(n.Path)
}

// Locate gives each fault of a validation its place in the document: that of the scalar at its key, or else of
// the key itself, or of the nearest key around it. Other errors are returned as they are.
func (n *Node) Locate(err error) error {
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		var list errorList
		for _, one := range e.Unwrap() {
			list = append(list, n.Locate(one))
		}
		return list.join()
	case *model.Fault:
		return &Error{place: n.nearest(e.Key), cause: e}
	}
	return err
}

// nearest returns the place of the value at path, or of the longest beginning of path that the document has.
func (n *Node) nearest(path string) place {
	best, length := n.place, -1
	n.walk(n.place, func(v *Node, key place) {
		switch {
		case v.Path == path && v.Kind == Scalar:
			best, length = v.place, len(path)
		case v.Path == path:
			best, length = key, len(path)
		case len(v.Path) > length && strings.HasPrefix(path, v.Path) && strings.ContainsRune(".[", rune(path[len(v.Path)])):
			best, length = key, len(v.Path)
		}
	})
	return best
}

// walk visits every value under n with the place of its key (of the value itself in a list).
func (n *Node) walk(key place, visit func(v *Node, key place)) {
	if n.Path != "" {
		visit(n, key)
	}
	for _, f := range n.Fields {
		f.Value.walk(f.place, visit)
	}
	for _, v := range n.Items {
		v.walk(v.place, visit)
	}
}

// CheckSchema reports an error unless the document is a map whose schema is the given version. It comes before
// Decode, so that a newer file is told from a wrong one.
func (n *Node) CheckSchema(version int) error {
	v := n.Field("schema")
	switch {
	case n.Kind != Map:
		return n.Errorf("is %s: a map that begins with schema: %d", n, version)
	case v == nil:
		return n.Errorf("has no schema: begin with schema: %d", version)
	}
	var got int
	if err := v.Decode(&got); err != nil {
		return err
	}
	if got != version {
		return v.Errorf("is %d: this version reads schema %d", got, version)
	}
	return nil
}
