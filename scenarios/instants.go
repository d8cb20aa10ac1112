package scenarios

import (
	"bufio"
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"headroom/model"
)

// The layouts of timestamps in lists of arrivals. Fractions of a second are read with any of them.
var timestamps = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// maxInstants is the largest list of arrivals that is read: some ten million lines.
const maxInstants = 128 << 20

// longestInstant is the longest line of such a list.
const longestInstant = 1 << 16

// instants reads the list of arrivals that a scenario names by a path, which is looked up beside the scenario's file.
func (r *reader) instants(path string) ([]model.Instant, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.filename), path)
	}
	data, err := readUpTo(path, maxInstants)
	if err != nil {
		return nil, err
	}
	if len(data) > maxInstants {
		return nil, fmt.Errorf("it is larger than %s", model.Bytes(maxInstants))
	}
	return ParseInstants(data)
}

// ParseInstants reads a list of arrivals: a line for each job, of which the first column, up to a comma, is when it
// arrives: seconds (12.5), a duration (1h2m), or a timestamp (2006-01-02T15:04:05.5Z), counted from the first one.
// All lines are of one sort and in order of time. Empty lines, lines that begin with # and a first line of names are
// passed over.
func ParseInstants(data []byte) ([]model.Instant, error) {
	var list []model.Instant
	var start time.Time
	var sort string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, longestInstant)
	n := 1
	for ; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), ",")
		text = strings.Trim(strings.TrimSpace(text), `"`)
		if text == "" || text[0] == '#' {
			continue
		}
		at, found, ok := parseInstant(text, &start)
		switch {
		case !ok && sort == "" && strings.ContainsAny(text[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"):
			continue // names of columns
		case !ok:
			return nil, fmt.Errorf("line %d: %q: seconds such as 12.5, a duration such as 1h2m, or a timestamp such as 2006-01-02T15:04:05.5Z", n, model.Clip(text))
		case sort != "" && found != sort:
			return nil, fmt.Errorf("line %d: %q is a %s: the lines before are %ss", n, model.Clip(text), found, sort)
		case len(list) > 0 && at < list[len(list)-1], at < 0:
			return nil, fmt.Errorf("line %d: %q is before the line above it, or below 0: the lines must be in order of time", n, model.Clip(text))
		}
		sort = found
		list = append(list, at)
	}
	if lines.Err() != nil {
		return nil, fmt.Errorf("line %d: is longer than %d bytes", n, longestInstant)
	}
	return list, nil
}

// parseInstant reads one instant and says of what sort it is. A timestamp counts from start, which the first one sets.
func parseInstant(text string, start *time.Time) (at model.Instant, sort string, ok bool) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds <= model.MaxSpan.Seconds() {
		return model.Instant(model.SpanOf(seconds)), "number", true
	}
	if span, err := model.ParseSpan(text); err == nil && span <= model.MaxSpan {
		return model.Instant(span), "duration", true
	}
	for _, layout := range timestamps {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		if start.IsZero() {
			*start = t
		}
		return model.Instant(t.Sub(*start)), "timestamp", true
	}
	return 0, "", false
}
