package scenarios_test

import (
	"strings"
	"testing"

	"headroom/scenarios"
	"headroom/sim"
)

// fieldCase is what a case of docs/field-cases.md asks and what is to be answered.
type fieldCase struct {
	scenario string
	settings string // separated by blanks
	runs     int    // replications to be judged together; 0: one run with the profile's values
	want     sim.Verdict
	says     string // a part of the reason
}

var fieldCases = []fieldCase{
	{"g01-early-permit", "", 0, sim.OOM, "machine.ram"},
	{"g01-early-permit", "", 40, sim.OOM, ""},
	{"g01-early-permit", "config.admission.release=after_send config.channel.capacity=12", 400, sim.Fits, ""},

	{"g03-staged-twice", "workload.jobs=1", 0, sim.Fits, ""},
	{"g03-staged-twice", "", 0, sim.OOM, "vram of gpu 0"},
	{"g03-staged-twice", "config.gpu.workers_per_device=2 machine.gpus=[{vram:23GiB}]", 0, sim.OOM, "vram of gpu 0"},
	{"g03-staged-twice", "config.gpu.workers_per_device=2 machine.gpus=[{vram:25GiB}]", 0, sim.Fits, ""},

	{"g04-slow-upload", "", 0, sim.Fits, ""},
	{"g04-slow-upload", "workload.kind=g04-pinned config.pool=retain", 0, sim.Fits, ""},

	{"g05-late-count", "", 0, sim.OOM, "machine.ram"},
	{"g05-late-count", "config.jobs_in_flight=45", 0, sim.OOM, "machine.ram"},
	{"g05-late-count", "config.jobs_in_flight=15", 0, sim.Fits, ""},

	{"g06-declared", "", 400, sim.OOM, ""},
	{"g06-declared", "config.admission.budget.kinds.g06-task.reserve=128GiB", 400, sim.Risk, ""},
	{"g06-declared", "config.admission.budget.kinds.g06-task.reserve=160GiB", 400, sim.Fits, ""},

	{"g07-overcommitted", "", 0, sim.Refuse, "of 64.0 GiB is over-committed by 6.0 GiB"},
	{"g07-overcommitted", "", 40, sim.Refuse, "over-committed by 6.0 GiB"},
	{"g07-never", "", 0, sim.Stall, "nothing can proceed after 0 s"},

	{"g08-visible", "", 0, sim.Stall, "nothing can proceed after 0 s"},
	{"g08-visible", "config.admission.budget.kinds.g08-commit.reserve=128757MiB", 0, sim.Fits, ""},

	{"g09-bound-worker", "", 0, sim.OOM, "machine.numa of 128.0 GiB"},
	{"g09-bound-worker", "config.jobs_in_flight=3", 0, sim.OOM, "machine.numa of 128.0 GiB"},
	{"g09-bound-worker", "config.jobs_in_flight=2", 0, sim.Fits, "0 B below machine.numa"},
	{"g09-bound-worker", "config.jobs_in_flight=1", 0, sim.Fits, "64.0 GiB below machine.numa"},

	{"g10-restart", "", 0, sim.OOM, "after 0 s"},
	{"g10-restart", "config.jobs_in_flight=4", 0, sim.OOM, ""},
	{"g10-restart", "config.jobs_in_flight=3", 400, sim.Fits, ""},

	{"g12-example-1", "", 400, sim.Fits, ""},
	{"g12-example-3", "", 400, sim.Risk, ""},
	{"g12-example-4", "", 400, sim.Risk, ""},
	{"g12-example-4", "machine.ram=576GiB", 400, sim.Fits, ""},

	{"g13-two-clients", "", 0, sim.OOM, "vram of gpu 0"},
	{"g13-two-clients", "config.gpu.workers_per_device=1", 400, sim.Fits, ""},

	{"g14-rare-kind", "", 0, sim.OOM, "vram of gpu"},
	{"g14-rare-kind", "workload.mix=[{kind:g14-segment,jobs:400},{kind:g14-join,jobs:150}]", 0, sim.Fits, ""},
	{"g14-unpaused", "", 0, sim.OOM, "machine.ram"},
	{"g14-unpaused", "config.channel.capacity=32", 0, sim.Fits, ""},

	{"g15-both-at-once", "", 400, sim.OOM, ""},
	{"g15-both-at-once", "machine.cgroup_limit=64GiB", 400, sim.Risk, ""},
	{"g15-both-at-once", "machine.cgroup_limit=96GiB", 400, sim.Fits, ""},
	{"g15-node", "", 0, sim.Refuse, "over-committed by 5.7 GiB"},
	{"g15-node", "config.resident=[{name:cache,bytes:10GiB},{name:container,bytes:96GiB}]", 0, sim.Fits, "14.3 GiB below"},

	{"g16-shared-memory", "", 0, sim.OOM, "machine.shm of 32.0 GiB"},
	{"g16-shared-memory", "machine.shm=null", 0, sim.Fits, "peaks at 252.0 GiB"},
	{"g16-shared-memory", "machine.shm=null config.jobs_in_flight=43 workload.jobs=43", 0, sim.OOM, "machine.ram"},
	{"g16-shared-memory", "config.jobs_in_flight=9", 0, sim.OOM, "machine.shm of 32.0 GiB"},
	{"g16-shared-memory", "config.jobs_in_flight=8", 0, sim.Fits, ""},
	{"g16-shared-memory", "machine.shm=64MiB", 0, sim.Refuse, "machine.shm of 64.0 MiB is too small for one partition of g16-task, which takes 4.0 GiB"},

	{"g17-kept-pages", "", 0, sim.OOM, "machine.ram"},
	{"g17-kept-pages", "config.pool=none", 0, sim.Fits, "4.0 GiB below"},
	{"g17-kept-pages", "workload.mix=[{kind:g17-stage-a-small,jobs:1},{kind:g17-stage-b,jobs:1}]", 0, sim.Fits, ""},
	{"g17-kept-pages", "workload.mix=[{kind:g17-whole,jobs:1}] machine.ram=22GiB", 0, sim.OOM, "machine.ram"},
	{"g17-kept-pages", "workload.mix=[{kind:g17-whole,jobs:1}]", 0, sim.Fits, ""},

	{"g18-other-card", "", 0, sim.OOM, "vram of gpu 0"},
	{"g18-other-card", "workload.kind=g18-low", 400, sim.Risk, ""},
	{"g18-other-card", "machine.gpus=[{vram:32607MiB}]", 0, sim.Fits, ""},
	{"g18-other-card", "workload.kind=g18-buffer machine.gpus=[{vram:12GiB}]", 0, sim.Refuse, "vram of gpu 0 of 12.0 GiB is over-committed by 1.6 GiB"},
	{"g18-other-card", "workload.kind=g18-buffer machine.gpus=[{vram:32607MiB}]", 0, sim.Fits, ""},

	{"g19-keys-resident", "", 0, sim.OOM, "machine.ram"},
	{"g19-keys-on-demand", "", 0, sim.Fits, ""},

	{"g20-two-calls", "machine.ram=2GB workload.jobs=1", 0, sim.OOM, "machine.ram"},
	{"g20-two-calls", "workload.jobs=2", 0, sim.Fits, ""},
	{"g20-two-calls", "workload.jobs=3", 0, sim.OOM, "machine.ram"},
	{"g20-two-calls", "machine.ram=8GB workload.jobs=7", 0, sim.Fits, ""},
	{"g20-two-calls", "machine.ram=8GB", 0, sim.OOM, "machine.ram"},
	{"g20-two-calls", "config.jobs_in_flight=2", 0, sim.Fits, ""},

	{"g21-same-pool", "", 0, sim.Fits, ""}, // one order of events: the next test follows all
	{"g21-unbounded-queue", "", 0, sim.OOM, "machine.ram"},
	{"g21-unbounded-queue", "config.channel.capacity=16", 0, sim.Fits, ""},
	{"g21-all-ten", "", 0, sim.Fits, ""},

	{"g22-touched", "", 0, sim.OOM, "machine.ram"},
	{"g22-touched", "workload.kind=g22-fifth", 0, sim.Fits, ""},

	{"g24-pinned", "", 0, sim.Refuse, "machine.memlock of 476.8 MiB is too small for one partition"},
	{"g24-pinned", "machine.memlock=4GB", 0, sim.Fits, ""},
}

func TestTheCasesFromTheFieldHaveTheirVerdicts(t *testing.T) {
	for _, c := range fieldCases {
		verdict, reason := c.judge(t)
		if verdict != c.want || !strings.Contains(reason, c.says) {
			t.Errorf("%s %s: %s: %s; want %s: ...%s", c.scenario, c.settings, verdict, reason, c.want, c.says)
		}
	}
}

// TestTheContradictionsOfTheCasesAreSaid holds that what cannot go well is said with both numbers before a run.
func TestTheContradictionsOfTheCasesAreSaid(t *testing.T) {
	for name, says := range map[string]string{
		"g06-declared":      "a partition of g06-task reserves 50GiB and holds up to 104GiB",
		"g07-overcommitted": "the data that is always loaded takes 6GiB more than that",
		"g07-never":         "it reserves 3GiB, and 1GiB can be had",
		"g08-visible":       "it reserves 130768MiB, and 128757MiB can be had",
		"g09-bound-worker":  "the ledger may reserve 512GiB, and machine.numa is 128GiB",
	} {
		p := plan(t, name, "")
		if all := strings.Join(p.Contradictions(), "; "); !strings.Contains(all, says) {
			t.Errorf("%s: %q does not say: ...%s", name, all, says)
		}
	}
}

func (c *fieldCase) judge(t *testing.T) (sim.Verdict, string) {
	t.Helper()
	if c.runs == 0 {
		r := simulate(t, c.scenario, c.settings)
		return r.Verdict, r.Reason
	}
	r, err := sim.AssessRisk(plan(t, c.scenario, c.settings), c.runs, sim.RiskBound, nil)
	if err != nil {
		t.Fatalf("%s: %v", c.scenario, err)
	}
	return r.Verdict, r.Reason
}

func simulate(t *testing.T, scenario, settings string) *sim.Result {
	t.Helper()
	r, err := sim.Run(plan(t, scenario, settings), nil)
	if err != nil {
		t.Fatalf("%s %s: %v", scenario, settings, err)
	}
	return r
}

// plan returns the plan of an embedded scenario with settings.
func plan(t *testing.T, scenario, settings string) sim.Plan {
	t.Helper()
	data, file, err := scenarios.Source(scenario)
	if err != nil {
		t.Fatal(err)
	}
	variants, err := scenarios.Expand(data, file, strings.Fields(settings), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := variants[0].Scenario
	return sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: s.Profile, Seed: s.Seed}
}
