// Package render prints results: as text for people, as JSON and as CSV for programs. The keys of the JSON are the
// interface of the commands; what has no value is null, never NaN.
//
// Open run.go first, which has the shape of a simulated run, then text.go.
package render

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Schema is the version of the JSON that this package writes.
const Schema = 1

// JSON writes a value with its keys in a fixed order.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// finite returns the number, or nil if it is none.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// newTable returns a table without lines. Columns whose names are listed in left are aligned left, all others right.
func newTable(left []string, header ...string) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format = table.FormatOptions{Footer: text.FormatDefault, Header: text.FormatDefault, Row: text.FormatDefault}
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	row := make(table.Row, len(header))
	columns := make([]table.ColumnConfig, len(header))
	for i, name := range header {
		row[i] = name
		columns[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
		for _, l := range left {
			if l == name {
				columns[i].Align, columns[i].AlignHeader = text.AlignLeft, text.AlignLeft
			}
		}
	}
	t.AppendHeader(row)
	t.SetColumnConfigs(columns)
	return t
}

// none stands in tables for what has no value.
const none = "-"

// seconds prints a time in four digits or so with its unit; NaN is none.
func seconds(s float64) string {
	digits := 0
	switch magnitude := math.Abs(s); {
	case math.IsNaN(s):
		return none
	case magnitude < 10:
		digits = 3
	case magnitude < 1000:
		digits = 1
	}
	return strconv.FormatFloat(s, 'f', digits, 64) + " s"
}

// percent prints a part of one; NaN is none.
func percent(part float64) string {
	if math.IsNaN(part) {
		return none
	}
	return fmt.Sprintf("%.1f %%", 100*part)
}
