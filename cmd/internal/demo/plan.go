package demo

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"

	"headroom/backend/record"
	"headroom/cmd/internal/live"
	"headroom/model"
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
	{"one worker, serial", []string{
		"config.admission.permits=1", "config.admission.release=after_finish", "workload.jobs=4",
	}},
	{"two workers", nil},
	{"three workers, early release", []string{
		"config.admission.permits=3", "config.admission.release=after_synthesis", "workload.jobs=8",
	}},
}

// unseenConfigs are predicted before they are run.
var unseenConfigs = []config{
	{"three workers", []string{"config.admission.permits=3", "config.channel.capacity=2"}},
	{"four workers, late release", []string{
		"config.admission.permits=4", "config.admission.release=after_kernel", "config.gpu.workers_per_device=2",
	}},
	{"five workers, early release", []string{
		"config.admission.permits=5", "config.admission.release=after_synthesis", "config.jobs_in_flight=8",
	}},
}

// Which of the unseen configurations tells how far two runs of one are apart, and which are confined.
const (
	noisy  = 0
	safe   = 0
	unsafe = 2
)

// rounds is how often each configuration is run before any is confined.
const rounds = 2

// steps is how many steps the demo announces.
var steps = rounds*(len(recordedConfigs)+len(unseenConfigs)) + 1 + 2

// scenario returns the scenario of a configuration, with the profile once there is one.
func (r *run) scenario(c config) (*scenarios.Scenario, error) {
	variants, err := scenarios.Expand(r.Scenario, "demo.yaml", c.settings, r.Here)
	if err != nil {
		return nil, err
	}
	s := variants[0].Scenario
	s.Profile = r.report.Profile
	return s, nil
}

// proveOne runs a configuration without a limit; how tells its traces apart.
func (r *run) proveOne(c config, how string) (Measured, *trace.Trace, error) {
	s, err := r.scenario(c)
	if err != nil {
		return Measured{}, nil, err
	}
	o, err := r.launch(s, &live.Request{Trace: r.keep(c.file(how))})
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

// launch runs a scenario in a child, with what the request says of its trace and its limit.
func (r *run) launch(s *scenarios.Scenario, request *live.Request) (*record.Outcome, error) {
	request.Scenario, request.Device, request.KeyDir = s, record.CPU, r.KeyDir
	request.SampleEvery, request.Tool, request.Log = 20*model.Millisecond, r.Tool, r.Log
	return live.Run(r.ctx, request)
}

// keep returns the path under which a file is kept; empty if none is.
func (r *run) keep(file string) string {
	if r.Keep == "" {
		return ""
	}
	return filepath.Join(r.Keep, file)
}

// file returns the name of a trace.
func (c config) file(how string) string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(c.name) + "-" + how + ".jsonl.zst"
}
