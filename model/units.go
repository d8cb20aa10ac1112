package model

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// Bytes is an amount of memory in bytes. Amounts are never negative; the type is signed so that
// differences of two amounts have the same type and an underflow is visible instead of huge.
type Bytes int64

// The units that sizes are read and printed in.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

// Times returns n times the amount, or the largest amount there is where that is more. Neither may be negative.
func (b Bytes) Times(n int) Bytes {
	if n > 0 && b > math.MaxInt64/Bytes(n) {
		return math.MaxInt64
	}
	return b * Bytes(n)
}

// Instant is a point of pipeline time, in nanoseconds since the run began.
type Instant int64

// Span is a length of pipeline time or an amount of work, in nanoseconds.
type Span int64

// The lengths that spans are written in.
const (
	Microsecond Span = 1e3
	Millisecond Span = 1e6
	Second      Span = 1e9
)

// Seconds returns the span in seconds.
func (s Span) Seconds() float64 { return float64(s) / float64(Second) }

// Seconds returns the instant in seconds since the run began.
func (t Instant) Seconds() float64 { return float64(t) / float64(Second) }

// Sub returns the span from u to t.
func (t Instant) Sub(u Instant) Span { return Span(t - u) }

// String prints the span as time.Duration does.
func (s Span) String() string { return time.Duration(s).String() }

// String prints the instant as the duration since the run began.
func (t Instant) String() string { return time.Duration(t).String() }

// SpanOf converts seconds to a span, rounded to the nearest nanosecond; it saturates at the ends of the range.
func SpanOf(seconds float64) Span {
	ns := math.Round(seconds * float64(Second))
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	if ns <= math.MinInt64 {
		return math.MinInt64
	}
	return Span(ns)
}

// ParseSpan reads a duration such as "36.5s", "300ms" or "1h2m". A bare number has no unit and is refused.
func ParseSpan(text string) (Span, error) {
	trimmed := strings.TrimSpace(text)
	d, err := time.ParseDuration(trimmed)
	if err != nil && isDuration(trimmed) {
		return 0, fmt.Errorf("model: duration %q is longer than %s, the longest there is", Clip(text), time.Duration(math.MaxInt64))
	}
	if err != nil || strings.HasSuffix(trimmed, "0") {
		return 0, fmt.Errorf("model: duration %q is not a number with a unit: write for example 36.5s, 300ms or 2m", text)
	}
	return Span(d), nil
}

// isDuration reports whether text is a number and a unit of time, however large.
func isDuration(text string) bool {
	number := strings.TrimLeft(text, "+-")
	end := strings.LastIndexAny(number, "0123456789") + 1
	_, err := time.ParseDuration("1" + number[end:])
	return err == nil && end > 0 && strings.Trim(number[:end], "0123456789.") == "" && strings.Count(number, ".") < 2
}

var byteUnits = []struct {
	suffix string
	size   Bytes
}{
	{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

var errByteSyntax = errors.New("write a number and a unit of B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB or TiB (powers of 1024), for example 755GiB")

// ParseBytes reads a size such as "755GiB", "16.5 GiB", "96GB" or "512B". Units are exact in case, because a
// wrong one is a factor: 755Gib is refused. A fraction is rounded to the nearest byte.
func ParseBytes(text string) (Bytes, error) {
	trimmed := strings.TrimSpace(text)
	for _, u := range byteUnits {
		number, found := strings.CutSuffix(trimmed, u.suffix)
		if !found {
			continue
		}
		number = strings.TrimRight(number, " ")
		if !isDecimal(number) {
			return 0, fmt.Errorf("model: size %q: %w", text, errByteSyntax)
		}
		value, _ := new(big.Rat).SetString(number)
		value.Mul(value, new(big.Rat).SetInt64(int64(u.size)))
		size := nearest(value)
		if !size.IsInt64() {
			return 0, fmt.Errorf("model: size %q is larger than %s, the largest size there is", text, Bytes(math.MaxInt64))
		}
		return Bytes(size.Int64()), nil
	}
	return 0, fmt.Errorf("model: size %q: %w", text, errByteSyntax)
}

// nearest returns the whole number nearest to a value that is not negative; halves go up.
func nearest(value *big.Rat) *big.Int {
	twice := new(big.Int).Lsh(value.Num(), 1)
	twice.Add(twice, value.Denom())
	return twice.Div(twice, new(big.Int).Lsh(value.Denom(), 1))
}

// isDecimal reports whether text is digits with at most one point between or before digits.
func isDecimal(text string) bool {
	whole, fraction, point := strings.Cut(text, ".")
	if whole == "" || (point && fraction == "") || len(text) > 40 {
		return false
	}
	return strings.Trim(whole+fraction, "0123456789") == ""
}

// String prints the exact size in the largest binary unit that divides it, so that ParseBytes(b.String()) is b.
func (b Bytes) String() string {
	for _, u := range byteUnits[:4] {
		if b != 0 && b%u.size == 0 {
			return fmt.Sprintf("%d%s", b/u.size, u.suffix)
		}
	}
	return fmt.Sprintf("%dB", int64(b))
}

// Short prints the size rounded to four significant figures or so, for people: "667.9 GiB".
func (b Bytes) Short() string {
	magnitude := b
	if magnitude < 0 {
		magnitude = -magnitude
	}
	for _, u := range byteUnits[:4] {
		if magnitude >= u.size {
			return fmt.Sprintf("%.1f %s", float64(b)/float64(u.size), u.suffix)
		}
	}
	return fmt.Sprintf("%d B", int64(b))
}

// Apart returns what prints sizes that are compared with each other: rounded for people, or exact where only that tells
// one of them from another.
func Apart(sizes ...Bytes) func(Bytes) string {
	first, alike := map[string]Bytes{}, map[string]bool{} // by what is printed of rounded ones
	for _, b := range sizes {
		short := b.Short()
		if other, seen := first[short]; seen && other != b {
			alike[short] = true
		}
		first[short] = b
	}
	return func(b Bytes) string {
		if short := b.Short(); !alike[short] {
			return short
		}
		return fmt.Sprintf("%d B", int64(b))
	}
}

// Counted prints a number with what it counts, of which the plural ends in s: "1 job", "2 jobs".
func Counted[N ~int | ~int32 | ~int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%v %ss", n, noun)
}

// GiB returns the size in GiB.
func (b Bytes) GiB() float64 { return float64(b) / float64(GiB) }
