// Package record runs a configuration on a live prover in a child process of its own and writes down what
// happened. The child is what is measured: its peak is the kernel's high-water mark, its baseline is read after
// the keys are loaded and before the first job comes, and when it runs out of memory only the child is killed.
//
// The parent (Run, in parent.go) hands the child a Spec on its standard input and reads the trace from its
// standard output, so that the trace of a killed child is kept up to its last sample.
package record

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"headroom/backend/device/cpu"
	"headroom/backend/device/cuda"
	"headroom/backend/groth16"
	"headroom/model"
	"headroom/model/profile"
	"headroom/model/trace"
)

// Spec is what a child must know to run.
type Spec struct {
	Config   model.Config // its resident list is in force
	Workload model.Workload
	Seed     uint64
	Kinds    []Kind // those of the workload's shares, each once
	Device   string // CPU, CUDA or Virtual
	// Profile is the profile by which the virtual device waits, as profile.Write has it.
	Profile []byte
	// Library is the path of the kernels for CUDA; empty: where cuda.Load looks. Cap bounds what is taken of each card's
	// memory; 0: the card's own bound.
	Library string
	Cap     model.Bytes
	// OwnData says that the data which is always there is what the prover keeps by itself, as a profile of it found: the
	// device cpu holds nothing for it.
	OwnData bool
	// KeyDir is where keys and data are cached.
	KeyDir string
	// SampleEvery is the time between two readings of memory, 1 ms or more.
	SampleEvery model.Span
	// PrepareOnly makes the keys and the data and ends.
	PrepareOnly bool

	// What the header of the trace says besides.
	Tool        string
	ProfileHash string
	LimitBytes  model.Bytes
	Forced      bool
}

// Validate reports every fault of what can be wrong before the profile and the circuits are read. It loads the kernels
// for CUDA.
func (s *Spec) Validate() error {
	var faults []error
	if !slices.Contains(Devices, s.Device) {
		faults = append(faults, fmt.Errorf("record: device is %q: one of %s", s.Device, strings.Join(Devices, ", ")))
	}
	if s.Cap < 0 || s.Cap > 0 && s.Device != CUDA {
		faults = append(faults, fmt.Errorf("record: the cap of a card's memory is %s on device %s: at least 0B, and 0B on all but %s", s.Cap, s.Device, CUDA))
	}
	if s.SampleEvery < model.Millisecond {
		faults = append(faults, fmt.Errorf("record: the time between samples is %s: at least 1ms", s.SampleEvery))
	}
	var names []string
	for _, k := range s.Kinds {
		names = append(names, k.Name)
	}
	switch s.Device {
	case CPU:
		faults = append(faults, cpu.Check(&s.Config, names))
	case CUDA:
		_, err := cuda.Load(s.Library)
		faults = append(faults, err, cpu.CheckKeys(&s.Config, names))
	}
	return errors.Join(faults...)
}

// The devices.
const (
	CPU     = "cpu"
	CUDA    = "cuda"
	Virtual = "virtual"
)

// Devices are all devices.
var Devices = []string{CPU, CUDA, Virtual}

// Kind is a kind of job as a child proves it.
type Kind struct {
	Name       string
	Partitions int
	Priority   int
	Circuit    model.Circuit
}

// shapes returns the kinds as the core knows them.
func (s *Spec) shapes() ([]model.Kind, error) {
	var shapes []model.Kind
	if s.Device == Virtual {
		_, kinds, err := s.profiled()
		for i := range kinds {
			shapes = append(shapes, kinds[i].Model())
		}
		return shapes, err
	}
	for _, k := range s.Kinds {
		shapes = append(shapes, model.Kind{Name: k.Name, Partitions: k.Partitions, Priority: k.Priority, Stages: cpu.Stages()})
	}
	return shapes, nil
}

// profiled returns the profile and the kinds of the workload as they are in it under the configuration, each once.
func (s *Spec) profiled() (*profile.Profile, []profile.Kind, error) {
	p, err := profile.Read(s.Profile, "profile")
	if err != nil {
		return nil, nil, err
	}
	var kinds []profile.Kind
	for _, share := range s.Workload.Shares {
		if slices.ContainsFunc(kinds, func(k profile.Kind) bool { return k.Name == share.Kind }) {
			continue
		}
		k := p.Kind(share.Kind)
		if k == nil {
			return nil, nil, fmt.Errorf("record: the workload has jobs of kind %q, which profile %q does not have", share.Kind, p.Name)
		}
		under, err := k.Under(&s.Config)
		if err != nil {
			return nil, nil, fmt.Errorf("record: %w", err)
		}
		kinds = append(kinds, under)
	}
	return p, kinds, nil
}

// header returns the first line of the trace.
func (s *Spec) header(kinds []model.Kind) *trace.Header {
	h := &trace.Header{
		Tool: s.Tool, Prover: "headroom " + groth16.Version(), Machine: machine(), Clock: trace.Monotonic,
		Config: s.Config, Kinds: kinds, Workload: s.Workload, ProfileHash: s.ProfileHash, Seed: s.Seed,
		Device: s.Device, LimitBytes: s.LimitBytes, CapBytes: s.Cap, Forced: s.Forced, OwnData: s.OwnData, Blocks: map[string]model.Blocks{},
	}
	if s.Device != Virtual {
		h.Circuits = map[string]model.Circuit{}
		for _, k := range s.Kinds {
			sizes := groth16.SizesOf(k.Circuit)
			h.Circuits[k.Name] = k.Circuit
			h.Blocks[k.Name] = model.Blocks{Vectors: sizes.Vectors, Assignment: sizes.Assignment, Call: sizes.Scalars}
		}
	}
	return h
}
