package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"headroom/model"
	"headroom/model/profile"
)

// form is a plan as a scenario writes it, so that its knobs have the names that they have there.
type form struct {
	Machine  model.Machine    `yaml:"machine"`
	Config   model.Config     `yaml:"config"`
	Workload workload         `yaml:"workload"`
	Profile  *profile.Profile `yaml:"profile"`
}

// workload is jobs of one kind or a mix, and what else a workload has.
type workload struct {
	Jobs int            `yaml:"jobs"`
	Kind string         `yaml:"kind"`
	Mix  []model.Share  `yaml:"mix"`
	Rest model.Workload `yaml:",inline"` // without its shares
}

// whole are the types that are one knob although they have parts, since a scenario writes them as one.
var whole = map[reflect.Type]bool{reflect.TypeFor[model.Arrival](): true, reflect.TypeFor[*profile.Profile](): true}

// hasParts reports whether a value is a struct, or a pointer to one, whose fields are knobs. Lists and maps are one
// knob each.
func hasParts(v reflect.Value) bool {
	return !whole[v.Type()] && (v.Kind() == reflect.Struct || v.Kind() == reflect.Pointer && !v.IsNil())
}

// fieldOf returns what a field becomes, given its path, its value and its number.
type fieldOf func(path string, value reflect.Value, field int) reflect.Value

// mix returns a with the knobs of b that pick chooses. It is asked for every knob in which the two differ, with its
// path and both values, in the order of the fields.
func mix(path string, a, b reflect.Value, pick func(path string, a, b reflect.Value) bool) reflect.Value {
	switch {
	case reflect.DeepEqual(a.Interface(), b.Interface()):
		return a
	case hasParts(a) && hasParts(b):
		return parts(path, a, func(path string, value reflect.Value, field int) reflect.Value {
			return mix(path, value, reflect.Indirect(b).Field(field), pick)
		})
	case pick(path, a, b):
		return b
	}
	return a
}

// replace returns v with each knob replaced by what turn returns for it.
func replace(path string, v reflect.Value, turn func(path string, knob reflect.Value) reflect.Value) reflect.Value {
	if !hasParts(v) {
		return turn(path, v)
	}
	return parts(path, v, func(path string, value reflect.Value, _ int) reflect.Value {
		return replace(path, value, turn)
	})
}

// parts returns a copy of v, a struct or a pointer to one, with its fields replaced.
func parts(path string, v reflect.Value, part fieldOf) reflect.Value {
	if v.Kind() == reflect.Pointer {
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(parts(path, v.Elem(), part))
		return out
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			out.Field(i).Set(part(below(path, f), v.Field(i), i))
		}
	}
	return out
}

// below returns the path of a field of what stands at path. A field that files do not have goes by its own name.
func below(path string, f reflect.StructField) string {
	name, options, _ := strings.Cut(cmp.Or(f.Tag.Get("yaml"), f.Tag.Get("json")), ",")
	if options == "inline" {
		return path
	}
	if name == "" || name == "-" {
		name = strings.ToLower(f.Name)
	}
	return strings.TrimPrefix(path+"."+name, ".")
}

// written returns a value as a scenario writes it, lists and the like as JSON.
func written(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case *profile.Profile:
		return x.Name
	case model.Arrival:
		return arrival(x)
	case fmt.Stringer:
		return x.String()
	}
	if v.Kind() == reflect.String {
		return cmp.Or(v.String(), "null")
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Sprint(v.Interface())
	}
	return string(text)
}

func arrival(a model.Arrival) string {
	switch a.Pattern {
	case model.Poisson:
		return fmt.Sprintf("{poisson: %g}", a.Rate)
	case model.Listed:
		return fmt.Sprintf("{file: %s}", a.File)
	case model.Backlog:
		return fmt.Sprintf("{backlog: %d}", a.Backlog)
	}
	return string(a.Pattern)
}
