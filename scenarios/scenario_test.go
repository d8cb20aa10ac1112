package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
	"headroom/model/profile"
)

// full has every key that a scenario may have and this version supports.
const full = `schema: 1
title: twelve workers
description: permit returned when synthesis ends
machine:
  ram: 755GiB
  reserve: 87GiB
  gpus: [{vram: 16GiB}, {vram: 24GiB}]
  cores: 96
  memory_bandwidth: 300GB
  numa: [{ram: 380GiB}, {ram: 375GiB}]
  cgroup_limit: 700GiB
  shm: 64GiB
  memlock: 8MiB
config:
  jobs_in_flight: 15
  order: fifo
  admission: {permits: 12, release: after_synthesis}
  synthesis: {max_parallel: unbounded, handoff: 0}
  channel: {capacity: auto, lookahead: 3}
  gpu: {devices: 1, workers_per_device: 3, lock: kernel, prep: before_lock, split: true, b_g2: host}
  finalizers: 4
  free_vectors: after_finish
  dealloc: {workers: 2}
  pool: none
  resident: [{name: srs, bytes: 44GiB, load_time: 30s, acquire: blocking, on_demand: false, evictable: false}]
workload: {jobs: 20, kind: porep, arrival: {poisson: 0.02}}
seed: 9
kinds:
  porep: {circuit: sha256, log2_constraints: 15, partitions: 10, data: 1MiB, leaf: 4KiB, priority: 2, acquire_order: resident_first}
`

func TestAScenarioIsReadInEveryPart(t *testing.T) {
	got, err := Parse([]byte(full), "full.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	const gib = model.GiB
	want := &Scenario{
		Title: "twelve workers", Description: "permit returned when synthesis ends",
		Machine: model.Machine{
			RAM: 755 * gib, Reserve: 87 * gib, GPUs: []model.GPUSpec{{VRAM: 16 * gib}, {VRAM: 24 * gib}}, Cores: 96,
			MemoryBandwidth: 300e9, NUMA: []model.NUMANode{{RAM: 380 * gib}, {RAM: 375 * gib}},
			CgroupLimit: 700 * gib, Shm: 64 * gib, Memlock: 8 * model.MiB,
		},
		Config: model.Config{
			JobsInFlight: 15, Order: model.FIFO,
			Admission: model.Admission{Permits: 12, Release: model.AfterSynthesis},
			Synthesis: model.Synthesis{MaxParallel: model.Unbounded},
			Channel:   model.Channel{Capacity: model.Auto, Lookahead: 3},
			GPU: model.GPU{
				Devices: 1, WorkersPerDevice: 3, Lock: model.LockKernel, Prep: model.PrepBeforeLock, Split: true, BG2: model.OnHost,
			},
			Finalizers: 4, FreeVectors: model.AfterFinish, Dealloc: model.DeallocConfig{Workers: 2}, Pool: model.PoolNone,
			Resident: []model.Resident{{Name: "srs", Bytes: 44 * gib, LoadTime: 30 * model.Second, Acquire: "blocking"}},
		},
		Workload: model.Workload{
			Shares:  []model.Share{{Kind: "porep", Jobs: 20}},
			Arrival: model.Arrival{Pattern: model.Poisson, Rate: 0.02},
		},
		Kinds: []Kind{{
			Name: "porep", Partitions: 10, Priority: 2,
			Circuit: &model.Circuit{Family: "sha256", Log2Constraints: 15, Data: model.MiB, Leaf: 4 * model.KiB},
		}},
		Seed: 9,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// minimal has no more keys than a scenario needs.
const minimal = "schema: 1\nworkload: {jobs: 1, kind: a}\nkinds: {a: {circuit: mimc, log2_constraints: 13, partitions: 4, data: 64MiB}}\n"

func TestWhatIsLeftOutHasTheDefault(t *testing.T) {
	got, err := Parse([]byte(minimal), "minimal.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &Scenario{
		Config: model.DefaultConfig(1),
		Workload: model.Workload{
			Shares:  []model.Share{{Kind: "a", Jobs: 1}},
			Arrival: model.Arrival{Pattern: model.Closed},
		},
		Kinds: []Kind{{Name: "a", Partitions: 4, Circuit: &model.Circuit{Family: "mimc", Log2Constraints: 13, Data: 64 * model.MiB, Leaf: model.DefaultLeaf}}},
		Seed:  1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestTheLockOfTheWholeCallNeedsNoPrep(t *testing.T) {
	s, err := Parse([]byte(minimal+"config: {gpu: {lock: call}}\n"), "f.yaml", nil)
	if err != nil || s.Config.GPU.Prep != "" {
		t.Errorf("prep is %q, %v; want none", s.Config.GPU.Prep, err)
	}
}

func TestDevicesDefaultToTheGPUsOfTheMachine(t *testing.T) {
	for text, want := range map[string]model.Count{
		"": 1, "machine: {gpus: []}\n": 1, "machine: {gpus: [{}, {vram: 1GiB}, {}]}\n": 3, "machine: here\n": 2,
	} {
		here := func() (model.Machine, error) { return model.Machine{GPUs: make([]model.GPUSpec, 2)}, nil }
		s, err := Parse([]byte(minimal+text), "f.yaml", here)
		if err != nil || s.Config.GPU.Devices != want {
			t.Errorf("%q: %v devices, %v; want %d", text, s, err, want)
		}
	}
}

func TestTheResidentDataIsTheProfilesUnlessTheFileListsSome(t *testing.T) {
	dir := t.TempDir()
	p := profile.Profile{Name: "p", Resident: []model.Resident{{Name: "srs", Bytes: model.GiB}}, Kinds: []profile.Kind{{
		Name: "a", Partitions: 4, Work: map[model.Stage]profile.Work{model.Synth: {Law: profile.Constant}, model.Kernel: {Law: profile.Constant}},
	}}}
	writeProfile(t, &p, filepath.Join(dir, "p.yaml"))
	text := "schema: 1\nworkload: {jobs: 1, kind: a}\nprofile: p.yaml\n"
	for config, want := range map[string][]model.Resident{
		"":                       p.Resident,
		"config: {resident: []}": {},
		"config: {resident: [{name: x, bytes: 1B}]}": {{Name: "x", Bytes: 1}},
	} {
		s, err := Parse([]byte(text+config), filepath.Join(dir, "f.yaml"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Config.Resident); diff != "" {
			t.Errorf("%q (-want +got):\n%s", config, diff)
		}
	}
}

func writeProfile(t *testing.T, p *profile.Profile, file string) {
	t.Helper()
	f, err := os.Create(file)
	if err == nil {
		err = errors.Join(p.Write(f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAProfileIsLookedUpBesideTheScenarioAndThenHere(t *testing.T) {
	here, beside := t.TempDir(), t.TempDir()
	t.Chdir(here)
	p := profile.Profile{Name: "one", Kinds: []profile.Kind{{
		Name: "a", Partitions: 4, Work: map[model.Stage]profile.Work{model.Synth: {Law: profile.Constant}, model.Kernel: {Law: profile.Constant}},
	}}}
	text := []byte("schema: 1\nworkload: {jobs: 1, kind: a}\nprofile: p.yaml\n")
	scenario := filepath.Join(beside, "f.yaml")
	_, err := Parse(text, scenario, nil)
	want := `profile is "p.yaml": neither a file (looked for ` + filepath.Join(beside, "p.yaml") + " and p.yaml) nor one of the embedded profiles ("
	if err == nil || !strings.Contains(err.Error(), "f.yaml:3:10: "+want) {
		t.Errorf("got %v, want ...%s", err, want)
	}
	writeProfile(t, &p, filepath.Join(here, "p.yaml"))
	if s, err := Parse(text, scenario, nil); err != nil || s.Profile.Name != "one" {
		t.Errorf("in the working directory: %v", err)
	}
	p.Name = "two"
	writeProfile(t, &p, filepath.Join(beside, "p.yaml"))
	if s, err := Parse(text, scenario, nil); err != nil || s.Profile.Name != "two" {
		t.Errorf("beside the scenario: %v", err)
	}
}

func TestThisMachineIsAskedFor(t *testing.T) {
	text := []byte(minimal + "machine: here\n")
	s, err := Parse(text, "f.yaml", func() (model.Machine, error) { return model.Machine{RAM: model.GiB}, nil })
	if err != nil || s.Machine.RAM != model.GiB {
		t.Errorf("got %v, %v", s, err)
	}
	broken := errors.New("no /proc")
	_, err = Parse(text, "f.yaml", func() (model.Machine, error) { return model.Machine{}, broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "f.yaml:4:10: machine is here: no /proc") {
		t.Errorf("got %v, want the reason with its place", err)
	}
}

func TestMixesCountTheirJobs(t *testing.T) {
	kinds := "schema: 1\nkinds:\n"
	for _, k := range []string{"a", "b", "c"} {
		kinds += "  " + k + ": {circuit: mimc, log2_constraints: 13, partitions: 4, data: 64MiB}\n"
	}
	for _, c := range []struct {
		workload string
		want     []model.Share
	}{
		{"{mix: [{kind: b, jobs: 2}, {kind: a, jobs: 3}]}", []model.Share{{Kind: "b", Jobs: 2}, {Kind: "a", Jobs: 3}}},
		{"{mix: [{kind: a, jobs: 2, weight: 3}, {kind: b, jobs: 5, weight: 0.5}]}", []model.Share{{Kind: "a", Jobs: 2, Weight: 3}, {Kind: "b", Jobs: 5, Weight: 0.5}}},
		{"{jobs: 10, mix: [{kind: a, weight: 1}, {kind: b, weight: 1}, {kind: c, weight: 1}]}", []model.Share{{Kind: "a", Jobs: 4}, {Kind: "b", Jobs: 3}, {Kind: "c", Jobs: 3}}},
		{"{jobs: 7, mix: [{kind: a, weight: 0.2}, {kind: b, weight: 0.8}]}", []model.Share{{Kind: "a", Jobs: 1}, {Kind: "b", Jobs: 6}}},
		{"{jobs: 7, mix: [{kind: a, weight: 5}]}", []model.Share{{Kind: "a", Jobs: 7}}},
	} {
		s, err := Parse([]byte(kinds+"workload: "+c.workload), "f.yaml", nil)
		if err != nil {
			t.Errorf("%s: %v", c.workload, err)
			continue
		}
		if diff := cmp.Diff(c.want, s.Workload.Shares); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.workload, diff)
		}
	}
}

func TestEveryEmbeddedFileIsReadable(t *testing.T) {
	here := func() (model.Machine, error) {
		return model.Machine{RAM: 64 * model.GiB, GPUs: make([]model.GPUSpec, 8)}, nil
	}
	if len(Names()) == 0 || !slices.IsSorted(Names()) || !slices.IsSorted(ProfileNames()) {
		t.Errorf("scenarios %v, profiles %v: want sorted lists", Names(), ProfileNames())
	}
	for _, name := range Names() {
		s, err := Load(name, here)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if s.Title == "" {
			t.Errorf("%s has no title", name)
		}
	}
	for _, name := range ProfileNames() {
		if p, err := LoadProfile(name); err != nil || p.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadTakesANameOrAPath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, nil); err != nil {
		t.Error(err)
	}
	_, err := Load("phase13", nil)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), `scenario: "phase13" is neither a file nor one of the `) {
		t.Errorf("got %v, want that there is no such scenario", err)
	}
	_, err = LoadProfile("porep")
	if !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), `profile: "porep" is neither a file (looked for porep) nor`) {
		t.Errorf("got %v, want the names that there are", err)
	}
	if _, err := Load(t.TempDir(), nil); err == nil || !strings.HasPrefix(err.Error(), "scenario: read ") {
		t.Errorf("a directory: got %v", err)
	}
}
