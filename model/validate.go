package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fault is one thing that is wrong with a value that somebody wrote.
type Fault struct {
	Key     string // the path of the value as in a file: config.admission.permits
	Problem string // goes on after the key, with the value, the bound and the unit: is 0: at least 1, or unbounded
}

// Error returns the key and the problem.
func (f *Fault) Error() string { return f.Key + " " + f.Problem }

// Faults collects what is wrong, so that a validation can report all of it at once.
type Faults struct{ found []error }

// Add notes a fault of the value at key; the rest is a format, as of fmt.Sprintf, for the problem.
func (f *Faults) Add(key, format string, args ...any) {
	f.found = append(f.found, &Fault{Key: key, Problem: fmt.Sprintf(format, args...)})
}

// Join notes the faults of a part that was validated on its own; nil notes nothing.
func (f *Faults) Join(err error) {
	if err != nil {
		f.found = append(f.found, err)
	}
}

// Err returns all faults as one error, or nil if there are none.
func (f *Faults) Err() error { return errors.Join(f.found...) }

// The largest values that are believed. They keep sums of many of them within 64 bits.
const (
	MaxBytes      Bytes = 1 << 50 // of one size
	MaxSpan       Span  = 365 * 24 * 3600 * Second
	MaxJobs             = 1_000_000_000 // of a workload
	MaxPartitions       = 1_000_000     // of a job
	MaxDevices    Count = 256           // of a machine
	MaxWorkers    Count = 1024          // on one device, and of dealloc
	MaxBatch      Count = 1024          // jobs joined
)

// Size notes a fault unless lowest <= size <= MaxBytes.
func (f *Faults) Size(key string, size, lowest Bytes) {
	if size < lowest || size > MaxBytes {
		f.Add(key, "is %s: from %s to %s", size, lowest, MaxBytes)
	}
}

// mostName is the most bytes that a name has.
const mostName = 200

// Name notes a fault unless what somebody has named can be printed in a line of its own: by letters, digits, signs and
// spaces. An empty name is another's fault.
func (f *Faults) Name(key, name string) {
	switch {
	case len(name) > mostName:
		f.Add(Clip(key), "has a name of %d bytes: at most %d", len(name), mostName)
	case !utf8.ValidString(name):
		f.Add(key, "is not UTF-8 text")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		f.Add(key, "is called %q: by letters, digits, signs and spaces alone", name)
	}
}

// Clip shortens a text for a message.
func Clip(text string) string {
	if len(text) > mostName {
		return strings.ToValidUTF8(text[:mostName], "") + "..."
	}
	return text
}

// Span notes a fault unless 0 <= span <= MaxSpan.
func (f *Faults) Span(key string, span Span) {
	if span < 0 || span > MaxSpan {
		f.Add(key, "is %s: from 0s to %s", span, MaxSpan)
	}
}

// atLeast notes a fault unless the count is a limit of at least lowest or no limit at all.
func (f *Faults) atLeast(key string, c, lowest Count) {
	if c < lowest {
		f.Add(key, "is %s: at least %d, or unbounded", c, lowest)
	}
}

// within notes a fault unless 1 <= c <= highest.
func (f *Faults) within(key string, c, highest Count) {
	if c < 1 || c > highest {
		f.Add(key, "is %s: from 1 to %d", c, highest)
	}
}

// oneOf notes a fault unless word is among the words.
func oneOf[T ~string](f *Faults, key string, word T, words ...T) {
	if !slices.Contains(words, word) {
		f.Add(key, "is %q: one of %s", string(word), listed(words))
	}
}

// listed joins words with commas.
func listed[T ~string](words []T) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(w))
	}
	return b.String()
}
