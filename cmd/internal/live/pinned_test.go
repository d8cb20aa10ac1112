package live

import (
	"testing"

	"headroom/backend/record"
	"headroom/model"
	"headroom/model/profile"
	"headroom/scenarios"
)

// pinnedScenario is of two kinds, of which a profile knows a third.
func pinnedScenario() *scenarios.Scenario {
	return &scenarios.Scenario{
		Config: model.Config{Resident: []model.Resident{
			{Name: "keys", Bytes: 44 * model.GiB, Pinned: true}, {Name: "circuit", Bytes: 26 * model.GiB},
			{Name: "others", Bytes: 30 * model.GiB, Pinned: true, OnDemand: true},
		}},
		Workload: model.Workload{Shares: []model.Share{{Kind: "small"}, {Kind: "large"}}},
	}
}

func TestTheLeastThatIsPinnedIsWhatIsThereFromTheStartAndOnePartition(t *testing.T) {
	kind := func(name string, pinned model.Bytes) profile.Kind {
		return profile.Kind{Name: name, Footprint: profile.Footprint{Pinned: profile.Quantity[model.Bytes]{Value: pinned}}}
	}
	s := pinnedScenario()
	if got := LeastPinned(s, ""); got != 44*model.GiB {
		t.Errorf("without a profile %s, want 44GiB", got)
	}
	s.Profile = &profile.Profile{Kinds: []profile.Kind{kind("small", model.GiB), kind("large", 12*model.GiB), kind("unused", 50*model.GiB)}}
	if got := LeastPinned(s, ""); got != 56*model.GiB {
		t.Errorf("got %s, want 56GiB", got)
	}
}

// A pool on cards pins what the circuit's vectors have for the card; a profile need not say so.
func TestAPoolOnCardsPins(t *testing.T) {
	circuit := model.Circuit{Family: "mimc", Log2Constraints: 14, Data: model.MiB, Leaf: 4 * model.KiB}
	s := pinnedScenario()
	s.Config.Resident = nil
	s.Kinds = []scenarios.Kind{{Name: "small", Circuit: &circuit}, {Name: "large"}}
	const vectors = 3 * 32 << 14 // a, b and c
	for _, c := range []struct {
		device string
		pool   model.Pool
		want   model.Bytes
	}{{record.CUDA, model.PoolRetain, vectors}, {record.CUDA, model.PoolNone, 0}, {record.CPU, model.PoolRetain, 0}} {
		s.Config.Pool = c.pool
		if got := LeastPinned(s, c.device); got != c.want {
			t.Errorf("%s with pool %s: %v, want %v", c.device, c.pool, got, c.want)
		}
	}
}
