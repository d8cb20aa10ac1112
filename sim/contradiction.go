package sim

import (
	"fmt"
	"math"

	"headroom/model"
	"headroom/model/profile"
)

// Contradictions says where the ledger of a plan does not fit the machine, the profile or what is asked of it, each
// with its numbers. The plan can be run all the same, and the run shows what comes of it.
func (p *Plan) Contradictions() []string {
	b := p.Config.Admission.Budget
	if b == nil {
		return nil
	}
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if limit := p.Machine.HostLimit(); limit.Bytes > 0 && b.Available() > limit.Bytes {
		say("the ledger may reserve %s, and %s is %s: what it admits need not fit", b.Available(), limit.Name, limit.Bytes)
	}
	free := b.Available()
	for _, r := range p.resident() {
		if !r.Managed() {
			free -= r.Bytes
		}
	}
	if free < 0 {
		say("the ledger may reserve %s, and the data that is always loaded takes %s more than that", b.Available(), -free)
	}
	for _, share := range p.Workload.Shares {
		if k := p.Profile.Kind(share.Kind); k != nil {
			list = append(list, p.reserveContradictions(k, max(free, 0))...)
		}
	}
	return list
}

// reserveContradictions is Contradictions for a kind, with so much free beside the data that is always loaded.
func (p *Plan) reserveContradictions(k *profile.Kind, free model.Bytes) (list []string) {
	d := p.Config.Admission.Budget.Kinds[k.Name]
	need, what := d.Reserve, "a partition"
	if d.AcquireOrder == model.WorkingFirst {
		need, what = need.Times(k.Partitions), "a job"
	}
	// Data that comes and goes is there as long as a job that needs it.
	for _, r := range p.resident() {
		if r.Awaited(k.Name) {
			need += min(r.Bytes, math.MaxInt64-need)
		}
	}
	if need > free {
		list = append(list, fmt.Sprintf("%s of %s can never begin: with the data that it needs it reserves %s, and %s can be had",
			what, k.Name, need, free))
	}
	if most := k.Footprint.Most(p.Config.FreeVectors); d.Reserve < most {
		list = append(list, fmt.Sprintf("a partition of %s reserves %s and holds up to %s: the ledger believes in less than is resident",
			k.Name, d.Reserve, most))
	}
	return list
}
