package live

import (
	"testing"

	"headroom/model"
	"headroom/model/profile"
	"headroom/scenarios"
)

func TestTheLeastThatIsPinnedIsWhatIsThereFromTheStartAndOnePartition(t *testing.T) {
	kind := func(name string, pinned model.Bytes) profile.Kind {
		return profile.Kind{Name: name, Footprint: profile.Footprint{Pinned: profile.Quantity[model.Bytes]{Value: pinned}}}
	}
	s := &scenarios.Scenario{
		Config: model.Config{Resident: []model.Resident{
			{Name: "keys", Bytes: 44 * model.GiB, Pinned: true}, {Name: "circuit", Bytes: 26 * model.GiB},
			{Name: "others", Bytes: 30 * model.GiB, Pinned: true, OnDemand: true},
		}},
		Workload: model.Workload{Shares: []model.Share{{Kind: "small"}, {Kind: "large"}}},
	}
	if got := LeastPinned(s); got != 44*model.GiB {
		t.Errorf("without a profile %s, want 44GiB", got)
	}
	s.Profile = &profile.Profile{Kinds: []profile.Kind{kind("small", model.GiB), kind("large", 12*model.GiB), kind("unused", 50*model.GiB)}}
	if got := LeastPinned(s); got != 56*model.GiB {
		t.Errorf("got %s, want 56GiB", got)
	}
}
