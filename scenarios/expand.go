package scenarios

import (
	"fmt"

	"headroom/model"
	"headroom/model/strict"
)

// MaxVariants is the largest number of variants that settings may give.
const MaxVariants = 10_000

// Variant is a scenario with settings applied.
type Variant struct {
	Settings []string // key=value, in the order given
	Scenario *Scenario
}

// Expand reads a scenario once for every combination of settings such as config.admission.permits=10 (values are
// YAML, null takes a key away), config.admission.permits=4..20 (each whole number) and config.gpu.lock=call,kernel
// (each of the list). Combinations come in the order given, the last setting changing fastest. Keys below
// machine, config, workload and kinds can be set, and profile and seed.
func Expand(data []byte, filename string, settings []string, here Here) ([]Variant, error) {
	root, err := strict.Parse(data, filename)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	choices, err := allChoices(settings)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	r := &reader{filename: filename, here: once(here)}
	var variants []Variant
	picked := make([]int, len(choices))
	for more := true; more; more = next(picked, choices) {
		v, err := r.variant(root, choices, picked)
		if err != nil {
			return nil, err
		}
		variants = append(variants, v)
	}
	return variants, nil
}

// once returns a function that looks at the machine the first time only, so that all variants see the same.
func once(here Here) Here {
	if here == nil {
		return nil
	}
	var machine model.Machine
	var err error
	looked := false
	return func() (model.Machine, error) {
		if !looked {
			machine, err = here()
			looked = true
		}
		return machine, err
	}
}

// next moves picked to the next combination and returns false after the last one.
func next(picked []int, choices []choice) bool {
	for i := len(picked) - 1; i >= 0; i-- {
		if picked[i]++; picked[i] < len(choices[i].values) {
			return true
		}
		picked[i] = 0
	}
	return false
}

func (r *reader) variant(root *strict.Node, choices []choice, picked []int) (Variant, error) {
	var v Variant
	for i, c := range choices {
		setting := c.key + "=" + c.values[picked[i]]
		changed, err := set(root, c.key, c.values[picked[i]], "--set "+model.Clip(setting))
		if err != nil {
			return v, fmt.Errorf("scenario: %w", err)
		}
		root = changed
		v.Settings = append(v.Settings, setting)
	}
	var err error
	v.Scenario, err = r.scenario(root)
	return v, err
}

func set(root *strict.Node, key, value, name string) (*strict.Node, error) {
	node, err := strict.ParseValue(value, name)
	if err != nil {
		return nil, err
	}
	changed, err := root.With(key, node)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return changed, nil
}
