package render

import "fmt"

// Scenario is an embedded scenario as JSON.
type Scenario struct {
	Schema      int     `json:"schema,omitempty"` // left out in a list
	Name        string  `json:"name"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Profile     *string `json:"profile"`        // nil: it has none
	YAML        string  `json:"yaml,omitempty"` // left out in a list
}

// Scenarios is a list of scenarios as JSON.
type Scenarios struct {
	Schema    int        `json:"schema"`
	Scenarios []Scenario `json:"scenarios"`
}

// Scenarios prints a table of names and titles.
func (t Text) Scenarios(list []Scenario) {
	table := newTable([]string{"name", "title"}, "name", "title")
	for _, s := range list {
		table.AppendRow([]any{s.Name, s.Title})
	}
	fmt.Fprintln(t.W, table.Render())
}
