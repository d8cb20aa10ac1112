package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Stuck says who holds what and who waits for what, a sentence each: the ledger and the data, then the jobs in flight in
// order of their numbers, then what waits before the pipeline and in it. It is meant for a core that stalls.
func (c *Core) Stuck() []string {
	var list []string
	if b := c.config.Admission.Budget; b != nil {
		list = append(list, fmt.Sprintf("the ledger has %s of %s free", (c.ledger.total-c.ledger.used).Short(), c.ledger.total.Short()))
	}
	for n := range c.data.items {
		if held := c.data.items[n].holding(); held != "" {
			list = append(list, c.config.Resident[n].Name+" "+held)
		}
	}
	var inFlight []*job
	for i := range c.jobs.slots {
		if j := &c.jobs.slots[i]; j.live {
			inFlight = append(inFlight, j)
		}
	}
	slices.SortFunc(inFlight, func(a, b *job) int { return cmp.Compare(a.number, b.number) })
	for _, j := range inFlight {
		holds, waits := c.holds(j), c.waits(j)
		list = append(list, fmt.Sprintf("job %d of kind %s holds %s and waits for %s", j.number, c.kinds[j.kind].Name, holds, waits))
	}
	if c.waiting.n > 0 {
		list = append(list, fmt.Sprintf("%s waiting to begin: in flight are %d of %s", Counted(c.waiting.n, "job"), c.inFlight, c.config.JobsInFlight))
	}
	if c.blocked.n > 0 {
		list = append(list, fmt.Sprintf("%s blocked in send: the channel holds %d of %s, and idle are %d of %s",
			Counted(c.blocked.n, "partition"), c.channel.n, c.config.ChannelCapacity(), c.idle.n, Counted(len(c.workers), "worker")))
	}
	return list
}

// holding says what data that comes and goes holds, or nothing.
func (d *datum) holding() string {
	switch {
	case !d.evictable && !d.polling && d.users == 0 || d.state == absent:
		return ""
	case d.state == loadOver:
		return fmt.Sprintf("is loaded, holds %s that loading needed and waits for its own %s", d.transient.Short(), d.bytes.Short())
	case !d.evictable:
		return fmt.Sprintf("holds %s and is never evicted", d.bytes.Short())
	case d.users > 0:
		return fmt.Sprintf("holds %s for %s", d.bytes.Short(), Counted(d.users, "job"))
	}
	return fmt.Sprintf("holds %s and no job needs it", d.bytes.Short())
}

// holds says what a job and its partitions hold.
func (c *Core) holds(j *job) string {
	reserved, permits := Bytes(0), 0
	if j.paid && j.phase < working {
		reserved = c.wholeReserve(j)
	}
	t := &c.traits[j.kind]
	for i := range c.partitions.slots {
		p := &c.partitions.slots[i]
		if p.place == gone || c.jobs.at(p.jobSlot) != j {
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
	return c.amounts(reserved, Counted(permits, "permit"))
}

// amounts joins what is said of the ledger and of the permits, of which each is there only if the configuration has it.
func (c *Core) amounts(bytes Bytes, permits string) string {
	var parts []string
	if c.config.Admission.Budget != nil {
		parts = append(parts, bytes.Short()+" of the ledger")
	}
	if c.config.Admission.Permits != Unbounded {
		parts = append(parts, permits)
	}
	return cmp.Or(strings.Join(parts, " and "), "its place in flight")
}

// waits says what a job waits for.
func (c *Core) waits(j *job) string {
	t := &c.traits[j.kind]
	unadmitted := int32(c.kinds[j.kind].Partitions) - j.admitted
	switch {
	case j.phase == collecting:
		return "others to join it"
	case j.phase == working && unadmitted > 0:
		needed := c.amounts(t.reserve()*Bytes(j.proofs()), fmt.Sprintf("a permit (%d free)", c.permits))
		return fmt.Sprintf("the admission of %s, each with %s", Counted(unadmitted, "partition"), needed)
	case j.phase != acquiring:
		return "its partitions"
	case t.workingFirst && !j.paid:
		return c.wholeReserve(j).Short() + " of the ledger for its partitions"
	}
	var data []string
	for _, n := range t.needs {
		if d := &c.data.items[n]; d.state != loaded && !d.background {
			data = append(data, fmt.Sprintf("%s of the ledger to load %s", (d.bytes+d.transient).Short(), c.config.Resident[n].Name))
		}
	}
	return strings.Join(data, " and ")
}
