package live

import (
	"slices"

	"headroom/backend/groth16"
	"headroom/backend/record"
	"headroom/model"
	"headroom/model/profile"
	"headroom/scenarios"
)

// LeastPinned returns what a scenario pins of the host's memory at the least: the pinned data that is loaded before the
// first job, and one partition of the kind that pins most, as the profile says or, with a pool on the device cuda, its
// circuit. A host that grants less cannot begin.
func LeastPinned(s *scenarios.Scenario, device string) model.Bytes {
	var data, partition model.Bytes
	for _, r := range s.Config.Resident {
		if r.Pinned && !r.OnDemand {
			data += r.Bytes
		}
	}
	for _, share := range s.Workload.Shares {
		if s.Profile != nil {
			if k := s.Profile.Kind(share.Kind); k != nil {
				partition = max(partition, k.Footprint.Pinned.Value)
			}
		}
		k := s.Kind(share.Kind)
		if device == record.CUDA && s.Config.Pool == model.PoolRetain && k != nil && k.Circuit != nil {
			partition = max(partition, groth16.SizesOf(*k.Circuit).Pinned)
		}
	}
	return data + partition
}

// withPinned returns a profile that says what a pool pins of the vectors of each kind on the device cuda, where it does
// not say so itself.
func withPinned(p *profile.Profile, s *scenarios.Scenario, device string) *profile.Profile {
	if p == nil || device != record.CUDA || s.Config.Pool != model.PoolRetain {
		return p
	}
	pinning := *p
	pinning.Kinds = slices.Clone(p.Kinds)
	for i := range pinning.Kinds {
		k := &pinning.Kinds[i]
		if known := s.Kind(k.Name); known != nil && known.Circuit != nil && k.Footprint.Pinned.Value == 0 {
			k.Footprint.Pinned = profile.Exactly(groth16.SizesOf(*known.Circuit).Pinned)
		}
	}
	return &pinning
}
