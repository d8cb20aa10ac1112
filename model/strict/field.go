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

// closest returns the word with the fewest edits from text, or "" if none is within a third of its letters, rounded.
func closest(text string, words []string) string {
	best, fewest := "", len(text)
	for _, w := range words {
		if n := edits(text, w); n < fewest && n <= (len(w)+1)/3 {
			best, fewest = w, n
		}
	}
	return best
}

// edits returns the Levenshtein distance of two words: insertions, deletions and changes of one byte.
func edits(a, b string) int {
	const most = 64 // no key is longer; a longer text is far from all of them
	if len(a) > most {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
