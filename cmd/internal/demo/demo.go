// Package demo is the whole loop on one machine: record a few configurations of the real prover, calibrate,
// predict configurations that were never run, run them, and hold the predictions against what happened; then
// predict what a memory limit does to a safe and an unsafe configuration, and let it happen.
//
// Open demo.go (the order of things) first, then plan.go (which configurations).
package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"headroom/backend/confine"
	"headroom/calibrate"
	"headroom/cmd/internal/live"
	"headroom/cmd/internal/output"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
	"headroom/scenarios"
	"headroom/sim"
)

// Options say how to run the demo.
type Options struct {
	Here   scenarios.Here
	KeyDir string
	// Keep is a directory for the traces and the profile; empty keeps none.
	Keep      string
	Mechanism confine.Mechanism
	// Scenario is what all configurations are settings of, in place of the demo's own, whose jobs take seconds.
	Scenario []byte
	Tool     string
	Log      io.Writer
	// Step hears what is about to happen: it is step i of n.
	Step func(i, n int, what string)
}

// Report is what the demo comes to.
type Report struct {
	ProofsVerified int
	Configs        []Comparison
	Noise          Noise
	Confined       []Confined
	Profile        *profile.Profile
}

// Comparison holds a prediction against the runs of the same configuration.
type Comparison struct {
	Name     string
	Unseen   bool // the profile was not made from it, and it was predicted before it was run
	Peak     calibrate.Band
	Seconds  calibrate.Band // a job
	Measured Measured       // the mean of its runs
}

// Measured is what a run came to.
type Measured struct {
	Peak, Baseline model.Bytes
	SecondsPerJob  float64
}

// PeakError is the error of the predicted peak above the baseline, as a part of the measured one.
func (c *Comparison) PeakError() float64 {
	above := float64(c.Measured.Peak - c.Measured.Baseline)
	return math.Abs(c.Peak.Median-float64(c.Measured.Peak)) / above
}

// SecondsError is the error of the predicted seconds per job, as a part of the measured ones.
func (c *Comparison) SecondsError() float64 {
	return math.Abs(c.Seconds.Median-c.Measured.SecondsPerJob) / c.Measured.SecondsPerJob
}

// Noise is one configuration run twice.
type Noise struct {
	Name          string
	First, Second Measured
}

// Confined is a run under a memory limit whose verdict was stated before.
type Confined struct {
	Name      string
	Limit     model.Bytes
	Verdict   sim.Verdict
	Outcome   trace.Outcome
	Signal    string
	Mechanism confine.Mechanism
}

// run is a demo under way.
type run struct {
	Options
	ctx    context.Context
	report Report
	step   int
}

// Run runs the demo. It takes a few minutes. If only its last part fails, under a memory limit, what was measured
// before is returned with the error.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Scenario == nil {
		o.Scenario = base
	}
	r := &run{Options: o, ctx: ctx}
	recorded, traces, err := r.prove("recording", "recorded", recordedConfigs)
	if err != nil {
		return nil, err
	}
	r.next("calibrating, and predicting what was never run")
	if r.report.Profile, err = r.calibrate(traces); err != nil {
		return nil, err
	}
	if err := r.predict(recordedConfigs, false); err != nil {
		return nil, err
	}
	if err := r.predict(unseenConfigs, true); err != nil {
		return nil, err
	}
	unseen, _, err := r.prove("running what was predicted", "unseen", unseenConfigs)
	if err != nil {
		return nil, err
	}
	for i, m := range append(recorded, unseen...) {
		r.report.Configs[i].Measured = m.mean()
	}
	r.report.Noise = Noise{Name: unseenConfigs[noisy].name, First: unseen[noisy][0], Second: unseen[noisy][1]}
	return &r.report, r.confine()
}

func (r *run) next(what string) {
	r.step++
	r.Step(r.step, steps, what)
}

// measurements are what the runs of one configuration came to.
type measurements [rounds]Measured

func (m *measurements) mean() Measured {
	var mean Measured
	for _, one := range m {
		mean.Peak += one.Peak / rounds
		mean.Baseline += one.Baseline / rounds
		mean.SecondsPerJob += one.SecondsPerJob / rounds
	}
	return mean
}

// prove runs each configuration once a round, and returns what was measured of each and all traces. The rounds follow
// each other, so that a slow spell of the machine is not taken for a property of the one configuration that it met.
func (r *run) prove(doing, how string, configs []config) ([]measurements, []*trace.Trace, error) {
	measured := make([]measurements, len(configs))
	var traces []*trace.Trace
	for round := range rounds {
		for i, c := range configs {
			r.next(fmt.Sprintf("%s, round %d: %s", doing, round+1, c.name))
			m, t, err := r.proveOne(c, fmt.Sprintf("%s-%d", how, round+1))
			if err != nil {
				return nil, nil, err
			}
			measured[i][round] = m
			traces = append(traces, t)
		}
	}
	return measured, traces, nil
}

func (r *run) calibrate(traces []*trace.Trace) (*profile.Profile, error) {
	p, _, err := calibrate.Fit(traces, calibrate.Options{Name: "demo"})
	if err != nil || r.Keep == "" {
		return p, err
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return nil, err
	}
	return p, output.Replace(r.keep("demo-profile.yaml"), text.Bytes())
}

// predict adds configurations, with what the profile predicts of them, to the report.
func (r *run) predict(configs []config, unseen bool) error {
	for _, c := range configs {
		s, err := r.scenario(c)
		if err != nil {
			return err
		}
		prediction, err := calibrate.Predict(live.Plan(s), live.Replications)
		if err != nil {
			return err
		}
		r.report.Configs = append(r.report.Configs, Comparison{
			Name: c.name, Unseen: unseen, Peak: prediction.Peak, Seconds: prediction.SecondsPerJob,
		})
	}
	return nil
}

// confine gives a safe and an unsafe configuration a limit between their predicted peaks. The verdicts come
// first.
func (r *run) confine() error {
	first := len(recordedConfigs)
	limit := between(r.report.Configs[first+safe].Peak.Median, r.report.Configs[first+unsafe].Peak.Median)
	for _, i := range []int{safe, unsafe} {
		c := unseenConfigs[i]
		s, err := r.scenario(c)
		if err != nil {
			return err
		}
		s.Machine.CgroupLimit = limit
		prediction, err := calibrate.Predict(live.Plan(s), live.Replications)
		if err != nil {
			return err
		}
		r.next(fmt.Sprintf("confining to %s: %s, predicted: %s", limit.Short(), c.name, prediction.Verdict))
		outcome, err := r.launch(s, &live.Request{
			Trace: r.keep(c.file("confined")), Limit: limit, Mechanism: r.Mechanism,
			Forced: prediction.Verdict.Over(), // that it is killed is the point
		})
		if err != nil {
			return err
		}
		r.report.ProofsVerified += outcome.Trace.End.ProofsVerified
		r.report.Confined = append(r.report.Confined, Confined{
			Name: c.name, Limit: limit, Verdict: prediction.Verdict,
			Outcome: outcome.Trace.End.Outcome, Signal: outcome.Trace.End.Signal, Mechanism: outcome.Mechanism,
		})
	}
	return nil
}

// between returns the geometric mean, which is as far from one peak as from the other in proportion.
func between(a, b float64) model.Bytes {
	return model.Bytes(math.Sqrt(a*b)) / model.MiB * model.MiB
}
