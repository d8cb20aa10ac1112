package explain

import (
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"

	"headroom/model"
	"headroom/sim"
)

// MaxKnobs is the most knobs among which a difference is divided, since k of them take 2^k plans.
const MaxKnobs = 8

// mostSettings is the most settings of which those that must move together are looked for.
const mostSettings = 16

// Group is settings that the caller wants to move together: keys, or keys below which all that differs belongs to it.
type Group struct {
	Name string
	Keys []string
}

// space is two plans and all the plans between them that take some knobs from one and some from the other.
type space struct {
	plan  sim.Plan // a's, of which what is no knob is used
	a, b  form
	knobs []Knob
	notes []string
}

// newSpace returns the space between two valid plans.
func newSpace(a, b *sim.Plan, groups []Group) (*space, error) {
	s := &space{plan: *a}
	single := isSingle(&a.Workload) && isSingle(&b.Workload)
	s.a, s.b = formOf(a, single), formOf(b, single)
	mix("", reflect.ValueOf(s.a), reflect.ValueOf(s.b), func(path string, a, b reflect.Value) bool {
		s.knobs = append(s.knobs, Knob{path, []Setting{{path, written(a), written(b)}}})
		return false
	})
	if err := s.group(groups); err != nil {
		return nil, err
	}
	if len(s.knobs) <= mostSettings {
		s.bind()
	}
	if len(s.knobs) > MaxKnobs {
		return nil, fmt.Errorf("explain: the plans differ in %d knobs, and at most %d can be told apart: "+
			"let some move together as a group: %s", len(s.knobs), MaxKnobs, strings.Join(names(s.knobs), ", "))
	}
	return s, nil
}

// formOf returns the form of a plan. A list of resident data that is the profile's is part of the profile.
func formOf(p *sim.Plan, single bool) form {
	f := form{Machine: p.Machine, Config: p.Config, Profile: p.Profile, Workload: workload{Rest: p.Workload}}
	if reflect.DeepEqual(f.Config.Resident, p.Profile.Resident) {
		f.Config.Resident = nil
	}
	f.Workload.Rest.Shares = nil
	if single {
		f.Workload.Jobs, f.Workload.Kind = p.Workload.Shares[0].Jobs, p.Workload.Shares[0].Kind
	} else {
		f.Workload.Mix = p.Workload.Shares
	}
	return f
}

// isSingle reports whether a scenario writes a workload as jobs of one kind.
func isSingle(w *model.Workload) bool { return len(w.Shares) == 1 && w.Shares[0].Weight == 0 }

// between returns the plan that takes the knobs of a set, whose bit i is knob i, from b and the others from a.
func (s *space) between(set int) sim.Plan {
	fromB := map[string]bool{}
	for i, k := range s.knobs {
		for _, setting := range k.Settings {
			fromB[setting.Key] = set&(1<<i) != 0
		}
	}
	mixed := mix("", reflect.ValueOf(s.a), reflect.ValueOf(s.b), func(path string, _, _ reflect.Value) bool {
		return fromB[path]
	})
	f := mixed.Interface().(form)
	p := s.plan
	p.Machine, p.Config, p.Workload, p.Profile = f.Machine, f.Config, f.Workload.Rest, f.Profile
	p.Workload.Shares = f.Workload.Mix
	if f.Workload.Mix == nil {
		p.Workload.Shares = []model.Share{{Kind: f.Workload.Kind, Jobs: f.Workload.Jobs}}
	}
	if p.Config.Resident == nil {
		p.Config.Resident = p.Profile.Resident
	}
	return p
}

// group joins the knobs of the caller's groups.
func (s *space) group(groups []Group) error {
	var faults []error
	fault := func(g *Group, format string, args ...any) {
		faults = append(faults, fmt.Errorf("explain: group %s: "+format, append([]any{g.Name}, args...)...))
	}
	of := map[string]string{} // from a knob to its group
	for i := range groups {
		g := &groups[i]
		for _, key := range g.Keys {
			members := under(key, s.knobs)
			if len(members) == 0 {
				fault(g, "the plans do not differ in %q: they differ in %s", key, strings.Join(names(s.knobs), ", "))
			}
			for _, name := range members {
				if of[name] != "" && of[name] != g.Name {
					fault(g, "%s is in group %s already: a knob is in one group", name, of[name])
				}
				of[name] = g.Name
			}
		}
	}
	for i := range groups {
		if g := &groups[i]; of[g.Name] != g.Name && slices.Contains(names(s.knobs), g.Name) {
			fault(g, "it has the name of a knob that is not in it: choose another")
		}
	}
	s.knobs = grouped(s.knobs, of)
	return errors.Join(faults...)
}

// grouped joins the knobs of each group; of is from a knob to its group.
func grouped(knobs []Knob, of map[string]string) []Knob {
	var list []Knob
	for _, k := range knobs {
		name := of[k.Name]
		at := slices.IndexFunc(list, func(other Knob) bool { return other.Name == name })
		switch {
		case name == "":
			list = append(list, k)
		case at < 0:
			list = append(list, Knob{name, k.Settings})
		default:
			list[at].Settings = append(list[at].Settings, k.Settings...)
		}
	}
	return list
}

// under returns the names of the knobs at or below a key.
func under(key string, knobs []Knob) []string {
	return slices.DeleteFunc(names(knobs), func(name string) bool {
		return name != key && !strings.HasPrefix(name, key+".")
	})
}

func names(knobs []Knob) []string {
	list := make([]string, len(knobs))
	for i, k := range knobs {
		list[i] = k.Name
	}
	return list
}

// bind joins knobs until every plan of the space is valid: the smallest set of which the plan is not with the fewest
// others that make it so. With more than MaxKnobs knobs only those that cannot be turned alone are joined.
func (s *space) bind() {
	for {
		most := len(s.knobs) - 1
		if len(s.knobs) > MaxKnobs {
			most = 1
		}
		var problem error
		broken := s.smallest(most, func(set int) bool {
			p := s.between(set)
			problem = valid(&p)
			return problem != nil
		})
		if broken == 0 {
			return
		}
		s.join(s.smallest(len(s.knobs), func(set int) bool {
			p := s.between(set)
			return set&broken == broken && valid(&p) == nil
		}), problem)
	}
}

// smallest returns the first of the smallest sets, of at most that many knobs, for which is holds; 0 if there is none.
func (s *space) smallest(most int, is func(set int) bool) int {
	for size := 1; size <= most; size++ {
		for set := range 1 << len(s.knobs) {
			if bits.OnesCount(uint(set)) == size && is(set) {
				return set
			}
		}
	}
	return 0
}

// join makes one knob of a set of them, because without the others some of them would be a problem.
func (s *space) join(set int, problem error) {
	var joined Knob
	var members []string
	var rest []Knob
	for i, k := range s.knobs {
		if set&(1<<i) == 0 {
			rest = append(rest, k)
			continue
		}
		members = append(members, k.Name)
		joined.Settings = append(joined.Settings, k.Settings...)
	}
	joined.Name = strings.Join(members, "+")
	s.notes = append(s.notes,
		fmt.Sprintf("%s move together, since else %s", strings.Join(members, " and "), firstLine(problem)))
	s.knobs = slices.Insert(rest, bits.TrailingZeros(uint(set)), joined)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
