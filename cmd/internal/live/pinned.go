package live

import (
	"headroom/backend/groth16"
	"headroom/backend/record"
	"headroom/model"
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
				under, _ := k.Under(&s.Config) // what else is wrong with it the simulator says
				partition = max(partition, under.Footprint.Pinned.Value)
			}
		}
		k := s.Kind(share.Kind)
		if device == record.CUDA && s.Config.Pool == model.PoolRetain && k != nil && k.Circuit != nil {
			partition = max(partition, groth16.SizesOf(*k.Circuit).Pinned)
		}
	}
	return data + partition
}
