package scenarios

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/model"
)

func TestSettingsChangeWhatTheFileSays(t *testing.T) {
	for _, c := range []struct {
		setting string
		got     func(*Scenario) any
		want    any
	}{
		{"config.admission.permits=10", func(s *Scenario) any { return s.Config.Admission.Permits }, model.Count(10)},
		{"config.admission.permits=unbounded", func(s *Scenario) any { return s.Config.Admission.Permits }, model.Unbounded},
		{"config.admission.permits=null", func(s *Scenario) any { return s.Config.Admission.Permits }, model.Unbounded},
		{"config.admission={permits: 3}", func(s *Scenario) any { return s.Config.Admission }, model.Admission{Permits: 3, Release: model.AfterSend}},
		{"config=null", func(s *Scenario) any { return s.Config }, model.DefaultConfig(2)},
		{"config.gpu.split=true", func(s *Scenario) any { return s.Config.GPU.Split }, true},
		{"machine.ram=512GiB", func(s *Scenario) any { return s.Machine.RAM }, 512 * model.GiB},
		{"machine.gpus[1].vram=80GiB", func(s *Scenario) any { return s.Machine.GPUs[1].VRAM }, 80 * model.GiB},
		{"machine.gpus=[{vram: 1GiB}, {vram: 2GiB}, {vram: 3GiB}]", func(s *Scenario) any { return len(s.Machine.GPUs) }, 3},
		{"workload.jobs=7", func(s *Scenario) any { return s.Workload.Jobs() }, 7},
		{"workload.arrival=closed", func(s *Scenario) any { return s.Workload.Arrival.Pattern }, model.Closed},
		{"workload.arrival.poisson=0.5", func(s *Scenario) any { return s.Workload.Arrival.Rate }, 0.5},
		{"kinds.porep.partitions=3", func(s *Scenario) any { return s.Kind("porep").Partitions }, 3},
		{"seed=42", func(s *Scenario) any { return s.Seed }, uint64(42)},
		{" seed = 42 ", func(s *Scenario) any { return s.Seed }, uint64(42)},
	} {
		variants, err := Expand([]byte(full), "f.yaml", []string{c.setting}, nil)
		if err != nil || len(variants) != 1 {
			t.Errorf("%s: %d variants, %v", c.setting, len(variants), err)
			continue
		}
		if diff := cmp.Diff(c.want, c.got(variants[0].Scenario)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.setting, diff)
		}
	}
}

func TestVariantsComeInTheOrderGiven(t *testing.T) {
	settings := []string{"config.admission.permits=2..3,9", "machine.ram=512GiB", "config.channel.capacity=auto,0"}
	variants, err := Expand([]byte(full), "f.yaml", settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range variants {
		got = append(got, strings.Join(v.Settings, " "))
		applied := fmt.Sprintf("config.admission.permits=%s machine.ram=%s config.channel.capacity=%s",
			v.Scenario.Config.Admission.Permits, v.Scenario.Machine.RAM, v.Scenario.Config.Channel.Capacity)
		if applied != got[len(got)-1] {
			t.Errorf("%s gave %s", got[len(got)-1], applied)
		}
	}
	want := []string{
		"config.admission.permits=2 machine.ram=512GiB config.channel.capacity=auto",
		"config.admission.permits=2 machine.ram=512GiB config.channel.capacity=0",
		"config.admission.permits=3 machine.ram=512GiB config.channel.capacity=auto",
		"config.admission.permits=3 machine.ram=512GiB config.channel.capacity=0",
		"config.admission.permits=9 machine.ram=512GiB config.channel.capacity=auto",
		"config.admission.permits=9 machine.ram=512GiB config.channel.capacity=0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variants (-want +got):\n%s", diff)
	}
}

func TestNoSettingsAreOneVariant(t *testing.T) {
	want, err := Parse([]byte(full), "f.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	variants, err := Expand([]byte(full), "f.yaml", nil, nil)
	if diff := cmp.Diff([]Variant{{Scenario: want}}, variants); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestThisMachineIsLookedAtOnceForAllVariants(t *testing.T) {
	looks := 0
	here := func() (model.Machine, error) {
		looks++
		return model.Machine{RAM: model.Bytes(looks) * model.GiB}, nil
	}
	variants, err := Expand([]byte(minimal+"machine: here"), "f.yaml", []string{"seed=1..5"}, here)
	if err != nil || looks != 1 || len(variants) != 5 || variants[4].Scenario.Machine.RAM != model.GiB {
		t.Errorf("%d looks for %d variants, %v", looks, len(variants), err)
	}
}

// A list of arrivals is read once for all variants.
func TestVariantsShareTheirArrivals(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "day.csv"), []byte("0\n2.5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const text = "schema: 1\nmachine: {ram: 8GiB}\nworkload: {jobs: 2, kind: small, arrival: {file: day.csv}}\nprofile: example\n"
	variants, err := Expand([]byte(text), filepath.Join(folder, "s.yaml"), []string{"config.admission.permits=1,2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := variants[0].Scenario.Workload.Arrival.Instants, variants[1].Scenario.Workload.Arrival.Instants
	if len(first) != 2 || &first[0] != &second[0] {
		t.Errorf("instants %v and %v, want two, and the same", first, second)
	}
}

func TestAWrongSettingIsNamed(t *testing.T) {
	for _, c := range []struct{ setting, want string }{
		{"config.admission.permits", "--set config.admission.permits: a setting is key=value, for example config.admission.permits=10"},
		{"=3", "--set =3: a setting is key=value, for example config.admission.permits=10"},
		{"title=x", "--set title=x: title cannot be set: keys begin with machine, config, workload, kinds, profile, seed"},
		{".config=3", "--set .config=3: the key begins with an empty part: keys begin with machine, config,"},
		{"[0]=3", "--set [0]=3: the key begins with an empty part: keys begin with machine, config,"},
		{"schema=2", "--set schema=2: schema cannot be set: keys begin with"},
		{"config.admission.permits=", "--set config.admission.permits=: a value is missing: write null to take the key away"},
		{"config.admission.permits=1,,2", "--set config.admission.permits=1,,2: a value is missing"},
		{"config.admission.permits=0", "--set config.admission.permits=0: config.admission.permits is 0: at least 1, or unbounded"},
		{"config.admission.permits=ten", `--set config.admission.permits=ten: config.admission.permits: model: count "ten" is not a whole number`},
		{"config.admission.permit=3", "--set config.admission.permit=3: config.admission.permit is not a key here: did you mean permits?"},
		{"config.admission.permits.x=3", `--set config.admission.permits.x=3: config.admission.permits is "12", which has no keys: set config.admission.permits as a whole`},
		{"config..permits=3", `--set config..permits=3: the key "config..permits" has an empty part`},
		{"machine.gpus[2].vram=1GiB", "--set machine.gpus[2].vram=1GiB: machine.gpus has no item 2: the file gives 2, numbered from 0"},
		{"machine.ram=755Gib", `--set machine.ram=755Gib: machine.ram: model: size "755Gib": write a number and a unit`},
		{"machine.ram=100GiB..200GiB", `--set machine.ram=100GiB..200GiB: machine.ram: model: size "100GiB..200GiB": write a number and a unit`},
		{"machine.ram=[1", "--set machine.ram=[1: this is not YAML: sequence end token ']' not found"},
		{"machine.ram=&a 1GiB", "--set machine.ram=&a 1GiB: anchors and aliases (&) are not read here"},
		{"seed=5..4", "--set seed=5..4: the range ends with 4: from 5 to 10004"},
		{"seed=1..10001", "--set seed=1..10001: the range ends with 10001: from 1 to 10000"},
		{"seed=99999999999..4", "--set seed=99999999999..4: the range begins with 99999999999: a whole number of at most 32 bits"},
		{"seed=1..9999,0,0", "--set seed=1..9999,0,0: the settings give more than 10000 variants, which is the limit: use smaller ranges"},
		{"profile=nowhere", `--set profile=nowhere: profile is "nowhere": neither a file (looked for nowhere) nor one of the embedded profiles`},
		{"workload.jobs=0", "--set workload.jobs=0: workload.jobs is 0: from 1 to 1000000000"},
		{"config.gpu.lock=call", `f.yaml:20:64: config.gpu.prep is "before_lock": not to be set with config.gpu.lock: call`},
	} {
		_, err := Expand([]byte(full), "f.yaml", []string{c.setting}, nil)
		first, _, _ := strings.Cut(fmt.Sprint(err), "\n")
		if !strings.HasPrefix(first, "scenario: "+c.want) {
			t.Errorf("got  %s\nwant scenario: %s", first, c.want)
		}
	}
}

func TestSettingsThatDisagreeAreNamed(t *testing.T) {
	for _, c := range []struct {
		settings []string
		want     string
	}{
		{[]string{"seed=1", "seed=2"}, "--set seed=2: seed is set twice: once, with a list such as =1,2 for several values"},
		{[]string{"machine=here", "machine.ram=1GiB"}, `--set machine.ram=1GiB: machine is "here", which has no keys: set machine as a whole`},
		{[]string{"seed=1..200", "workload.jobs=1..200"}, "--set workload.jobs=1..200: the settings give more than 10000 variants"},
	} {
		_, err := Expand([]byte(full), "f.yaml", c.settings, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "scenario: "+c.want) {
			t.Errorf("%v: got %v\nwant %s", c.settings, err, c.want)
		}
	}
}

func TestAMistakeInOneVariantIsAnErrorOfAll(t *testing.T) {
	variants, err := Expand([]byte(full), "f.yaml", []string{"workload.jobs=1,0"}, nil)
	var fault *model.Fault
	if variants != nil || !errors.As(err, &fault) || fault.Key != "workload.jobs" {
		t.Errorf("got %d variants, %v", len(variants), err)
	}
}

// TestApportioningGivesEveryJobOnce also holds every part to within one job of its exact share.
func TestApportioningGivesEveryJobOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.IntRange(0, 1e9).Draw(t, "jobs")
		weights := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e6), 1, 6).Draw(t, "weights")
		total, sum := 0.0, 0
		for _, w := range weights {
			total += w
		}
		for i, part := range apportion(jobs, weights) {
			sum += part
			if exact := float64(jobs) * weights[i] / total; float64(part) < exact-1.001 || float64(part) > exact+1.001 {
				t.Fatalf("part %d is %d of an exact %v", i, part, exact)
			}
		}
		if sum != jobs {
			t.Fatalf("%d jobs became %d", jobs, sum)
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{
		"config.admission.permits=4..20", "config.gpu.lock=call,kernel", "machine.gpus=[{vram: 1GiB}, {}]", "machine.gpus[0].vram=1GiB,\"2GiB\"",
		"seed=null", "kinds.porep={circuit: mimc}", "workload.mix=[{kind: porep, weight: 1}]", "machine=here", "config.x.y.z=1", "seed=-1..1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, setting string) {
		if strings.HasPrefix(strings.TrimSpace(setting), "profile") || strings.Contains(setting, "..") && len(setting) > 20 {
			t.Skip("it may name a file of this machine, or ask for thousands of variants")
		}
		variants, err := Expand([]byte(full), "fuzzed.yaml", []string{setting}, func() (model.Machine, error) { return model.Machine{}, nil })
		if (err == nil) != (len(variants) > 0) {
			t.Fatalf("%d variants and %v", len(variants), err)
		}
		for _, v := range variants {
			again, err := Expand([]byte(full), "fuzzed.yaml", v.Settings, func() (model.Machine, error) { return model.Machine{}, nil })
			if err != nil || len(again) != 1 || !cmp.Equal(again[0].Scenario, v.Scenario) {
				t.Fatalf("%q gives %q, which gives %d variants, %v", setting, v.Settings, len(again), err)
			}
		}
	})
}
