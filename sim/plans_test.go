package sim_test

import (
	"testing"

	"pgregory.net/rapid"

	"headroom/model"
	"headroom/model/profile"
	"headroom/sim"
)

// planOf returns a plan of some jobs of one kind, all there at the start.
func planOf(config model.Config, kind profile.Kind, in profile.Interference, jobs int) sim.Plan {
	return sim.Plan{
		Config:   config,
		Workload: model.Workload{Shares: []model.Share{{Kind: kind.Name, Jobs: jobs}}, Arrival: model.Arrival{Pattern: model.Closed}},
		Profile:  &profile.Profile{Name: "test", Kinds: []profile.Kind{kind}, Interference: in},
		Seed:     1,
	}
}

// openConfig limits nothing but the GPU, which has one worker: a configuration to set knobs on.
func openConfig() model.Config {
	c := model.DefaultConfig(1)
	c.JobsInFlight = model.Unbounded
	c.Channel.Capacity = model.Unbounded
	c.GPU.WorkersPerDevice = 1
	return c
}

// kindOf returns a kind with the given stages and no footprint.
func kindOf(partitions int, work map[model.Stage]profile.Work) profile.Kind {
	return profile.Kind{Name: "job", Partitions: partitions, Work: work}
}

// seconds is a constant amount of work.
func seconds(s float64) profile.Work {
	return profile.Work{Law: profile.Constant, Mean: profile.Exactly(model.SpanOf(s))}
}

// exponential is exponential work with a mean in seconds.
func exponential(mean float64) profile.Work {
	return profile.Work{Law: profile.Exponential, Mean: profile.Exactly(model.SpanOf(mean))}
}

// flat is a footprint that does not change while its stage runs.
func flat(b model.Bytes) []profile.Point { return []profile.Point{{Bytes: profile.Exactly(b)}} }

// run simulates a plan and returns copies of its records.
func run(t testing.TB, p sim.Plan) (*sim.Result, []model.Record) {
	t.Helper()
	result, records, err := runCopying(p)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return result, records
}

// mustRun is run inside a property.
func mustRun(t *rapid.T, p sim.Plan) (*sim.Result, []model.Record) {
	result, records, err := runCopying(p)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return result, records
}

func runCopying(p sim.Plan) (*sim.Result, []model.Record, error) {
	var records []model.Record
	result, err := sim.Run(p, func(r *model.Record) {
		kept := *r
		kept.Effects = append([]model.Effect(nil), r.Effects...)
		records = append(records, kept)
	})
	return result, records, err
}
