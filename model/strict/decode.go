package strict

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// Unmarshaler is a value that reads itself from a node. Its errors should come from Node.Errorf or Node.Decode.
type Unmarshaler interface{ UnmarshalNode(*Node) error }

// Decode stores the value in target, a pointer, and reports everything in it that is wrong. Structs take the
// keys in their yaml tags and no others; what the document does not mention keeps its value.
func (n *Node) Decode(target any) error {
	var d decoder
	d.value(n, reflect.ValueOf(target).Elem())
	return d.errors.join()
}

type decoder struct{ errors errorList }

func (d *decoder) fault(n *Node, format string, args ...any) {
	d.errors.add(n.Errorf(format, args...))
}

func (d *decoder) value(n *Node, v reflect.Value) {
	switch target := v.Addr().Interface().(type) {
	case Unmarshaler:
		d.errors.add(target.UnmarshalNode(n))
		return
	case encoding.TextUnmarshaler:
		if d.scalar(n, "a value such as a word, a number or a size") {
			if err := target.UnmarshalText([]byte(n.Text)); err != nil {
				d.errors.add(&Error{place: n.place, cause: fmt.Errorf("%s: %w", n.name(), err)})
			}
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.value(n, v.Elem())
	case reflect.Struct:
		d.structure(n, v)
	case reflect.Map:
		d.mapping(n, v)
	case reflect.Slice:
		d.list(n, v)
	default:
		d.basic(n, v)
	}
}

// scalar reports whether the node is a single value, and notes a fault if not.
func (d *decoder) scalar(n *Node, right string) bool {
	if n.Kind == Null {
		d.fault(n, "is empty: give it a value or leave the key out")
	} else if n.Kind != Scalar {
		d.fault(n, "is %s: %s", n, right)
	}
	return n.Kind == Scalar
}

func (d *decoder) structure(n *Node, v reflect.Value) {
	fields := fieldsOf(v)
	if n.Kind != Map {
		d.fault(n, "is %s: a map with keys of %s", n, strings.Join(names(fields), ", "))
		return
	}
	for _, f := range n.Fields {
		target, known := lookup(fields, f.Key)
		if !known {
			d.errors.add(unknown(n, f, names(fields)))
			continue
		}
		d.value(f.Value, target)
	}
}

func unknown(n *Node, f Field, keys []string) error {
	hint := ""
	if near := Closest(f.Key, keys); near != "" {
		hint = fmt.Sprintf("did you mean %s? ", near)
	}
	return &Error{place: f.place, cause: fmt.Errorf("%s is not a key here: %sthe keys are %s",
		f.Value.name(), hint, strings.Join(keys, ", "))}
}

func (d *decoder) mapping(n *Node, v reflect.Value) {
	if n.Kind != Map {
		d.fault(n, "is %s: a map from names to values", n)
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, f := range n.Fields {
		key, value := reflect.New(v.Type().Key()), reflect.New(v.Type().Elem()).Elem()
		if t, ok := key.Interface().(encoding.TextUnmarshaler); !ok {
			key.Elem().SetString(f.Key)
		} else if err := t.UnmarshalText([]byte(f.Key)); err != nil {
			d.errors.add(&Error{place: f.place, cause: fmt.Errorf("%s is not a key here: %w", f.Value.name(), err)})
			continue
		}
		d.value(f.Value, value)
		v.SetMapIndex(key.Elem(), value)
	}
}

func (d *decoder) list(n *Node, v reflect.Value) {
	if n.Kind != List {
		d.fault(n, "is %s: a list", n)
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		d.value(item, list.Index(i))
	}
	v.Set(list)
}

var rightValues = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Bool: "true or false", reflect.Float64: "a number",
	reflect.Int: "a whole number", reflect.Uint64: "a whole number from 0",
}

func (d *decoder) basic(n *Node, v reflect.Value) {
	right, readable := rightValues[v.Kind()]
	if !readable {
		panic("strict: no reading of " + v.Type().String())
	}
	if !d.scalar(n, right) {
		return
	}
	if v.Kind() == reflect.String {
		v.SetString(n.Text)
		return
	}
	if n.Quoted {
		d.fault(n, "is the text %s: %s, without quotes", n, right)
		return
	}
	if err := number(n.Text, v); err != nil {
		d.fault(n, "is %s: %s%w", n, right, err)
	}
}

// number stores the text in a bool or number; its error goes on after what would be right.
func number(text string, v reflect.Value) (err error) {
	plain := strings.Trim(text, "0123456789+-.eE") == ""
	switch v.Kind() {
	case reflect.Bool:
		if text != "true" && text != "false" {
			return errNothing
		}
		v.SetBool(text == "true")
		return nil
	case reflect.Float64:
		var f float64
		if f, err = strconv.ParseFloat(text, 64); err == nil && plain && !math.IsInf(f, 0) {
			v.SetFloat(f)
			return nil
		}
	case reflect.Int:
		var i int64
		if i, err = strconv.ParseInt(text, 10, 64); err == nil {
			v.SetInt(i)
			return nil
		}
	default:
		var u uint64
		if u, err = strconv.ParseUint(text, 10, 64); err == nil {
			v.SetUint(u)
			return nil
		}
	}
	if plain && errors.Is(err, strconv.ErrRange) {
		return errRange
	}
	return errNothing
}

var (
	errNothing = errors.New("")
	errRange   = errors.New(" that fits into 64 bits")
)
