package profile

import (
	"fmt"
	"slices"
	"strings"

	"headroom/model"
	"headroom/model/strict"
)

// Schema is the version of the file format that this package reads and writes.
const Schema = 1

// file is a profile as it is written.
type file struct {
	Schema       int                    `yaml:"schema"`
	Name         string                 `yaml:"name"`
	Provenance   Provenance             `yaml:"provenance"`
	Baseline     Quantity[model.Bytes]  `yaml:"baseline"`
	Device       Quantity[model.Bytes]  `yaml:"device_baseline"`
	Scatter      Quantity[model.Bytes]  `yaml:"scatter"`
	Resident     []model.Resident       `yaml:"resident"`
	Interference Interference           `yaml:"interference"`
	Kinds        map[string]kindInAFile `yaml:"kinds"`
}

type kindInAFile struct {
	model.Circuit
	Partitions int                  `yaml:"partitions"`
	Priority   int                  `yaml:"priority"`
	Keys       Keys                 `yaml:"keys"`
	Work       map[model.Stage]Work `yaml:"work"`
	BG2        *BG2                 `yaml:"b_g2"`
	Footprint  Footprint            `yaml:"footprint"`
}

// Read reads a profile; the name, usually the file's, begins its errors. It reports everything that is wrong,
// each fault with its line.
func Read(data []byte, name string) (*Profile, error) {
	root, err := strict.Parse(data, name)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	if err := root.CheckSchema(Schema); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	var f file
	if err := root.Decode(&f); err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	p := f.profile()
	if err := p.Validate(); err != nil {
		return nil, fmt.Errorf("profile: %w", root.Locate(err))
	}
	return p, nil
}

func (f *file) profile() *Profile {
	p := &Profile{
		Name: f.Name, Provenance: f.Provenance, Baseline: f.Baseline, DeviceBaseline: f.Device, Scatter: f.Scatter, Resident: f.Resident,
		Interference: f.Interference,
	}
	for name, k := range f.Kinds {
		kind := Kind{Name: name, Partitions: k.Partitions, Priority: k.Priority, Keys: k.Keys, Work: k.Work, BG2: k.BG2, Footprint: k.Footprint}
		if k.Circuit != (model.Circuit{}) {
			kind.Circuit = &k.Circuit
		}
		p.Kinds = append(p.Kinds, kind)
	}
	slices.SortFunc(p.Kinds, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return p
}

// UnmarshalNode reads a number, or a map of value, low, high and from.
func (q *Quantity[T]) UnmarshalNode(n *strict.Node) error {
	*q = Quantity[T]{}
	if n.Kind != strict.Map {
		return n.Decode(&q.Value)
	}
	var full struct {
		Value T      `yaml:"value"`
		Low   T      `yaml:"low"`
		High  T      `yaml:"high"`
		From  Source `yaml:"from"`
	}
	if err := n.Decode(&full); err != nil {
		return err
	}
	if n.Field("value") == nil {
		return n.Errorf("has no value: write {value: , low: , high: , from: }, of which only value is needed")
	}
	if (n.Field("low") == nil) != (n.Field("high") == nil) {
		return n.Errorf("has one end of an interval: give both low and high, or neither")
	}
	*q = Quantity[T]{Value: full.Value, Low: full.Low, High: full.High, Source: full.From}
	return nil
}

// UnmarshalNode reads [progress, bytes].
func (p *Point) UnmarshalNode(n *strict.Node) error {
	return decodePair(n, "[progress, bytes]", &p.Progress, &p.Bytes)
}

// UnmarshalNode reads [n, factor].
func (p *SlowdownPoint) UnmarshalNode(n *strict.Node) error {
	return decodePair(n, "[n, factor]", &p.N, &p.Factor)
}

func decodePair(n *strict.Node, right string, first, second any) error {
	if n.Kind != strict.List || len(n.Items) != 2 {
		return n.Errorf("is %s: a pair %s", n, right)
	}
	if err := n.Items[0].Decode(first); err != nil {
		return err
	}
	return n.Items[1].Decode(second)
}
