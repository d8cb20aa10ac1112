package model

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSizesReadAndPrintExactly(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  Bytes
		print string
	}{
		{"755GiB", 755 * GiB, "755GiB"},
		{"16.5 GiB", 16*GiB + GiB/2, "16896MiB"},
		{" 96GB ", 96_000_000_000, "93750000KiB"},
		{"512B", 512, "512B"},
		{"0B", 0, "0B"},
		{"1kB", 1000, "1000B"},
		{"2TiB", 2 * TiB, "2TiB"},
		{"15.56GiB", 16_707_422_781, "16707422781B"}, // 16,707,422,781.44
		{"0.5B", 1, "1B"},
		{"0.4B", 0, "0B"},
		{"8388607TiB", 8388607 * TiB, "8388607TiB"},
	} {
		got, err := ParseBytes(c.text)
		if err != nil || got != c.want || got.String() != c.print {
			t.Errorf("%q is %d, printed %s, %v; want %d, printed %s", c.text, got, got, err, c.want, c.print)
		}
	}
}

func TestAWrongSizeIsRefusedWithTheUnits(t *testing.T) {
	const units = "write a number and a unit of B, kB, MB, GB, TB"
	for _, c := range []struct{ text, want string }{
		{"755Gib", units}, {"755gib", units}, {"755", units}, {"", units}, {"GiB", units}, {"-1GiB", units},
		{"+1GiB", units}, {"1e3GiB", units}, {".5GiB", units}, {"5.GiB", units}, {"1.2.3GiB", units}, {"1/2GiB", units},
		{"NaNGiB", units}, {"InfGiB", units}, {"1,000GiB", units}, {"0x10GiB", units}, {"1 2GiB", units}, {"1KB", units},
		{strings.Repeat("9", 50) + "B", units},
		{"8388608TiB", "larger than"}, {"9999999999999999999999B", "larger than"},
	} {
		if got, err := ParseBytes(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q is %d, %v; want an error with %q", c.text, got, err, c.want)
		}
	}
}

func TestSpansReadWithAUnitOnly(t *testing.T) {
	for text, want := range map[string]Span{
		"36.5s": 36_500 * Millisecond, "300ms": 300 * Millisecond, "1h2m": 3720 * Second, "0s": 0, " 7us ": 7 * Microsecond, "1ns": 1, "-2s": -2 * Second,
	} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "36.5", "s", "36,5s", "1e3s", "NaNs", "1d", "-h", "1.5.5h", "1h1d"} {
		got, err := ParseSpan(text)
		if err == nil || !strings.Contains(err.Error(), "write for example 36.5s") {
			t.Errorf("%q is %d, %v; want an error with an example", text, got, err)
		}
	}
}

func TestSpansThatAreTooLongAreSaidToBe(t *testing.T) {
	for _, text := range []string{"9223372036854775808ns", "9999999999h", "-9999999999.5h"} {
		got, err := ParseSpan(text)
		if want := fmt.Sprintf("model: duration %q is longer than 2562047h47m16.854775807s, the longest there is", text); err == nil || err.Error() != want {
			t.Errorf("%q is %d, %v; want %s", text, got, err, want)
		}
	}
}

func TestSpanOfRoundsAndSaturates(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    Span
	}{
		{1.5, 1500 * Millisecond}, {4e-10, 0}, {6e-10, 1}, {-6e-10, -1},
		{1e10, math.MaxInt64}, {-1e10, math.MinInt64}, {math.Inf(1), math.MaxInt64}, {math.Inf(-1), math.MinInt64},
	} {
		if got := SpanOf(c.seconds); got != c.want {
			t.Errorf("SpanOf(%v) is %d, want %d", c.seconds, got, c.want)
		}
	}
}

func TestSizesForPeopleAreRounded(t *testing.T) {
	for b, want := range map[Bytes]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 16_707_422_781: "15.6 GiB", -3 * GiB: "-3.0 GiB", 5 * TiB / 2: "2.5 TiB",
	} {
		if got := b.Short(); got != want {
			t.Errorf("%d is %q, want %q", b, got, want)
		}
	}
}

func TestSizesThatAreComparedAreToldApart(t *testing.T) {
	for _, c := range []struct {
		sizes []Bytes
		want  []string
	}{
		{[]Bytes{GiB, 2 * GiB}, []string{"1.0 GiB", "2.0 GiB"}},
		{[]Bytes{GiB, GiB}, []string{"1.0 GiB", "1.0 GiB"}},
		{[]Bytes{GiB, GiB + 1}, []string{"1073741824 B", "1073741825 B"}},
		{[]Bytes{GiB + 1, 3 * GiB, GiB, GiB + 1, 0}, []string{"1073741825 B", "3.0 GiB", "1073741824 B", "1073741825 B", "0 B"}},
	} {
		size := Apart(c.sizes...)
		var got []string
		for _, b := range c.sizes {
			got = append(got, size(b))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.sizes, diff)
		}
	}
}

func TestOneIsSingular(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Counted(0, "job"), "0 jobs"}, {Counted(1, "job"), "1 job"}, {Counted(2, "job"), "2 jobs"},
		{Counted(int64(1), "job"), "1 job"}, {Counted(Count(1), "permit"), "1 permit"}, {Counted(Unbounded, "permit"), "unbounded permits"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestAFractionIsWithinHalfAByte compares with the definition: |size * 10^decimals - digits * unit| <= 10^decimals / 2.
func TestAFractionIsWithinHalfAByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[0-9]{1,5}`).Draw(t, "digits")
		decimals := rapid.StringMatching(`[0-9]{1,12}`).Draw(t, "decimals")
		u := rapid.SampledFrom(byteUnits).Draw(t, "unit")
		got, err := ParseBytes(digits + "." + decimals + u.suffix)
		if err != nil {
			t.Fatal(err)
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(decimals))), nil)
		exact, _ := new(big.Int).SetString(digits+decimals, 10)
		exact.Mul(exact, big.NewInt(int64(u.size)))
		off := new(big.Int).Sub(new(big.Int).Mul(big.NewInt(int64(got)), scale), exact)
		if off.Abs(off).Lsh(off, 1).Cmp(scale) > 0 {
			t.Fatalf("%s.%s%s is %d: more than half a byte off", digits, decimals, u.suffix, got)
		}
	})
}

// quantities are the values of this package that have a unit or a word in files.
type quantities struct {
	Size  Bytes `json:"size" yaml:"size"`
	Time  Span  `json:"time" yaml:"time"`
	Limit Count `json:"limit" yaml:"limit"`
	Stage Stage `json:"stage" yaml:"stage"`
}

func TestQuantitiesReadBackFromJSONAndYAML(t *testing.T) {
	counts := rapid.OneOf(rapid.Map(rapid.Int32Range(0, 1<<31-2), func(n int32) Count { return Count(n) }),
		rapid.SampledFrom([]Count{Unbounded, Auto}))
	rapid.Check(t, func(t *rapid.T) {
		want := quantities{
			Size:  Bytes(rapid.Int64Min(0).Draw(t, "size")),
			Time:  Span(rapid.Int64().Draw(t, "time")),
			Limit: counts.Draw(t, "limit"),
			Stage: rapid.SampledFrom([]Stage{NoStage, Parse, Synth, Prep, Kernel, Tail, Finish, Dealloc}).Draw(t, "stage"),
		}
		for name, codec := range map[string]struct {
			marshal   func(any) ([]byte, error)
			unmarshal func([]byte, any) error
		}{
			"JSON": {json.Marshal, json.Unmarshal},
			"YAML": {yaml.Marshal, func(data []byte, v any) error { return yaml.Unmarshal(data, v) }},
		} {
			data, err := codec.marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			var got quantities
			if err := codec.unmarshal(data, &got); err != nil || got != want {
				t.Fatalf("%s: %+v became %+v, %v\n%s", name, want, got, err, data)
			}
		}
	})
}

func TestCountsAreNumbersOrWordsInJSON(t *testing.T) {
	data, err := json.Marshal([]Count{3, 0, Unbounded, Auto})
	if want := `[3,0,"unbounded","auto"]`; err != nil || string(data) != want {
		t.Errorf("got %s, %v; want %s", data, err, want)
	}
	for _, text := range []string{`1.5`, `"many"`, `2147483647`, `-1`, `null`, `true`, `""`, `[1]`} {
		c := Count(7)
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s was read as %s", text, c)
		}
	}
}

func FuzzParseBytes(f *testing.F) {
	for _, seed := range []string{"755GiB", "16.5 GiB", "0B", "755Gib", "1e9GB", "-1B", "9223372036854775807B", "0.0000000001TiB"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size, err := ParseBytes(text)
		if err != nil {
			return
		}
		if size < 0 {
			t.Fatalf("%q is %d, below zero", text, size)
		}
		if again, err := ParseBytes(size.String()); err != nil || again != size {
			t.Fatalf("%q is %s, which reads as %d, %v", text, size, again, err)
		}
	})
}

func FuzzParseSpan(f *testing.F) {
	for _, seed := range []string{"36.5s", "1h2m3s", "0", "-1ns", "9223372036854775807ns", "1us"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		span, err := ParseSpan(text)
		if err != nil {
			return
		}
		if again, err := ParseSpan(span.String()); err != nil || again != span {
			t.Fatalf("%q is %s, which reads as %d, %v", text, span, again, err)
		}
	})
}

func FuzzCount(f *testing.F) {
	for _, seed := range []string{"1", "unbounded", "auto", "-1", "2147483647", "1.5", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c, again Count
		if c.UnmarshalText([]byte(text)) != nil {
			return
		}
		if err := again.UnmarshalText([]byte(c.String())); err != nil || again != c {
			t.Fatalf("%q is %s, which reads as %d, %v", text, c, again, err)
		}
	})
}

func TestTimesEndsAtTheLargestAmount(t *testing.T) {
	for _, c := range []struct {
		bytes Bytes
		n     int
		want  Bytes
	}{{3, 4, 12}, {0, 1 << 40, 0}, {1 << 50, 0, 0}, {1 << 50, 1 << 12, 1 << 62}, {1 << 50, 1 << 13, math.MaxInt64}, {1 << 50, 1 << 30, math.MaxInt64}} {
		if got := c.bytes.Times(c.n); got != c.want {
			t.Errorf("%d times %d is %d, want %d", c.n, int64(c.bytes), int64(got), int64(c.want))
		}
	}
}
