package main

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/model"
	"headroom/model/profile"
	"headroom/scenarios"
	"headroom/sim"
)

var update = flag.Bool("update", false, "write the tables of docs/generations.md anew")

// tolerated is the relative error within which the rows are to be predicted.
const tolerated = 0.06

func TestThePublishedRowsArePredicted(t *testing.T) {
	rows, err := predict(embedded(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		r := &rows[i]
		seconds, peak := r.errors()
		for what, e := range map[string]float64{"seconds per job": seconds, "peak": peak} {
			if math.Abs(e) > tolerated {
				t.Errorf("%s: %s is off by %.1f %%, expected are at most %.0f", r.name(), what, 100*e, 100*tolerated)
			}
		}
		if r.Outcome == "oom" && r.Verdicts[sim.OOM] != replications {
			t.Errorf("%s was killed, and is predicted as %v", r.name(), r.Verdicts)
		}
		if r.Outcome == "ok" && r.Verdicts[sim.Fits] != replications {
			t.Errorf("%s ran, and is predicted as %v", r.name(), r.Verdicts)
		}
	}
}

// TestLongRunsGoAtThePublishedRate holds what the notes say of runs of many jobs: seconds per job but for filling and
// emptying the pipeline. No row is of such a run.
func TestLongRunsGoAtThePublishedRate(t *testing.T) {
	p := embedded(t)
	for scenario, want := range map[string]float64{"phase8": 37.4, "phase12-post-10": 37.2, "phase12-post-12": 36.1} {
		s, err := scenarios.Load(scenario, nil)
		if err != nil {
			t.Fatal(err)
		}
		makespan := func(jobs int) float64 {
			plan := sim.Plan{Config: s.Config, Workload: s.Workload, Profile: p, Seed: s.Seed}
			plan.Workload.Shares = []model.Share{{Kind: s.Workload.Shares[0].Kind, Jobs: jobs}}
			r, err := sim.Run(plan, nil)
			if err != nil {
				t.Fatal(err)
			}
			return r.Makespan.Seconds()
		}
		if rate := (makespan(60) - makespan(20)) / 40; math.Abs(rate/want-1) > 0.04 {
			t.Errorf("%s takes %.1f s a job in the long run, published are %.1f", scenario, rate, want)
		}
	}
}

// TestFewNumbersAreFree holds that the rows are not met by moving a number for each of them.
func TestFewNumbersAreFree(t *testing.T) {
	table, err := scenarios.Published()
	if err != nil {
		t.Fatal(err)
	}
	if n := free(embedded(t)); 2*n > len(table) {
		t.Errorf("%d numbers were moved by %d rows: at most half as many are right", n, len(table))
	}
}

// TestTheGenerationsShareTheirMachine holds that the embedded profile is what the shared one and the times make of it.
func TestTheGenerationsShareTheirMachine(t *testing.T) {
	built, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := built.Write(&text); err != nil {
		t.Fatal(err)
	}
	again, err := profile.Read(text.Bytes(), name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(again, embedded(t)); diff != "" {
		t.Errorf("go run ./cmd/internal/fitgenerations writes another profile (-written +embedded):\n%s", diff)
	}
}

func TestTheTablesInTheDocumentAreThoseOfTheProfile(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "generations.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := embedded(t)
	rows, err := predict(p)
	if err != nil {
		t.Fatal(err)
	}
	written := text
	for name, table := range map[string]string{"rows": rowTable(rows), "times": timeTable(p), "shared": sharedTable(p)} {
		between := regexp.MustCompile(fmt.Sprintf(`(?s)<!-- %s -->\n.*?<!-- end -->`, name))
		if !between.Match(written) {
			t.Fatalf("%s has no place for the table %s", file, name)
		}
		written = between.ReplaceAllLiteral(written, fmt.Appendf(nil, "<!-- %s -->\n%s<!-- end -->", name, table))
	}
	if *update {
		if err := os.WriteFile(file, written, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(text), string(written)); diff != "" {
		t.Errorf("%s is not what the profile says; go test -update rewrites it (-document +profile):\n%s", file, diff)
	}
}

func embedded(t *testing.T) *profile.Profile {
	t.Helper()
	p, err := scenarios.LoadProfile(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
