package sim

import (
	"fmt"

	"headroom/model"
	"headroom/model/profile"
)

// refusal is why a plan is refused: a limit of its machine, and a sentence with both numbers.
type refusal struct {
	limit  model.Limit
	reason string
}

// refuse returns why a run need not begin, or nil. What is held before the first job is above a limit; or a limit on
// pinned or on shared memory, more than which the system never grants, is too small for one partition of a kind.
//
// Other memory that is too small for one is no refusal: a partition takes it until there is none, which is an oom. Nor
// is such a ledger: a job waits for it, which is a stall.
func (l *loop) refuse() *refusal {
	if m, is := l.over(); is {
		size := model.Apart(m.limit.Bytes, m.peak)
		return &refusal{m.limit, fmt.Sprintf("%s of %s is over-committed by %s: %s are held before the first job",
			m.limit.Name, size(m.limit.Bytes), (m.peak - m.limit.Bytes).Short(), size(m.peak))}
	}
	memlock := model.Limit{Bytes: l.plan.Machine.Memlock, Name: l.engine.Pinned().Name}
	shm := model.Limit{Bytes: l.plan.Machine.Shm, Name: l.engine.Shared().Name}
	for i := range l.kinds {
		k := &l.kinds[i]
		if no := tooSmall(memlock, k.Name, k.Footprint.Pinned.Value+l.pinnedFor(k)); no != nil {
			return no
		}
		if no := tooSmall(shm, k.Name, k.Footprint.Shm.Value); no != nil {
			return no
		}
	}
	return nil
}

// tooSmall refuses a limit under which not one partition of a kind gets what it needs.
func tooSmall(limit model.Limit, kind string, needs model.Bytes) *refusal {
	if limit.Bytes == 0 || needs <= limit.Bytes {
		return nil
	}
	size := model.Apart(limit.Bytes, needs)
	return &refusal{limit, fmt.Sprintf("%s of %s is too small for one partition of %s, which takes %s of it",
		limit.Name, size(limit.Bytes), kind, size(needs))}
}

// pinnedFor returns the pinned data that is there whenever a partition of a kind is.
func (l *loop) pinnedFor(k *profile.Kind) (bytes model.Bytes) {
	for i := range l.config.Resident {
		if r := &l.config.Resident[i]; r.Pinned && (!r.Managed() || r.Awaited(k.Name)) {
			bytes += r.Bytes
		}
	}
	return bytes
}
