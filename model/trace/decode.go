package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// decode reads one JSON value strictly at first. Once a field was unknown, which is worth one warning, it is
// lenient.
func (r *Reader) decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if r.strict {
		decoder.DisallowUnknownFields()
	}
	err := decoder.Decode(into)
	if name, unknown := unknownField(err); unknown {
		r.strict = false
		r.warn("line %d has the field %s, which this version does not know: unknown fields are ignored", r.lines.number, name)
		return r.decode(text, into)
	}
	if err != nil {
		return explain(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("has more than one JSON object: one a line")
	}
	return nil
}

// unknownField tells whether the error is that of encoding/json about a field that is not known.
func unknownField(err error) (name string, unknown bool) {
	if err == nil {
		return "", false
	}
	return strings.CutPrefix(err.Error(), "json: unknown field ")
}

// explain says what would be right where encoding/json only says what is wrong.
func explain(err error) error {
	var mismatch *json.UnmarshalTypeError
	switch {
	case err == io.EOF:
		return errors.New("is empty: every line is a JSON object")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("is not a whole JSON object: %w", err)
	case errors.As(err, &mismatch):
		return mismatched(mismatch)
	}
	return err
}

// mismatched says which value is of the wrong sort, and of which it must be.
func mismatched(e *json.UnmarshalTypeError) error {
	value := "a " + e.Value
	if strings.ContainsRune("aeiou", rune(e.Value[0])) {
		value = "an " + e.Value
	}
	if e.Field == "" {
		return fmt.Errorf("is %s: it must be %s", value, wanted(e.Type))
	}
	return fmt.Errorf("has %s as %q: it must be %s", value, e.Field, wanted(e.Type))
}

// wanted describes a type as one sees it in the file.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number of %d bits, at least 0", t.Bits())
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a " + t.Kind().String()
}
