package live

import (
	"headroom/model"
	"headroom/scenarios"
)

// LeastPinned returns what a scenario locks in host memory at the least: the pinned data that is loaded before the first
// job, and one partition of the kind that pins most. A host that grants less cannot begin.
func LeastPinned(s *scenarios.Scenario) model.Bytes {
	var data, partition model.Bytes
	for _, r := range s.Config.Resident {
		if r.Pinned && !r.OnDemand {
			data += r.Bytes
		}
	}
	if s.Profile == nil {
		return data
	}
	for _, share := range s.Workload.Shares {
		if k := s.Profile.Kind(share.Kind); k != nil {
			partition = max(partition, k.Footprint.Pinned.Value)
		}
	}
	return data + partition
}
