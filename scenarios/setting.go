package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"headroom/model"
)

// choice is a key and the values that it takes.
type choice struct {
	key    string
	values []string
}

// settable are the keys of a scenario that a setting may be at or below.
var settable = []string{"machine", "config", "workload", "kinds", "profile", "seed"}

func allChoices(settings []string) ([]choice, error) {
	var list []choice
	variants := 1
	for _, s := range settings {
		c, err := parseSetting(s)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(other choice) bool { return other.key == c.key }) {
			return nil, fmt.Errorf("--set %s: %s is set twice: once, with a list such as =1,2 for several values",
				model.Clip(s), c.key)
		}
		list = append(list, c)
		if variants *= len(c.values); variants > MaxVariants {
			return nil, fmt.Errorf("--set %s: the settings give more than %d variants, which is the limit: use smaller ranges",
				model.Clip(s), MaxVariants)
		}
	}
	return list, nil
}

// parseSetting reads key=value, key=value,value and key=4..20.
func parseSetting(text string) (choice, error) {
	key, value, found := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !found || key == "" {
		return choice{}, fmt.Errorf("--set %s: a setting is key=value, for example config.admission.permits=10", model.Clip(text))
	}
	first := key
	if end := strings.IndexAny(key, ".["); end >= 0 {
		first = key[:end]
	}
	if !slices.Contains(settable, first) {
		wrong := first + " cannot be set"
		if first == "" {
			wrong = "the key begins with an empty part"
		}
		return choice{}, fmt.Errorf("--set %s: %s: keys begin with %s", model.Clip(text), wrong, strings.Join(settable, ", "))
	}
	c := choice{key: key}
	for _, part := range splitList(value) {
		values, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return choice{}, fmt.Errorf("--set %s: %w", model.Clip(text), err)
		}
		c.values = append(c.values, values...)
	}
	return c, nil
}

var wholeRange = regexp.MustCompile(`^([+-]?\d+)\.\.([+-]?\d+)$`)

// parseRange returns the values of a range, or the value that is none.
func parseRange(text string) ([]string, error) {
	if text == "" {
		return nil, fmt.Errorf("a value is missing: write null to take the key away")
	}
	m := wholeRange.FindStringSubmatch(text)
	if m == nil {
		return []string{text}, nil
	}
	from, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil {
		return nil, fmt.Errorf("the range begins with %s: a whole number of at most 32 bits", m[1])
	}
	to, err := strconv.ParseInt(m[2], 10, 32)
	if err != nil || to < from || to-from >= MaxVariants {
		return nil, fmt.Errorf("the range ends with %s: from %d to %d", m[2], from, from+MaxVariants-1)
	}
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, strconv.FormatInt(i, 10))
	}
	return list, nil
}

// splitList cuts text at its commas that are not in brackets or quotes.
func splitList(text string) []string {
	var parts []string
	depth, quote, from := 0, rune(0), 0
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '[' || r == '{':
			depth++
		case r == ']' || r == '}':
			depth--
		case r == ',' && depth == 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}
