// Package sim drives the core of package model in virtual time: it answers every start with a sampled amount of
// work, keeps the clocks of work and the exact sum of resident bytes, and says what a configuration would do.
//
// Open plan.go (what to simulate) first, then loop.go (the event loop), then result.go (what comes out).
package sim

import (
	"errors"
	"fmt"
	"slices"

	"headroom/model"
	"headroom/model/profile"
)

// Plan is everything that decides a run.
type Plan struct {
	Machine  model.Machine
	Config   model.Config
	Workload model.Workload
	Profile  *profile.Profile
	Seed     uint64
	// Replication 0 uses the profile's values as they are; another one draws each value from its interval and
	// has its own draws of work.
	Replication uint32
	// IgnoreLimit lets a run go on after it has passed the memory limit.
	IgnoreLimit bool
	Disturb     Disturbance
}

// Disturbance is what goes wrong in a run; the zero value is nothing.
type Disturbance struct {
	// Fails reports whether a stage fails at its end, as work.Setup has it.
	Fails func(job, partition int32, s model.Stage) bool
	// Cancels are the jobs given up, in order of time. A job that has ended by then is left alone.
	Cancels []model.Cancellation
}

// kinds returns the profile's kinds that the workload uses, in the order of its shares and each once, and the
// index of every share's kind.
func (p *Plan) kinds() ([]profile.Kind, []uint16, error) {
	var kinds []profile.Kind
	indices := make([]uint16, len(p.Workload.Shares))
	var faults []error
	for i, share := range p.Workload.Shares {
		known := slices.IndexFunc(kinds, func(k profile.Kind) bool { return k.Name == share.Kind })
		if known < 0 {
			k := p.Profile.Kind(share.Kind)
			if k == nil {
				faults = append(faults, fmt.Errorf("sim: the workload has jobs of kind %q, which profile %q does not have", share.Kind, p.Profile.Name))
				continue
			}
			known = len(kinds)
			kinds = append(kinds, *k)
		}
		indices[i] = uint16(known)
	}
	return kinds, indices, errors.Join(faults...)
}

// MostPartitions returns the partitions of the workload's largest job. The profile must have all kinds of the workload.
func (p *Plan) MostPartitions() int {
	most := 0
	for _, share := range p.Workload.Shares {
		most = max(most, p.Profile.Kind(share.Kind).Partitions)
	}
	return most
}

// resident returns the resident data that is in force.
func (p *Plan) resident() []model.Resident {
	if p.Config.Resident != nil {
		return p.Config.Resident
	}
	return p.Profile.Resident
}
