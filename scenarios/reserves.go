package scenarios

import (
	"maps"
	"slices"

	"headroom/model"
)

// setAcquireOrders moves the order of reserving, which a file gives with the kind, into the ledger's entry of the kind.
func (s *Scenario) setAcquireOrders(f *model.Faults, written map[string]kind) {
	for _, name := range slices.Sorted(maps.Keys(written)) {
		order, at := written[name].AcquireOrder, "kinds."+name+".acquire_order"
		b := s.Config.Admission.Budget
		switch {
		case order == "":
		case order != model.ResidentFirst && order != model.WorkingFirst:
			f.Add(at, "is %q: one of %s, %s", string(order), model.ResidentFirst, model.WorkingFirst)
		case b == nil:
			if order != model.ResidentFirst {
				f.Add(at, "is %s: only with config.admission.budget, from which the bytes are reserved", order)
			}
		case b.Kinds[name].AcquireOrder != "" && b.Kinds[name].AcquireOrder != order:
			f.Add(at, "is %s, and %s in config.admission.budget.kinds.%s: leave one", order, b.Kinds[name].AcquireOrder, name)
		default:
			d, given := b.Kinds[name]
			if d.AcquireOrder = order; given {
				b.Kinds[name] = d
			}
		}
	}
}

// checkReserves notes the kinds of the workload that the ledger knows nothing of.
func (s *Scenario) checkReserves(f *model.Faults) {
	b := s.Config.Admission.Budget
	if b == nil {
		return
	}
	for _, share := range s.Workload.Shares {
		if _, given := b.Kinds[share.Kind]; !given && s.Kind(share.Kind) != nil {
			f.Add("config.admission.budget.kinds", "has no entry for %s, which the workload has: give what its partitions reserve, be it 0B", share.Kind)
		}
	}
}
