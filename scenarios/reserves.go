package scenarios

import (
	"fmt"
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

// Contradictions says where the parts of a scenario do not fit together, each with its numbers. A run of it is
// possible and shows what comes of it.
func (s *Scenario) Contradictions() []string {
	b := s.Config.Admission.Budget
	if b == nil {
		return nil
	}
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if limit := s.Machine.HostLimit(); limit.Bytes > 0 && b.Available() > limit.Bytes {
		say("the ledger may reserve %s, and %s is %s: what it admits need not fit", b.Available(), limit.Name, limit.Bytes)
	}
	free := b.Available()
	for i := range s.Config.Resident {
		if r := &s.Config.Resident[i]; !r.Managed() {
			free -= r.Bytes
		}
	}
	if free < 0 {
		say("the ledger may reserve %s, and the data that is always loaded takes %s more than that", b.Available(), -free)
	}
	for _, share := range s.Workload.Shares {
		if kind := s.Kind(share.Kind); kind != nil {
			list = append(list, s.reserveContradictions(kind, max(free, 0))...)
		}
	}
	return list
}

// reserveContradictions is Contradictions for a kind, with so much free beside the data that is always loaded.
func (s *Scenario) reserveContradictions(kind *Kind, free model.Bytes) (list []string) {
	d := s.Config.Admission.Budget.Kinds[kind.Name]
	need, what := d.Reserve, "a partition"
	if d.AcquireOrder == model.WorkingFirst {
		need, what = need*model.Bytes(kind.Partitions), "a job"
	}
	// Data that comes and goes is there as long as a job that needs it.
	for i := range s.Config.Resident {
		r := &s.Config.Resident[i]
		if r.Managed() && !r.Background && (len(r.Kinds) == 0 || slices.Contains(r.Kinds, kind.Name)) {
			need += r.Bytes
		}
	}
	if need > free {
		list = append(list, fmt.Sprintf("%s of %s can never begin: with the data that it needs it reserves %s, and %s can be had",
			what, kind.Name, need, free))
	}
	if s.Profile == nil {
		return list
	}
	if k := s.Profile.Kind(kind.Name); k != nil {
		if most := k.Footprint.Most(s.Config.FreeVectors); d.Reserve < most {
			list = append(list, fmt.Sprintf("a partition of %s reserves %s and holds up to %s: the ledger believes in less than is resident", kind.Name, d.Reserve, most))
		}
	}
	return list
}
