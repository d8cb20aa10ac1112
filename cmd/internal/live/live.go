// Package live takes a scenario to the live prover: it predicts what the prover will need, and runs it in a child
// process.
package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"headroom/backend/confine"
	"headroom/backend/probe"
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
	Device      string      // one of record.Devices
	Library     string      // path of the kernels for record.CUDA; empty: where cuda.Load looks
	Cap         model.Bytes // on what is taken of each card's memory; 0: the card's own
	KeyDir      string
	Trace       string      // path; empty keeps the trace in memory
	Limit       model.Bytes // 0: not confined
	Mechanism   confine.Mechanism
	SampleEvery model.Span
	Forced      bool // it was refused, and is to be run all the same: the trace says so
	Tool        string
	Log         io.Writer
	Progress    func(jobsDone int)
}

// Validate reports why the request makes no sense.
func (r *Request) Validate() error {
	spec, err := r.spec()
	if err != nil {
		return err
	}
	return spec.Validate()
}

// Predict replicates the scenario against its limit, tightened by the request's. step is called after each of the
// Replications. The prediction is nil if the scenario has no profile.
func (r *Request) Predict(step func()) (*sim.RiskReport, error) {
	if r.Scenario.Profile == nil {
		return nil, nil
	}
	return sim.AssessRisk(r.Plan(), Replications, sim.RiskBound, step)
}

// Shortfalls returns everything of which this host grants less than the scenario's machine has, tightened by the
// request's limit. The virtual device holds nothing, so that any host will do, and the CPU needs no GPU.
func (r *Request) Shortfalls(ctx context.Context) ([]probe.Shortfall, error) {
	if r.Device == record.Virtual {
		return nil, nil
	}
	machine := r.Plan().Machine
	host, err := probe.Live.Host(ctx, os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("live: what this host grants: %w", err)
	}
	if r.Device == record.CPU {
		return host.Shortfalls(&machine, false), nil
	}
	return append(host.Shortfalls(&machine, true), host.Pinning(LeastPinned(r.Scenario, r.Device))...), nil
}

// Replications stand behind each prediction.
const Replications = calibrate.DefaultReplications

// Run runs the request in a child process of this program.
func Run(ctx context.Context, r *Request) (*record.Outcome, error) {
	spec, err := r.spec()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("live: this program's own path: %w", err)
	}
	return record.Run(ctx, spec, record.Options{
		Command: []string{self, ChildCommand}, Trace: r.Trace, Limit: r.Limit, Mechanism: r.Mechanism,
		Progress: r.Progress, Log: r.Log,
	})
}

// Plan returns what a scenario with a profile asks the simulator.
func Plan(s *scenarios.Scenario) sim.Plan {
	return sim.Plan{Machine: s.Machine, Config: s.Config, Workload: s.Workload, Profile: s.Profile, Seed: s.Seed}
}

// Plan returns what the request asks the simulator, with the machine tightened by its limit.
func (r *Request) Plan() sim.Plan {
	p := Plan(r.Scenario)
	if r.Limit != 0 && (p.Machine.CgroupLimit == 0 || r.Limit < p.Machine.CgroupLimit) {
		p.Machine.CgroupLimit = r.Limit
	}
	if r.Cap != 0 && p.Profile != nil {
		limit := p.Profile.DeviceBaseline.Value + r.Cap // the cap is on what the prover takes
		p.Machine.GPUs = slices.Clone(p.Machine.GPUs)
		for i := range p.Machine.GPUs {
			if gpu := &p.Machine.GPUs[i]; gpu.VRAM == 0 || limit < gpu.VRAM {
				gpu.VRAM = limit
			}
		}
	}
	return p
}

// spec returns what the child must know.
func (r *Request) spec() (record.Spec, error) {
	s := r.Scenario
	spec := record.Spec{
		Config: s.Config, Workload: s.Workload, Seed: s.Seed, Device: r.Device, KeyDir: r.KeyDir,
		SampleEvery: r.SampleEvery, Tool: r.Tool, Forced: r.Forced, Library: r.Library, Cap: r.Cap,
	}
	if s.Profile != nil {
		spec.ProfileHash = s.Profile.Hash()
		spec.OwnData = reflect.DeepEqual(s.Config.Resident, s.Profile.Resident)
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
		k := s.Kind(share.Kind)
		if k == nil || k.Circuit == nil {
			return spec, fmt.Errorf("live: kind %q has no circuit, so it cannot be proved here: define it under kinds",
				share.Kind)
		}
		spec.Kinds = append(spec.Kinds, record.Kind{
			Name: k.Name, Partitions: k.Partitions, Priority: k.Priority, Circuit: *k.Circuit,
		})
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
