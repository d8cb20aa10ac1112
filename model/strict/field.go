package strict

import (
	"reflect"
	"strings"
)

// field is an entry that a struct takes.
type field struct {
	key   string
	value reflect.Value
}

// fieldsOf lists the entries of a struct, with those of embedded structs in their place.
func fieldsOf(v reflect.Value) []field {
	var list []field
	for i := range v.NumField() {
		t := v.Type().Field(i)
		key, _, _ := strings.Cut(t.Tag.Get("yaml"), ",")
		switch {
		case t.Anonymous && key == "":
			list = append(list, fieldsOf(v.Field(i))...)
		case key != "" && key != "-":
			list = append(list, field{key, v.Field(i)})
		}
	}
	return list
}

func names(fields []field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.key
	}
	return list
}

func lookup(fields []field, key string) (reflect.Value, bool) {
	for _, f := range fields {
		if f.key == key {
			return f.value, true
		}
	}
	return reflect.Value{}, false
}
