// Package scenarios reads scenario files: a machine, a configuration, a workload and the profile that predicts
// them. It carries the scenarios, profiles and published tables that come with headroom.
package scenarios

import (
	"errors"
	"fmt"

	"headroom/model"
	"headroom/model/profile"
	"headroom/model/strict"
)

// Schema is the version of the scenario format that this package reads.
const Schema = 1

// Scenario is a question to ask or a run to do. All of it has been validated.
type Scenario struct {
	Title       string
	Description string
	Machine     model.Machine
	Config      model.Config // Resident is the profile's list where the file has none
	Workload    model.Workload
	Profile     *profile.Profile // nil if the file names none
	ProfileName string           // as in the file
	Kinds       []Kind           // of the scenario and its profile, sorted by name
	Seed        uint64           // 1 where the file is silent
}

// Kind returns the kind of that name, or nil.
func (s *Scenario) Kind(name string) *Kind {
	for i := range s.Kinds {
		if s.Kinds[i].Name == name {
			return &s.Kinds[i]
		}
	}
	return nil
}

// Here describes the machine that the program runs on, for scenarios that say machine: here. It may be nil.
type Here func() (model.Machine, error)

// Parse reads a scenario. The name of its file begins its errors, and a path of a profile is looked up beside the
// file first. Everything that is wrong is reported, with its line.
func Parse(data []byte, filename string, here Here) (*Scenario, error) {
	root, err := strict.Parse(data, filename)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return (&reader{filename: filename, here: here}).scenario(root)
}

// Load reads an embedded scenario by its name, or a file by its path.
func Load(name string, here Here) (*Scenario, error) {
	data, filename, err := Source(name)
	if err != nil {
		return nil, err
	}
	return Parse(data, filename, here)
}

// reader makes scenarios of documents from one file.
type reader struct {
	filename string
	here     Here
	profiles map[string]*profile.Profile // that were read before
	arrivals map[string][]model.Instant  // likewise
}

// file is a scenario as it is written.
type file struct {
	Schema      int             `yaml:"schema"`
	Title       string          `yaml:"title"`
	Description string          `yaml:"description"`
	Machine     machine         `yaml:"machine"`
	Config      raw             `yaml:"config"`
	Workload    workload        `yaml:"workload"`
	Profile     string          `yaml:"profile"`
	Seed        uint64          `yaml:"seed"`
	Kinds       map[string]kind `yaml:"kinds"`
}

func (r *reader) scenario(root *strict.Node) (*Scenario, error) {
	s, err := r.read(root)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return s, nil
}

func (r *reader) read(root *strict.Node) (*Scenario, error) {
	if err := root.CheckSchema(Schema); err != nil {
		return nil, err
	}
	f := file{Seed: 1, Workload: workload{Arrival: arrival{Pattern: model.Closed}}}
	var errs [5]error
	errs[0] = root.Decode(&f)
	s := &Scenario{Title: f.Title, Description: f.Description, ProfileName: f.Profile, Seed: f.Seed}
	s.Machine, errs[1] = r.machine(root, &f.Machine)
	s.Config, errs[2] = f.Config.config(&s.Machine)
	s.Profile, errs[3] = r.profile(root, f.Profile)
	errs[4] = r.readArrivals(root, &f.Workload.Arrival)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if s.Config.Resident == nil && s.Profile != nil {
		s.Config.Resident = s.Profile.Resident
	}
	var faults model.Faults
	faults.Join(s.Machine.Validate())
	s.setAcquireOrders(&faults, f.Kinds)
	faults.Join(s.Config.Validate(&s.Machine))
	s.Workload = f.Workload.resolve(&faults)
	s.Kinds = resolveKinds(&faults, f.Kinds, s.Profile)
	s.checkKinds(&faults, f.Workload.Mix != nil)
	s.checkNames(&faults)
	s.checkReserves(&faults)
	if err := root.Locate(faults.Err()); err != nil {
		return nil, err
	}
	return s, nil
}

// readArrivals reads the file that lists the arrivals, if there is one.
func (r *reader) readArrivals(root *strict.Node, a *arrival) (err error) {
	if a.Pattern != model.Listed {
		return nil
	}
	var known bool
	if a.Instants, known = r.arrivals[a.File]; known {
		return nil
	}
	if a.Instants, err = r.instants(a.File); err != nil {
		return root.At("workload", "arrival", "file").Errorf("is %q: %w", a.File, err)
	}
	if r.arrivals == nil {
		r.arrivals = map[string][]model.Instant{}
	}
	r.arrivals[a.File] = a.Instants
	return nil
}

// machine returns the machine of the file or the one that the program runs on.
func (r *reader) machine(root *strict.Node, m *machine) (model.Machine, error) {
	if !m.here {
		return m.Machine, nil
	}
	at := root.Field("machine")
	if r.here == nil {
		return model.Machine{},
			at.Errorf("is here, which cannot be looked at: describe the machine, for example {ram: 64GiB}")
	}
	found, err := r.here()
	if err != nil {
		return model.Machine{}, at.Errorf("is here: %w", err)
	}
	return found, nil
}

// profile returns the profile that the file names, or nil if it names none.
func (r *reader) profile(root *strict.Node, name string) (*profile.Profile, error) {
	at := root.Field("profile")
	if at == nil || at.Kind != strict.Scalar {
		return nil, nil // there is none, or Decode has said what is wrong
	}
	if name == "" {
		return nil, at.Errorf("is an empty text: a name or a path, or leave the key out")
	}
	if p := r.profiles[name]; p != nil {
		return p, nil
	}
	p, err := findProfile(name, r.filename)
	if err != nil {
		return nil, at.Errorf("is %q: %w", name, err)
	}
	if r.profiles == nil {
		r.profiles = map[string]*profile.Profile{}
	}
	r.profiles[name] = p
	return p, nil
}
