package scenarios

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/strict"
)

// Kind is a kind of job that a scenario or its profile defines.
type Kind struct {
	Name       string
	Circuit    *model.Circuit // nil when the live prover cannot run it
	Partitions int
	Priority   int
}

// kind is a kind as a scenario writes it. What it leaves out is the profile's.
type kind written

// written is a kind without a way of its own to be read.
type written struct {
	model.Circuit
	Partitions   *int               `yaml:"partitions"`
	Priority     *int               `yaml:"priority"`
	AcquireOrder model.AcquireOrder `yaml:"acquire_order"`
}

// UnmarshalNode reads the map of a kind. A circuit without a leaf has the default one.
func (k *kind) UnmarshalNode(n *strict.Node) error {
	err := n.Decode((*written)(k))
	if n.Field("circuit") != nil && n.Field("leaf") == nil {
		k.Leaf = model.DefaultLeaf
	}
	return err
}

// resolveKinds returns the kinds of the file and the profile, sorted by name, and notes what is wrong with the
// file's and where they disagree with the profile.
func resolveKinds(f *model.Faults, written map[string]kind, p *profile.Profile) []Kind {
	var list []Kind
	for _, name := range slices.Sorted(maps.Keys(written)) {
		k, at := written[name], "kinds."+name
		var known *profile.Kind
		if p != nil {
			known = p.Kind(name)
		}
		if known == nil {
			list = append(list, k.alone(f, name, at))
		} else {
			k.agree(f, at, p.Name, known)
		}
	}
	if p != nil {
		for _, k := range p.Kinds {
			list = append(list, Kind{Name: k.Name, Circuit: k.Circuit, Partitions: k.Partitions, Priority: k.Priority})
		}
	}
	slices.SortFunc(list, func(a, b Kind) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// alone returns a kind that only the scenario defines.
func (k *kind) alone(f *model.Faults, name, at string) Kind {
	out := Kind{Name: name, Circuit: &k.Circuit}
	if name == "" {
		f.Add("kinds", "has a kind without a name: each needs one")
	}
	f.Name(at, name)
	f.Join(k.Circuit.Validate(at))
	if k.Priority != nil {
		out.Priority = *k.Priority
	}
	switch {
	case k.Partitions == nil:
		f.Add(at+".partitions", "is missing: the number of partitions of a job, at least 1")
	case *k.Partitions < 1 || *k.Partitions > model.MaxPartitions:
		f.Add(at+".partitions", "is %d: from 1 to %d", *k.Partitions, model.MaxPartitions)
	default:
		out.Partitions = *k.Partitions
	}
	return out
}

// agree notes where the kind is not the one that the profile was made with.
func (k *kind) agree(f *model.Faults, at, profileName string, known *profile.Kind) {
	differs := func(key string, here, there any) {
		f.Add(at+key, "is %v, and %v in the profile %s: the profile predicts only the kind that it was made with; "+
			"leave the profile out to record another",
			here, there, profileName)
	}
	switch c := known.Circuit; {
	case k.Circuit == (model.Circuit{}):
	case c == nil:
		differs("", k.Circuit, "without a circuit")
	case *c != k.Circuit:
		differs("", k.Circuit, c)
	}
	if k.Partitions != nil && *k.Partitions != known.Partitions {
		differs(".partitions", *k.Partitions, known.Partitions)
	}
	if k.Priority != nil && *k.Priority != known.Priority {
		differs(".priority", *k.Priority, known.Priority)
	}
}

// checkKinds notes the kinds of the workload that nothing is known of.
func (s *Scenario) checkKinds(f *model.Faults, mix bool) {
	for i, share := range s.Workload.Shares {
		key := "workload.kind"
		if mix {
			key = fmt.Sprintf("workload.mix[%d].kind", i)
		}
		switch {
		case s.Profile != nil && s.Profile.Kind(share.Kind) == nil:
			f.Add(key, "is %q, which the profile %s does not know: its kinds are %s; "+
				"leave the profile out to record another",
				share.Kind, s.Profile.Name, strings.Join(s.kindNames(), ", "))
		case s.Kind(share.Kind) == nil:
			f.Add(key, "is %q, which is defined nowhere: give it an entry in kinds or name a profile that has it "+
				"(there is %s)", share.Kind, cmp.Or(strings.Join(s.kindNames(), ", "), "none"))
		}
	}
}

// checkNames notes the kinds that the configuration names and nothing defines. What it says of them would be lost, such
// as data that no job ever needs.
func (s *Scenario) checkNames(f *model.Faults) {
	check := func(at, name string) {
		if s.Kind(name) == nil {
			f.Add(at, "names the kind %q, which is defined nowhere (there is %s)", name, cmp.Or(strings.Join(s.kindNames(), ", "), "none"))
		}
	}
	if b := s.Config.Admission.Budget; b != nil {
		for _, name := range slices.Sorted(maps.Keys(b.Kinds)) {
			check("config.admission.budget.kinds."+name, name)
		}
	}
	for i, r := range s.Config.Resident {
		for j, name := range r.Kinds {
			check(fmt.Sprintf("config.resident[%d].kinds[%d]", i, j), name)
		}
	}
	if s.Config.Batch != nil {
		for j, name := range s.Config.Batch.Kinds {
			check(fmt.Sprintf("config.batch.kinds[%d]", j), name)
		}
	}
}

// kindNames lists the kinds of the profile, or without one those of the file.
func (s *Scenario) kindNames() []string {
	var names []string
	for _, k := range s.Kinds {
		if s.Profile == nil || s.Profile.Kind(k.Name) != nil {
			names = append(names, k.Name)
		}
	}
	return names
}
