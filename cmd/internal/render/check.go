package render

import (
	"fmt"

	"headroom/model"
	"headroom/model/check"
	"headroom/model/trace"
)

// Check is what the checkers found in a trace, as JSON.
type Check struct {
	Schema   int       `json:"schema"`
	OK       bool      `json:"ok"`
	Records  int       `json:"records"`
	Outcome  *string   `json:"outcome"` // nil: the run was cut off
	Checkers []Checked `json:"checkers"`
	Warnings []string  `json:"warnings"`
}

// Checked is what one checker found.
type Checked struct {
	Number    int       `json:"number"`
	Name      string    `json:"name"`
	Statement string    `json:"statement"`
	Reason    string    `json:"reason"`
	Findings  []Finding `json:"findings"`
}

// Finding is a place of the trace where a statement does not hold.
type Finding struct {
	Record  int     `json:"record"`
	AtS     float64 `json:"at_s"`
	Message string  `json:"message"`
}

// NewCheck sorts findings by their checkers.
func NewCheck(t *trace.Trace, findings []check.Finding) Check {
	out := Check{Schema: Schema, OK: len(findings) == 0, Records: len(t.Records),
		Warnings: append([]string{}, t.Warnings...)}
	if t.End != nil {
		out.Outcome = new(string(t.End.Outcome))
	}
	for _, c := range check.Checkers() {
		one := Checked{Number: c.Number, Name: c.Name, Statement: c.Statement, Reason: c.Reason, Findings: []Finding{}}
		for _, f := range findings {
			if f.Checker == c.Number {
				one.Findings = append(one.Findings, Finding{f.Record, f.At.Seconds(), f.Message})
			}
		}
		out.Checkers = append(out.Checkers, one)
	}
	return out
}

// Check prints a line for each checker, with its findings and what they break below it.
func (t Text) Check(c *Check) {
	var outcome trace.Outcome
	if c.Outcome != nil {
		outcome = trace.Outcome(*c.Outcome)
	}
	fmt.Fprintf(t.W, "%s of a run that %s\n\n", model.Counted(c.Records, "step"), ended(outcome))
	for _, one := range c.Checkers {
		if len(one.Findings) == 0 {
			fmt.Fprintf(t.W, "%2d %-10s  ok\n", one.Number, one.Name)
			continue
		}
		fmt.Fprintf(t.W, "%2d %-10s  does not hold: %s\n", one.Number, one.Name, one.Statement)
		for _, f := range one.Findings {
			fmt.Fprintf(t.W, "   step %d at %s: %s\n", f.Record+1, seconds(f.AtS), f.Message)
		}
	}
	t.Warnings(c.Warnings)
}
