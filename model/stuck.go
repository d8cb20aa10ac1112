package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Stuck says who holds what and who waits for what, a sentence each: the ledger and the data, then the jobs in flight in
// order of their numbers, then what waits before the pipeline and in it. It is meant for a core that stalls. Sizes are as
// Apart prints them, since whoever reads it compares what is free with what is waited for.
func (c *Core) Stuck() []string {
	var sizes []Bytes
	note := func(b Bytes) string {
		sizes = append(sizes, b)
		return ""
	}
	(&account{c, note}).sentences() // to learn the sizes
	return (&account{c, Apart(sizes...)}).sentences()
}

// account is what Stuck says of a core, given what prints sizes.
type account struct {
	*Core
	size func(Bytes) string
}

func (a *account) sentences() []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if a.config.Admission.Budget != nil {
		say("the ledger has %s of %s free", a.size(a.ledger.total-a.ledger.used), a.size(a.ledger.total))
	}
	for n := range a.data.items {
		if held := a.held(&a.data.items[n]); held != "" {
			say("%s %s", a.config.Resident[n].Name, held)
		}
	}
	for _, j := range a.jobsInFlight() {
		say("job %d of kind %s holds %s and waits for %s", j.number, a.kinds[j.kind].Name, a.holds(j), a.waits(j))
	}
	if a.waiting.n > 0 {
		say("%s waiting to begin: in flight are %d of %s", Counted(a.waiting.n, "job"), a.inFlight, a.config.JobsInFlight)
	}
	if a.blocked.n > 0 {
		say("%s blocked in send: the channel holds %d of %s, and idle are %d of %s",
			Counted(a.blocked.n, "partition"), a.channel.n, a.config.ChannelCapacity(), a.idle.n, Counted(len(a.workers), "worker"))
	}
	return list
}

// jobsInFlight returns the jobs in flight in order of their numbers.
func (a *account) jobsInFlight() []*job {
	var list []*job
	for i := range a.jobs.slots {
		if j := &a.jobs.slots[i]; j.live {
			list = append(list, j)
		}
	}
	slices.SortFunc(list, func(a, b *job) int { return cmp.Compare(a.number, b.number) })
	return list
}

// held says what data that comes and goes holds, or nothing.
func (a *account) held(d *datum) string {
	switch {
	case !d.evictable && !d.polling && d.users == 0 || d.state == absent:
		return ""
	case d.state == loadOver:
		return fmt.Sprintf("is loaded, holds %s that loading needed and waits for its own %s", a.size(d.transient), a.size(d.bytes))
	case !d.evictable:
		return fmt.Sprintf("holds %s and is never evicted", a.size(d.bytes))
	case d.users > 0:
		return fmt.Sprintf("holds %s for %s", a.size(d.bytes), Counted(d.users, "job"))
	}
	return fmt.Sprintf("holds %s and no job needs it", a.size(d.bytes))
}

// holds says what a job and its partitions hold.
func (a *account) holds(j *job) string {
	reserved, permits := Bytes(0), 0
	if j.paid && j.phase < working {
		reserved = a.wholeReserve(j)
	}
	t := &a.traits[j.kind]
	for i := range a.partitions.slots {
		p := &a.partitions.slots[i]
		if p.place == gone || a.jobs.at(p.jobSlot) != j {
			continue
		}
		if p.has(holdsKernelPart) {
			reserved += t.kernelPart * Bytes(p.proofs)
		}
		if p.has(holdsRestPart) {
			reserved += t.restPart * Bytes(p.proofs)
		}
		if p.has(holdsPermit) {
			permits++
		}
	}
	return a.amounts(reserved, Counted(permits, "permit"))
}

// amounts joins what is said of the ledger and of the permits, of which each is there only if the configuration has it.
func (a *account) amounts(bytes Bytes, permits string) string {
	var parts []string
	if a.config.Admission.Budget != nil {
		parts = append(parts, a.ofLedger(bytes))
	}
	if a.config.Admission.Permits != Unbounded {
		parts = append(parts, permits)
	}
	return cmp.Or(strings.Join(parts, " and "), "its place in flight")
}

func (a *account) ofLedger(bytes Bytes) string { return a.size(bytes) + " of the ledger" }

// waits says what a job waits for.
func (a *account) waits(j *job) string {
	t := &a.traits[j.kind]
	unadmitted := int32(a.kinds[j.kind].Partitions) - j.admitted
	switch {
	case j.phase == collecting:
		return "others to join it"
	case j.phase == working && unadmitted > 0:
		needed := a.amounts(t.reserve()*Bytes(j.proofs()), fmt.Sprintf("a permit (%d free)", a.permits))
		return fmt.Sprintf("the admission of %s, each with %s", Counted(unadmitted, "partition"), needed)
	case j.phase != acquiring:
		return "its partitions"
	case t.workingFirst && !j.paid:
		return a.ofLedger(a.wholeReserve(j)) + " for its partitions"
	}
	var data []string
	for _, n := range t.needs {
		if d := &a.data.items[n]; d.state != loaded && !d.background {
			data = append(data, fmt.Sprintf("%s to load %s", a.ofLedger(d.bytes+d.transient), a.config.Resident[n].Name))
		}
	}
	return strings.Join(data, " and ")
}
