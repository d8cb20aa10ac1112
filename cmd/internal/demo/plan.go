package demo

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"headroom/backend/record"
	"headroom/cmd/internal/live"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/scenarios"
)

//go:embed demo.yaml
var base []byte

// config is the base scenario with some settings.
type config struct {
	name     string
	settings []string
}

// recordedConfigs are what the profile is made from: stages alone, two workers in balance, and a few partitions
// that pile up.
var recordedConfigs = []config{
	{"one worker, serial", []string{"config.admission.permits=1", "config.admission.release=after_finish", "workload.jobs=4"}},
	{"two workers", nil},
	{"three workers, early release", []string{"config.admission.permits=3", "config.admission.release=after_synthesis", "workload.jobs=8"}},
}

// unseenConfigs are predicted before they are run.
var unseenConfigs = []config{
	{"three workers", []string{"config.admission.permits=3", "config.channel.capacity=2"}},
	{"four workers, late release", []string{"config.admission.permits=4", "config.admission.release=after_kernel", "config.gpu.workers_per_device=2"}},
	{"five workers, early release", []string{"config.admission.permits=5", "config.admission.release=after_synthesis", "config.jobs_in_flight=8"}},
}

// Which of the unseen configurations is run twice, and which are confined.
const (
	noisy  = 0
	safe   = 0
	unsafe = 2
)

// steps is how many steps the demo announces.
var steps = len(recordedConfigs) + 1 + len(unseenConfigs) + 1 + 2

// scenario returns the scenario of a configuration, with the profile once there is one.
func (r *run) scenario(c config) (*scenarios.Scenario, error) {
	variants, err := scenarios.Expand(base, "demo.yaml", c.settings, r.Here)
	if err != nil {
		return nil, err
	}
	s := variants[0].Scenario
	s.Profile = r.report.Profile
	return s, nil
}

// prove runs a configuration without a limit; how tells its traces apart.
func (r *run) prove(c config, how string) (Measured, *trace.Trace, error) {
	s, err := r.scenario(c)
	if err != nil {
		return Measured{}, nil, err
	}
	o, err := r.launch(s, c.file(how), 0)
	if err != nil {
		return Measured{}, nil, err
	}
	end := o.Trace.End
	if end.Outcome != trace.Finished || end.Error != "" || o.Trace.Baseline == nil {
		return Measured{}, nil, fmt.Errorf("demo: %s: the run %s: %s", c.name, end.Outcome, end.Error)
	}
	r.report.ProofsVerified += end.ProofsVerified
	return Measured{
		Peak: o.Peak(), Baseline: o.Trace.Baseline.RSSBytes,
		SecondsPerJob: end.MakespanNs.Seconds() / float64(end.JobsDone),
	}, o.Trace, nil
}

// launch runs a scenario in a child. That the unsafe one is predicted to be killed is the point: it is forced.
func (r *run) launch(s *scenarios.Scenario, file string, limit model.Bytes) (*record.Outcome, error) {
	request := &live.Request{
		Scenario: s, Device: record.CPU, KeyDir: r.KeyDir, Limit: limit, SampleEvery: 20 * model.Millisecond,
		Force: true, Tool: r.Tool, Log: r.Log,
	}
	if limit != 0 {
		request.Mechanism = r.Mechanism
	}
	if r.Keep != "" {
		request.Trace = filepath.Join(r.Keep, file)
	}
	o, _, err := live.Run(r.ctx, request)
	return o, err
}

// file returns the name of a trace.
func (c config) file(how string) string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(c.name) + "-" + how + ".jsonl.zst"
}

func writeProfile(path string, p *profile.Profile) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if err := p.Write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
