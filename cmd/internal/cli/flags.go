package cli

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// value is the value of a flag that does not take every text or number. An error of Set says what it takes; the flag and
// what was given are put before it.
type value[T any] struct {
	into  *T
	sort  string // of value, as the help has it
	parse func(string) (T, error)
	is    func(T) bool // it may be this
	want  string       // what it may be, as a sentence
}

// String prints the value.
func (v *value[T]) String() string {
	if v.into == nil {
		return ""
	}
	return fmt.Sprint(*v.into)
}

// Type returns the sort of value.
func (v *value[T]) Type() string { return v.sort }

// Set reads the value.
func (v *value[T]) Set(text string) error {
	given, err := v.parse(text)
	if err != nil || !v.is(given) {
		return errors.New(v.want)
	}
	*v.into = given
	return nil
}

// whole adds a flag with a whole number from least to most. The default is what is in into.
func whole[T int | uint32 | uint64](c *cobra.Command, into *T, name string, least, most T, usage string) {
	c.Flags().Var(&value[T]{
		into: into, sort: fmt.Sprintf("%T", *into),
		parse: func(text string) (T, error) {
			n, err := strconv.ParseUint(text, 10, 64)
			if err == nil && n > uint64(most) {
				err = strconv.ErrRange
			}
			return T(n), err
		},
		is:   func(n T) bool { return least <= n },
		want: fmt.Sprintf("it must be a whole number from %d to %d", least, most),
	}, name, usage)
}

// probability adds a flag with a number above 0 and below 1. The default is what is in into.
func probability(c *cobra.Command, into *float64, name, usage string) {
	c.Flags().Var(&value[float64]{
		into: into, sort: "float",
		parse: func(text string) (float64, error) { return strconv.ParseFloat(text, 64) },
		is:    func(p float64) bool { return p > 0 && p < 1 },
		want:  "it must be a probability above 0 and below 1",
	}, name, usage)
}

// span adds a flag with a length of time from least to most. The default is what is in into.
func span(c *cobra.Command, into *time.Duration, name string, least, most time.Duration, usage string) {
	c.Flags().Var(&value[time.Duration]{
		into: into, sort: "duration", parse: time.ParseDuration,
		is:   func(d time.Duration) bool { return least <= d && d <= most },
		want: fmt.Sprintf("it must be a duration from %s to %s, such as 250ms", least, most),
	}, name, usage)
}

// words adds a flag with a text that is not empty, and with a short form unless that is empty. Empty is what a script
// passes on of a variable that is not set, and not a wish to do without. The default is what is in into.
func words(c *cobra.Command, into *string, name, short, usage string) {
	c.Flags().VarP(&value[string]{
		into: into, sort: "string",
		parse: func(text string) (string, error) { return text, nil },
		is:    func(text string) bool { return text != "" },
		want:  "it must not be empty: give it a value, or leave it out",
	}, name, short, usage)
}
