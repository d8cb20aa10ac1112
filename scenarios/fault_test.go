package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"headroom/model"
)

// TestOneWrongPlaceIsOneErrorWithItsLine replaces one text of the full scenario by another.
func TestOneWrongPlaceIsOneErrorWithItsLine(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"schema: 1", "schema: 2", "1:9: schema is 2: this version reads schema 1"},
		{"schema: 1\n", "", "1:1: the document has no schema: begin with schema: 1"},
		{"title:", "titel:", "2:1: titel is not a key here: did you mean title? the keys are schema, title, description, machine, config, workload, profile, seed, kinds"},
		{"title:", "title: x\ntitle:", "3:1: title is there twice, first in line 2: leave one"},
		{"ram: 755GiB", "ram: 755Gib", `5:8: machine.ram: model: size "755Gib": write a number and a unit`},
		{"ram: 755GiB", "ram: -755GiB", `5:8: machine.ram: model: size "-755GiB": write a number and a unit`},
		{"ram: 755GiB", "ram: 0GiB", "5:8: machine.ram is 0GiB: more than 0; for no limit leave the key out"},
		{"ram: 755GiB", "ram: 80GiB", "6:12: machine.reserve is 87GiB: less than machine.ram, which is 80GiB"},
		{"  ram: 755GiB", "\tram: 755GiB", `5:1: this is not YAML: found character '	' that cannot start any token`},
		{"vram: 24GiB", "vram: 0B", "7:32: machine.gpus[1].vram is 0B: more than 0; for no limit leave the key out"},
		{"vram: 24GiB", "ram: 24GiB", "7:26: machine.gpus[1].ram is not a key here: did you mean vram? the keys are vram"},
		{"cores: 96", "cores: 0", "8:10: machine.cores is 0: more than 0; for no limit leave the key out"},
		{"cores: 96", "cores: 1.5", `8:10: machine.cores is "1.5": a whole number`},
		{"{ram: 375GiB}", "{}", "10:25: machine.numa[1].ram is 0B: from 1B to 1024TiB"},
		{"cgroup_limit: 700GiB", "cgroup_limit: 0B", "11:17: machine.cgroup_limit is 0B: more than 0; for no limit leave the key out"},
		{"memlock: 8MiB", "memlock: {}", "13:12: machine.memlock is a map: a value such as a word, a number or a size"},
		{"jobs_in_flight: 15", "jobs_in_flight: 0", "15:19: config.jobs_in_flight is 0: at least 1, or unbounded"},
		{"jobs_in_flight: 15", "jobs_in_flight: 1.5", `15:19: config.jobs_in_flight: model: count "1.5" is not a whole number below 2147483647 or the word unbounded`},
		{"jobs_in_flight: 15", "jobs_in_flight:", "15:3: config.jobs_in_flight is empty: give it a value or leave the key out"},
		{"order: fifo", "order: lifo", `16:10: config.order is "lifo": one of fifo, priority, oldest_job_first, interleave`},
		{"permits: 12, ", "permit: 12, ", "17:15: config.admission.permit is not a key here: did you mean permits? the keys are permits, release, budget"},
		{"after_synthesis}", "after_sythesis}", `17:37: config.admission.release is "after_sythesis": one of after_synthesis, after_send, after_kernel, after_finish`},
		{"{permits: 12, release: after_synthesis}", "12", `17:14: config.admission is "12": a map with keys of permits, release, budget`},
		{"permits: 12, ", "permits: 12, budget: {total: 1GiB, margin: 1MiB, kinds: {a: {reserve: 1MiB, release_after_kernel: 2MiB}}, retry: timed}, ",
			"17:113: config.admission.budget.kinds.a.release_after_kernel is 2MiB: from 0B to the reserve, which is 1MiB"},
		{"permits: 12, ", "permits: 12, budget: {total: 50GiB, kinds: {}}, ",
			"17:51: config.admission.budget.kinds has no entry for porep, which the workload has: give what its partitions reserve, be it 0B"},
		{"permits: 12, ", "permits: 12, budget: {total: 50GiB, kinds: {porep: {reserve: 8GiB}, poerp: {reserve: 8GiB}}}, ",
			`17:83: config.admission.budget.kinds.poerp names the kind "poerp", which is defined nowhere (there is porep)`},
		{"max_parallel: unbounded", "max_parallel: 0", "18:29: config.synthesis.max_parallel is 0: at least 1, or unbounded"},
		{"handoff: 0", "handoff: -2", "18:49: config.synthesis.handoff is -2: at least 0, or unbounded"},
		{"capacity: auto", "capacity: -3", "19:23: config.channel.capacity is -3: at least 0 (a rendezvous), auto or unbounded"},
		{"devices: 1,", "devices: 3,", "20:18: config.gpu.devices is 3: the machine has 2 (machine.gpus lists 2; without any, the CPU stands in for one)"},
		{"lock: kernel", "lock: call", `20:62: config.gpu.prep is "before_lock": not to be set with config.gpu.lock: call, whose lock covers prep`},
		{"split: true", "split: false", "21:15: config.finalizers is 4: not to be set with config.gpu.split: false, where the worker does the finish"},
		{"split: true", "split: yes", `20:84: config.gpu.split is "yes": true or false`},
		{"b_g2: host", "b_g2: both", `20:96: config.gpu.b_g2 is "both": one of host, device`},
		{"free_vectors: after_finish", "free_vectors: after_send", `22:17: config.free_vectors is "after_send": one of after_kernel, after_finish`},
		{"workers: 2", "workers: unbounded", "23:22: config.dealloc.workers is unbounded: from 1 to 1024"},
		{"pool: none", "pool: keep", `24:9: config.pool is "keep": one of none, retain`},
		{"pool: none", "batch: {size: 2}", "24:3: config.batch.wait is 0s: above it, since the last jobs of a run would never fill a batch"},
		{"bytes: 44GiB", "bytes: 0B", "25:33: config.resident[0].bytes is 0B: from 1B to 1024TiB"},
		{"on_demand: false", "background: true", "25:87: config.resident[0].background is true: only with on_demand"},
		{"jobs: 20, ", "jobs: 0, ", "26:18: workload.jobs is 0: from 1 to 1000000000"},
		{"jobs: 20, ", "", "26:1: workload.jobs is missing: the number of jobs, at least 1"},
		{"jobs: 20, ", "jobs: 99999999999999999999, ", `26:18: workload.jobs is "99999999999999999999": a whole number that fits into 64 bits`},
		{"kind: porep, ", "", "26:1: workload.kind is missing: the kind of the jobs, or a mix of several"},
		{"kind: porep, ", "kind: proep, ", `26:28: workload.kind is "proep", which is defined nowhere: give it an entry in kinds or name a profile that has it (there is porep)`},
		{"{poisson: 0.02}", "{poisson: NaN}", `26:54: workload.arrival.poisson is "NaN": a number`},
		{"{poisson: 0.02}", "{poisson: 1e309}", `26:54: workload.arrival.poisson is "1e309": a number that fits into 64 bits`},
		{"{poisson: 0.02}", "{poisson: -1}", "26:54: workload.arrival.poisson is -1 jobs a second: more than 0 and at most 1e9"},
		{"{poisson: 0.02}", "{file: nowhere.txt}", `26:51: workload.arrival.file is "nowhere.txt": open nowhere.txt: `},
		{"{poisson: 0.02}", "{backlog: 3}", "26:54: workload.arrival.backlog is 3 of 20 jobs: give poisson too"},
		{"{poisson: 0.02}", "open", `26:44: workload.arrival is "open": one of closed, {poisson: jobs a second}, {file: path}, {backlog: jobs}`},
		{"{poisson: 0.02}", "{poisson: 1, file: x}", "26:44: workload.arrival has 2 patterns: one of closed"},
		{"kind: porep, ", "mix: [], ", "26:22: workload.mix is an empty list: at least one {kind: , jobs: }"},
		{"kind: porep, ", "kind: porep, mix: [{kind: porep, jobs: 1}], ", `26:28: workload.kind is "porep": not with workload.mix, which names the kinds`},
		{"kind: porep, ", "mix: [{kind: porep, jobs: 1}], ", "26:18: workload.jobs is 20: not with a mix that gives the jobs of each kind"},
		{"jobs: 20, kind: porep, ", "mix: [{kind: porep, weight: 1}], ", "26:1: workload.jobs is missing: the number of jobs that the weights of the mix divide"},
		{"kind: porep, ", "mix: [{kind: porep, weight: 0}], ", "26:50: workload.mix[0].weight is 0: a number above 0"},
		{"jobs: 20, kind: porep, ", "mix: [{kind: porep, jobs: 1}, {kind: porep, weight: 1}], ", "26:12: workload.mix has 2 shares, of which 1 give jobs and 1 a weight: all or none"},
		{"jobs: 20, kind: porep, ", "mix: [{kind: porep, jobs: 1}, {kind: x, jobs: 1}], ", `26:49: workload.mix[1].kind is "x", which is defined nowhere`},
		{"seed: 9", "seed: -1", `27:7: seed is "-1": a whole number from 0`},
		{"seed: 9", "profile: nowhere", `27:10: profile is "nowhere": neither a file (looked for nowhere) nor one of the embedded profiles (`},
		{"seed: 9", `profile: ""`, "27:10: profile is an empty text: a name or a path, or leave the key out"},
		{"seed: 9", "profile: [a]", "27:10: profile is a list: a text"},
		{"seed: 9", "profile: example", `26:28: workload.kind is "porep", which the profile example does not know: its kinds are small; leave the profile out to record another`},
		{"circuit: sha256", "circuit: poseidon", `29:20: kinds.porep.circuit is "poseidon": one of mimc, sha256`},
		{"log2_constraints: 15", "log2_constraints: 14", "29:46: kinds.porep.log2_constraints is 14: from 15 to 20 for circuit sha256"},
		{"partitions: 10", "partitions: 0", "29:62: kinds.porep.partitions is 0: from 1 to 1000000"},
		{"partitions: 10, ", "", "29:3: kinds.porep.partitions is missing: the number of partitions of a job, at least 1"},
		{"leaf: 4KiB", "leaf: 0B", "29:84: kinds.porep.leaf is 0B: from 32B to 1TiB"},
		{"on_demand: false", "kinds: [gone]", `25:83: config.resident[0].kinds[0] names the kind "gone", which is defined nowhere (there is porep)`},
		{"jobs_in_flight: 15", "jobs_in_flight: 15\n  batch: {size: 2, wait: 1s, kinds: [porep, post]}",
			`16:45: config.batch.kinds[1] names the kind "post", which is defined nowhere (there is porep)`},
		{"acquire_order: resident_first", "acquire_order: working_first", "29:118: kinds.porep.acquire_order is working_first: only with config.admission.budget"},
		{"acquire_order: resident_first", "acquire_order: last", `29:118: kinds.porep.acquire_order is "last": one of resident_first, working_first`},
		{"  porep: {", `  "": {`, "28:1: kinds has a kind without a name: each needs one"},
	} {
		if strings.Count(full, c.old) != 1 {
			t.Fatalf("%q is not in the scenario once", c.old)
		}
		_, err := Parse([]byte(strings.Replace(full, c.old, c.new, 1)), "f.yaml", nil)
		first, _, _ := strings.Cut(fmt.Sprint(err), "\n")
		if !strings.HasPrefix(first, "scenario: f.yaml:"+c.want) {
			t.Errorf("%s\ngot  %s\nwant scenario: f.yaml:%s", c.new, first, c.want)
		}
	}
}

// What cannot be printed in a line of its own is no name: it would hide what it says, or tell the terminal to.
func TestNamesCanBePrinted(t *testing.T) {
	for _, name := range []string{`a\e[2J`, `a\nb`, `a\u200bb`, `a\u202eb`} {
		for _, at := range []string{
			`kinds: {"%": {circuit: mimc, log2_constraints: 13, partitions: 4, data: 64MiB}}`,
			`config: {resident: [{name: "%", bytes: 1MiB}]}`,
		} {
			text := "schema: 1\nworkload: {jobs: 1, kind: small}\nprofile: example\n" + strings.Replace(at, "%", name, 1)
			_, err := Parse([]byte(text), "f.yaml", nil)
			if err == nil || !strings.Contains(err.Error(), ": by letters, digits, signs and spaces alone") {
				t.Errorf("%s: error %v", text, err)
			}
		}
	}
}

func TestEveryFaultOfAScenarioIsReportedAtOnce(t *testing.T) {
	text := strings.NewReplacer("ram: 755GiB", "ram: 80GiB", "permits: 12", "permits: 0", "jobs: 20", "jobs: 0", "partitions: 10", "partitions: 0").Replace(full)
	_, err := Parse([]byte(text), "f.yaml", nil)
	const want = `scenario: f.yaml:6:12: machine.reserve is 87GiB: less than machine.ram, which is 80GiB
    6 |   reserve: 87GiB
      |            ^
f.yaml:17:24: config.admission.permits is 0: at least 1, or unbounded
   17 |   admission: {permits: 0, release: after_synthesis}
      |                        ^
f.yaml:26:18: workload.jobs is 0: from 1 to 1000000000
   26 | workload: {jobs: 0, kind: porep, arrival: {poisson: 0.02}}
      |                  ^
f.yaml:29:62: kinds.porep.partitions is 0: from 1 to 1000000
   29 |  porep: {circuit: sha256, log2_constraints: 15, partitions: 0, data: 1MiB, leaf: 4KiB, priority: 2, 
      |                                                             ^`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// TestFaultsOfReadingAreReportedTogether has a wrong key, a wrong word and a profile that is not there.
func TestFaultsOfReadingAreReportedTogether(t *testing.T) {
	text := strings.NewReplacer("title:", "titel:", "permits: 12", "permits: dozen", "seed: 9", "profile: nowhere").Replace(full)
	_, err := Parse([]byte(text), "f.yaml", nil)
	for _, place := range []string{"f.yaml:2:1: titel", "f.yaml:17:24: config.admission.permits", "f.yaml:27:10: profile"} {
		if err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("%v\nlacks %s", err, place)
		}
	}
}

func TestAKindAgreesWithTheProfile(t *testing.T) {
	const head = "schema: 1\nworkload: {jobs: 1, kind: small}\nprofile: example\nkinds: {small: {"
	for _, c := range []struct{ kind, want string }{
		{"circuit: mimc, log2_constraints: 13, partitions: 4, data: 64MiB, leaf: 4KiB, priority: 0", ""},
		{"circuit: mimc, log2_constraints: 13, data: 64MiB", ""},
		{"", ""},
		{"partitions: 5", "4:29: kinds.small.partitions is 5, and 4 in the profile example: the profile predicts only the kind that it was made with; leave the profile out to record another"},
		{"priority: 1", "4:27: kinds.small.priority is 1, and 0 in the profile example"},
		{"circuit: mimc, log2_constraints: 14, data: 64MiB", "4:9: kinds.small is {circuit: mimc, log2_constraints: 14, data: 64MiB, leaf: 4KiB}, and {circuit: mimc, log2_constraints: 13, data: 64MiB, leaf: 4KiB} in the profile example"},
	} {
		s, err := Parse([]byte(head+c.kind+"}}"), "f.yaml", nil)
		if c.want != "" {
			if err == nil || !strings.HasPrefix(err.Error(), "scenario: f.yaml:"+c.want) {
				t.Errorf("{%s}: got %v\nwant %s", c.kind, err, c.want)
			}
			continue
		}
		if err != nil || len(s.Kinds) != 1 || s.Kind("small").Partitions != 4 || s.Kind("small").Circuit.Log2Constraints != 13 {
			t.Errorf("{%s}: %v, kinds %v", c.kind, err, s)
		}
	}
}

func TestThisMachineNeedsSomebodyWhoLooks(t *testing.T) {
	for machine, want := range map[string]string{
		"here":  "machine is here, which cannot be looked at: describe the machine, for example {ram: 64GiB}",
		"there": `machine is "there": a map such as {ram: 755GiB}, or the word here`,
	} {
		_, err := Parse([]byte(minimal+"machine: "+machine), "f.yaml", nil)
		if err == nil || !strings.HasPrefix(err.Error(), "scenario: f.yaml:4:10: "+want) {
			t.Errorf("%s: got %v, want %s", machine, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte(minimal))
	f.Add([]byte("schema: 1\nmachine: here\nworkload: {jobs: 9, mix: [{kind: a, weight: 1}]}\nprofile: example\nconfig: {gpu: {lock: call}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if strings.Contains(string(data), "/") {
			t.Skip("it may name a file of this machine as its profile")
		}
		here := func() (model.Machine, error) { return model.Machine{RAM: model.GiB}, nil }
		s, err := Parse(data, "fuzzed.yaml", here)
		if err != nil {
			return
		}
		if err := s.Config.Validate(&s.Machine); err != nil {
			t.Fatalf("a wrong configuration was accepted: %v", err)
		}
		if err := s.Workload.Validate(); err != nil {
			t.Fatalf("a wrong workload was accepted: %v", err)
		}
		for _, share := range s.Workload.Shares {
			if s.Kind(share.Kind) == nil {
				t.Fatalf("nothing is known of kind %q", share.Kind)
			}
		}
	})
}
