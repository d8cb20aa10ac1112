package main

import (
	"fmt"
	"math"

	"headroom/model/profile"
	"headroom/scenarios"
	"headroom/sim"
)

// replications are how many runs a prediction is the mean of.
const replications = 20

// row is a row of the published table with what the scenario of its generation predicts.
type row struct {
	scenarios.PublishedRow
	Scenario string // an embedded one
	Setting  string // that makes it the row; empty if it is already
	Verdicts map[sim.Verdict]int
	Seconds  float64 // a job; NaN if some replications ran out of memory
	Peak     float64 // GiB
}

// predict runs the scenario of every published row on the profile.
func predict(p *profile.Profile) ([]row, error) {
	table, err := scenarios.Published()
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(table))
	for i := range table {
		r := &rows[i]
		r.PublishedRow = table[i]
		r.Scenario, r.Setting = question(&table[i])
		if err := r.predict(p); err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Scenario, r.Setting, err)
		}
	}
	return rows, nil
}

// question returns the scenario that asks for a row.
func question(r *scenarios.PublishedRow) (scenario, setting string) {
	workers := fmt.Sprintf("-%d", r.PartitionWorkers)
	switch r.Variant {
	case "phase3-batch2":
		if r.Proofs > 2 {
			return "phase3-and-next", ""
		}
		return "phase3", ""
	case "phase7":
		return "phase7", fmt.Sprintf("config.jobs_in_flight=%d", r.JobsInFlight)
	case "phase8":
		return "phase8", fmt.Sprintf("config.admission.permits=%d", r.PartitionWorkers)
	case "phase11":
		return "phase11-10", fmt.Sprintf("config.gpu.workers_per_device=%d", r.GPUWorkers)
	case "phase12-post":
		if r.Proofs < 20 {
			return "phase12-light" + workers, ""
		}
		return r.Variant + workers, ""
	case "phase12-pre":
		return r.Variant + workers, ""
	}
	return r.Variant, ""
}

// predict runs the row's scenario. It must be the configuration and the workload of the row.
func (r *row) predict(p *profile.Profile) error {
	s, err := r.scenario()
	if err != nil {
		return err
	}
	c := &s.Config
	switch {
	case int(c.JobsInFlight) != r.JobsInFlight, s.Workload.Jobs() != r.Proofs:
		return fmt.Errorf("it has %s jobs in flight of %d, the row %d of %d",
			c.JobsInFlight, s.Workload.Jobs(), r.JobsInFlight, r.Proofs)
	case r.PartitionWorkers > 0 && int(c.Admission.Permits) != r.PartitionWorkers,
		r.GPUWorkers > 0 && c.Workers() != r.GPUWorkers:
		return fmt.Errorf("it has %s permits and %d GPU workers, the row %d and %d",
			c.Admission.Permits, c.Workers(), r.PartitionWorkers, r.GPUWorkers)
	}
	plan := sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: p, Seed: s.Seed}
	results, err := sim.Replicate(plan, 1, replications, nil)
	if err != nil {
		return err
	}
	r.Verdicts = map[sim.Verdict]int{}
	for _, result := range results {
		r.Verdicts[result.Verdict]++
		r.Seconds += result.SecondsPerJob / replications
		r.Peak += result.Peak.GiB() / replications
	}
	return nil
}

func (r *row) scenario() (*scenarios.Scenario, error) {
	data, file, err := scenarios.Source(r.Scenario)
	if err != nil {
		return nil, err
	}
	var settings []string
	if r.Setting != "" {
		settings = []string{r.Setting}
	}
	variants, err := scenarios.Expand(data, file, settings, nil)
	if err != nil {
		return nil, err
	}
	return variants[0].Scenario, nil
}

// errors returns the relative errors of seconds per job and of the peak; NaN where nothing was published, or only what
// was resident when the run was killed.
func (r *row) errors() (seconds, peak float64) {
	seconds, peak = math.NaN(), math.NaN()
	if r.SecondsPerProof > 0 {
		seconds = r.Seconds/r.SecondsPerProof - 1
	}
	if r.PeakRSS > 0 && !r.PeakCensored {
		peak = r.Peak/r.PeakRSS.GiB() - 1
	}
	return seconds, peak
}
