// Package live takes a scenario to the live prover: it predicts first if there is a profile, refuses what is
// predicted to run out of memory, and runs the rest in a child process.
package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"headroom/backend/confine"
	"headroom/backend/record"
	"headroom/calibrate"
	"headroom/model"
	"headroom/scenarios"
	"headroom/sim"
)

// ChildCommand is the hidden command of headroom whose process is the prover.
const ChildCommand = "prover-child"

// Request is a run that somebody asks for.
type Request struct {
	Scenario    *scenarios.Scenario
	Device      string // record.CPU or record.Virtual
	KeyDir      string
	Trace       string      // path; empty keeps the trace in memory
	Limit       model.Bytes // 0: not confined
	Mechanism   confine.Mechanism
	SampleEvery model.Span
	Force       bool // run although it is predicted to run out of memory
	Tool        string
	Log         io.Writer
	Progress    func(jobsDone int)
}

// RefusedError says that a run was not begun because it is predicted to run out of memory.
type RefusedError struct{ Prediction *sim.RiskReport }

// Error says what is predicted.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused: this configuration is predicted to run out of memory: %s; --force runs it all the same", e.Prediction.Reason)
}

// InputError says that a request makes no sense, before anything was run.
type InputError struct{ Err error }

// Error says what is wrong.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *InputError) Unwrap() error { return e.Err }

// Run predicts and runs. The prediction is nil if the scenario has no profile.
func Run(ctx context.Context, r *Request) (*record.Outcome, *sim.RiskReport, error) {
	spec, err := r.spec()
	if err != nil {
		return nil, nil, &InputError{err}
	}
	prediction, err := r.predict()
	if err != nil {
		return nil, nil, err
	}
	if prediction != nil && prediction.Verdict == sim.OOM {
		if !r.Force {
			return nil, prediction, &RefusedError{prediction}
		}
		spec.Forced = true
	}
	self, err := os.Executable()
	if err != nil {
		return nil, prediction, fmt.Errorf("live: this program's own path: %w", err)
	}
	outcome, err := record.Run(ctx, spec, record.Options{
		Command: []string{self, ChildCommand}, Trace: r.Trace, Limit: r.Limit, Mechanism: r.Mechanism,
		Progress: r.Progress, Log: r.Log,
	})
	return outcome, prediction, err
}

// predict replicates the scenario against its limit, tightened by the request's.
func (r *Request) predict() (*sim.RiskReport, error) {
	if r.Scenario.Profile == nil {
		return nil, nil
	}
	return sim.AssessRisk(r.plan(), calibrate.DefaultReplications, sim.RiskBound, nil)
}

// Plan returns what a scenario with a profile asks the simulator.
func Plan(s *scenarios.Scenario) sim.Plan {
	return sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: s.Profile, Seed: s.Seed}
}

func (r *Request) plan() sim.Plan {
	p := Plan(r.Scenario)
	if r.Limit != 0 && (p.Machine.CgroupLimit == 0 || r.Limit < p.Machine.CgroupLimit) {
		p.Machine.CgroupLimit = r.Limit
	}
	return p
}

// spec returns what the child must know.
func (r *Request) spec() (record.Spec, error) {
	s := r.Scenario
	spec := record.Spec{
		Config: s.Config, Workload: s.Workload, Seed: s.Seed, Device: r.Device, KeyDir: r.KeyDir,
		SampleEvery: r.SampleEvery, Tool: r.Tool,
	}
	if s.Profile != nil {
		spec.ProfileHash = s.Profile.Hash()
	}
	if r.Device == record.Virtual {
		if s.Profile == nil {
			return spec, errors.New("live: the virtual device waits as a profile says: the scenario must name one")
		}
		var text bytes.Buffer
		if err := s.Profile.Write(&text); err != nil {
			return spec, err
		}
		spec.Profile = text.Bytes()
		return spec, nil
	}
	for _, share := range s.Workload.Shares {
		if slices.ContainsFunc(spec.Kinds, func(k record.Kind) bool { return k.Name == share.Kind }) {
			continue
		}
		k := s.Kind(share.Kind)
		if k == nil || k.Circuit == nil {
			return spec, fmt.Errorf("live: kind %q has no circuit, so it cannot be proved here: define it under kinds", share.Kind)
		}
		spec.Kinds = append(spec.Kinds, record.Kind{Name: k.Name, Partitions: k.Partitions, Priority: k.Priority, Circuit: *k.Circuit})
	}
	return spec, nil
}

// KeyDir returns the directory where keys are cached unless told otherwise, and makes it.
func KeyDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("live: no cache directory for keys: %w", err)
	}
	dir := filepath.Join(cache, "headroom")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("live: no cache directory for keys: %w", err)
	}
	return dir, nil
}
