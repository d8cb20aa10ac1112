package explain

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"headroom/model"
	"headroom/model/profile"
	"headroom/scenarios"
	"headroom/sim"
)

// planOf returns the plan of an embedded scenario with settings.
func planOf(t testing.TB, name string, settings ...string) sim.Plan {
	t.Helper()
	data, filename, err := scenarios.Source(name)
	if err != nil {
		t.Fatal(err)
	}
	variants, err := scenarios.Expand(data, filename, settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := variants[0].Scenario
	return sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: s.Profile, Seed: s.Seed}
}

// spaceOf returns the space between two plans.
func spaceOf(t testing.TB, a, b sim.Plan, groups ...Group) *space {
	t.Helper()
	s, err := newSpace(&a, &b, groups)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestKnobsAreKeysOfTheScenario turns each knob to each of its other values, and holds what the difference is called
// against what the scenario becomes when that is set.
func TestKnobsAreKeysOfTheScenario(t *testing.T) {
	a := planOf(t, "phase12-post-10")
	list := neighbours(&a)
	if len(list) < 20 {
		t.Fatalf("%d neighbours: the walk over the configuration misses some", len(list))
	}
	for _, n := range list {
		var settings, changed []string
		for _, s := range n.knob.Settings {
			settings, changed = append(settings, s.Key+"="+s.To), append(changed, s.Key)
		}
		set := planOf(t, "phase12-post-10", settings...)
		if diff := cmp.Diff(set.Config, n.plan.Config); diff != "" {
			t.Errorf("%v (-set +neighbour):\n%s", settings, diff)
		}
		var found []string
		s := spaceOf(t, a, n.plan)
		for _, k := range s.knobs {
			for _, setting := range k.Settings {
				found = append(found, setting.Key)
			}
		}
		if diff := cmp.Diff(changed, found, cmpopts.SortSlices(strings.Compare)); diff != "" {
			t.Errorf("%v: the knobs that differ (-set +found):\n%s", settings, diff)
		}
	}
}

// TestEveryWordIsKnown fails when a configuration has a knob whose values are words that nobody listed.
func TestEveryWordIsKnown(t *testing.T) {
	c := model.DefaultConfig(1)
	c.Admission.Budget, c.Batch = &model.Budget{}, &model.Batch{}
	each(&c, func(path string, knob reflect.Value) {
		if knob.Kind() == reflect.String && words[knob.Type()] == nil {
			t.Errorf("%s: the values of %s are not listed in words", path, knob.Type())
		}
	})
}

// TestTheEndsOfASpaceAreItsPlans takes no knobs of B, and all.
func TestTheEndsOfASpaceAreItsPlans(t *testing.T) {
	for _, c := range [][2]string{{"phase12-pre-10", "phase12-light-1"}, {"example", "phase12-pre-10"}} {
		a, b := planOf(t, c[0]), planOf(t, c[1])
		s := spaceOf(t, a, b, Group{"configuration", []string{"config"}})
		ends := []sim.Plan{s.between(0), s.between(1<<len(s.knobs) - 1)}
		if diff := cmp.Diff([]sim.Plan{a, b}, ends); diff != "" {
			t.Errorf("%v (-plans +ends):\n%s", c, diff)
		}
	}
}

func TestKnobsThatMakeNoSenseAloneMoveTogether(t *testing.T) {
	kernel := planOf(t, "phase12-post-10")
	call := kernel
	call.Config.GPU.Lock, call.Config.GPU.Prep = model.LockCall, ""
	whole := kernel
	whole.Config.GPU.Split = false
	finalizers := kernel
	finalizers.Config.Finalizers = 3
	both := whole
	both.Config.GPU.Lock, both.Config.GPU.Prep = model.LockCall, ""
	for _, c := range []struct {
		a, b sim.Plan
		want []string
	}{
		{kernel, call, []string{"config.gpu.lock+config.gpu.prep"}},
		{call, kernel, []string{"config.gpu.lock+config.gpu.prep"}},
		{kernel, whole, []string{"config.gpu.split"}},
		{finalizers, whole, []string{"config.gpu.split+config.finalizers"}},
		{finalizers, both, []string{"config.gpu.lock+config.gpu.prep", "config.gpu.split+config.finalizers"}},
		{
			planOf(t, "example"), planOf(t, "example", "machine.gpus=[{vram: 8GiB}, {vram: 8GiB}]"),
			[]string{"machine.gpus+config.gpu.devices"},
		},
	} {
		s := spaceOf(t, c.a, c.b)
		if diff := cmp.Diff(c.want, names(s.knobs)); diff != "" {
			t.Errorf("knobs (-want +got):\n%s", diff)
		}
		if strings.Contains(strings.Join(c.want, ""), "+") != (len(s.notes) > 0) {
			t.Errorf("%v: the notes are %q", c.want, s.notes)
		}
		for set := range 1 << len(s.knobs) {
			if p := s.between(set); valid(&p) != nil {
				t.Errorf("%v: set %b is not valid: %v", c.want, set, valid(&p))
			}
		}
	}
}

// TestTheProfileTakesItsResidentDataWithIt: a scenario without a list of its own has the profile's.
func TestTheProfileTakesItsResidentDataWithIt(t *testing.T) {
	a := planOf(t, "phase12-pre-10")
	b := a
	other := *a.Profile
	other.Name, other.Resident = "other", []model.Resident{{Name: "key", Bytes: model.GiB}}
	b.Profile, b.Config.Resident = &other, other.Resident
	s := spaceOf(t, a, b)
	if diff := cmp.Diff([]Knob{{"profile", []Setting{{"profile", a.Profile.Name, "other"}}}}, s.knobs); diff != "" {
		t.Errorf("knobs (-want +got):\n%s", diff)
	}
}

func TestWorkloadsDifferInWhatAScenarioWrites(t *testing.T) {
	two := *planOf(t, "example").Profile
	second := two.Kinds[0]
	second.Name = "second"
	two.Kinds = []profile.Kind{second, two.Kinds[0]}
	plan := func(arrival model.Arrival, shares ...model.Share) sim.Plan {
		w := model.Workload{Shares: shares, Arrival: arrival}
		return sim.Plan{Config: model.DefaultConfig(1), Profile: &two, Workload: w}
	}
	closed, open := model.Arrival{Pattern: model.Closed}, model.Arrival{Pattern: model.Poisson, Rate: 0.5}
	one := plan(closed, model.Share{Kind: "small", Jobs: 4})
	for _, c := range []struct {
		b    sim.Plan
		want []Setting
	}{
		{
			plan(closed, model.Share{Kind: "second", Jobs: 5}),
			[]Setting{{"workload.jobs", "4", "5"}, {"workload.kind", "small", "second"}},
		},
		{plan(open, model.Share{Kind: "small", Jobs: 4}), []Setting{{"workload.arrival", "closed", "{poisson: 0.5}"}}},
		{
			plan(closed, model.Share{Kind: "small", Jobs: 4}, model.Share{Kind: "second", Jobs: 1}),
			[]Setting{{
				"workload.mix", `[{"kind":"small","jobs":4}]`, `[{"kind":"small","jobs":4},{"kind":"second","jobs":1}]`,
			}},
		},
	} {
		var got []Setting
		for _, k := range spaceOf(t, one, c.b).knobs {
			got = append(got, k.Settings...)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("settings (-want +got):\n%s", diff)
		}
	}
}

func TestKnobsOfAGroupMoveTogether(t *testing.T) {
	a, b := planOf(t, "phase12-pre-10"), planOf(t, "phase12-light-1")
	s := spaceOf(t, a, b, Group{"size", []string{"workload.jobs", "config.jobs_in_flight"}},
		Group{"early", []string{"config.admission", "config.free_vectors"}},
		Group{"config.channel.capacity", []string{"config.channel"}})
	want := []string{"size", "early", "config.channel.capacity", "config.gpu.workers_per_device"}
	if diff := cmp.Diff(want, names(s.knobs)); diff != "" {
		t.Errorf("knobs (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		groups []Group
		want   string
	}{
		{
			[]Group{{"x", []string{"config.order"}}},
			`group x: the plans do not differ in "config.order": they differ in config.jobs_in_flight, `,
		},
		{
			[]Group{{"x", []string{"config"}}, {"y", []string{"config.channel"}}},
			"group y: config.channel.capacity is in group x already",
		},
		{
			[]Group{{"workload.jobs", []string{"config"}}},
			"group workload.jobs: it has the name of a knob that is not in it",
		},
	} {
		if _, err := newSpace(&a, &b, c.groups); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.groups, err, c.want)
		}
	}
}

func TestTooManyKnobsAreListed(t *testing.T) {
	a, b := planOf(t, "example"), planOf(t, "phase12-pre-10")
	_, err := newSpace(&a, &b, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"differ in 10 knobs, and at most 8", "machine.ram+machine.reserve, machine.gpus", "workload.kind+profile",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
	far := b
	far.Machine = model.Machine{
		RAM: model.TiB, Reserve: 1, GPUs: []model.GPUSpec{{}, {}}, Cores: 9, MemoryBandwidth: 1, CgroupLimit: 1,
		Shm: 1, Memlock: 1,
	}
	if _, err := newSpace(&a, &far, nil); err == nil || !strings.Contains(err.Error(), "and at most 8") {
		t.Errorf("far apart: %v", err)
	}
}
