package strict

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// source is a text that values came from.
type source struct {
	name  string
	lines []string // nil for a text of one line that the name already shows
}

// place is a point in a source. The zero place is nowhere.
type place struct {
	source       *source
	line, column int // from 1; a column counts characters
}

// Error is something wrong at a place of a document.
type Error struct {
	place place
	cause error
}

// Error returns file, line and column, what is wrong, and the line with a caret under the place.
func (e *Error) Error() string {
	switch p := e.place; {
	case p.source == nil:
		return e.cause.Error()
	case p.source.lines == nil:
		return p.source.name + ": " + e.cause.Error()
	default:
		return fmt.Sprintf("%s:%d:%d: %v%s", p.source.name, p.line, p.column, e.cause, p.excerpt())
	}
}

// Unwrap returns what is wrong, without the place.
func (e *Error) Unwrap() error { return e.cause }

// excerpt returns the line of the place, cut to a window around it, and a caret below.
func (p place) excerpt() string {
	if p.line < 1 || p.line > len(p.source.lines) {
		return ""
	}
	const before, width = 60, 100
	line := []rune(p.source.lines[p.line-1])
	at := min(max(p.column-1, 0), len(line))
	from := max(min(at-before, len(line)-width), 0)
	shown := line[from:min(from+width, len(line))]
	indent := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(shown[:at-from]))
	number := fmt.Sprintf("%5d", p.line)
	return fmt.Sprintf("\n%s | %s\n%*s | %s^", number, string(shown), utf8.RuneCountInString(number), "", indent)
}

// errorList collects errors; more than a screenful says no more than its beginning.
type errorList []error

const mostErrors = 20

// add notes an error; nil notes nothing.
func (e *errorList) add(err error) {
	if err != nil {
		*e = append(*e, err)
	}
}

// join returns the errors as one, in order, or nil.
func (e errorList) join() error {
	if len(e) > mostErrors {
		rest := len(e) - mostErrors
		e = append(e[:mostErrors:mostErrors], fmt.Errorf("and %d more", rest))
	}
	return errors.Join(e...)
}
