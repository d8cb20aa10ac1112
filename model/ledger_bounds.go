package model

import (
	"fmt"
	"maps"
	"slices"
)

// This file is what the ledger bounds. Whatever is reserved found room, but for the data that is there from the start:
// what is reserved at once is never more than may be, or than that data.

// ledgerBound is how often the reservation that goes with vectors finds room beside the data. It is the most over the
// kinds: partitions of several kinds need the data of them all, and are no more than those of the one of them that
// reserves least.
func (c *Config) ledgerBound() Bound {
	if c.Admission.Budget == nil {
		return Bound{}
	}
	most, of := Bound{}, c.boundAfterKernel
	if c.FreeVectors == AfterFinish {
		of = c.boundAfterFinish
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Admission.Budget.Kinds)) {
		b, bounded := of(kind)
		if !bounded {
			return Bound{}
		}
		if b.Partitions > most.Partitions {
			most = b
		}
	}
	return most
}

// boundAfterKernel is ledgerBound for one kind, where vectors go when a reservation shrinks. It is 0 if the kind can
// never begin; a kind that reserves nothing is not bounded.
func (c *Config) boundAfterKernel(kind string) (b Bound, bounded bool) {
	reserve, free := c.Admission.Budget.Kinds[kind].Reserve, c.freeBeside(c.needs(kind))
	if reserve == 0 || free < reserve {
		return Bound{}, reserve > 0
	}
	n := int(free / reserve)
	return Bound{n, fmt.Sprintf("ledger %s / reserve %s = %d", free, reserve, n)}, true
}

// boundAfterFinish is the same where vectors stay with the rest of a reservation. The last partition to be admitted
// found room for a whole reservation beside the rests of the others, and beside their data unless they reserve before
// they get that. Nothing bounds a kind without a rest.
func (c *Config) boundAfterFinish(kind string) (b Bound, bounded bool) {
	d := c.Admission.Budget.Kinds[kind]
	needs := c.needs(kind)
	if d.AcquireOrder == WorkingFirst {
		needs = 0
	}
	whole, _ := c.leastDemand()
	rest, free := d.rest(), c.freeBeside(needs)
	if rest == 0 || free < whole {
		return Bound{}, rest > 0
	}
	n := 1 + int((free-whole)/rest)
	return Bound{n, fmt.Sprintf("1 + (ledger %s - reserve %s) / rest %s = %d", free, whole, rest, n)}, true
}

// finishBound is the bound by the ledger where the GPU workers finish their partitions: no more partitions than there
// are workers have given back a part of their reservations.
func (c *Config) finishBound() Bound {
	if c.Admission.Budget == nil || c.FreeVectors != AfterFinish || c.GPU.Split {
		return Bound{}
	}
	needs := MaxBytes
	for kind := range c.Admission.Budget.Kinds {
		needs = min(needs, c.needs(kind))
	}
	whole, rest := c.leastDemand()
	free := c.freeBeside(needs)
	if whole == 0 || free < whole {
		return Bound{}
	}
	finishing := c.Workers()
	if c.Batch != nil {
		finishing *= int(c.Batch.Size)
	}
	if rest > 0 {
		finishing = min(finishing, int(free/rest))
	}
	n := finishing + int((free-rest*Bytes(finishing))/whole)
	return Bound{n, fmt.Sprintf("finishing %d + (ledger %s - %d x rest %s) / reserve %s = %d", finishing, free, finishing, rest, whole, n)}
}

// rest is what a partition reserves when its kernel region is over.
func (d Demand) rest() Bytes { return d.Reserve - d.ReleaseAfterKernel }

// leastDemand returns the least that a partition of any kind reserves, and the least of which after its kernel region.
func (c *Config) leastDemand() (whole, rest Bytes) {
	whole, rest = MaxBytes, MaxBytes
	for _, d := range c.Admission.Budget.Kinds {
		whole, rest = min(whole, d.Reserve), min(rest, d.rest())
	}
	return whole, rest
}

// needs returns the bytes of the data that comes and goes and is there as long as a job of a kind has partitions.
func (c *Config) needs(kind string) Bytes {
	sum := Bytes(0)
	for i := range c.Resident {
		if r := &c.Resident[i]; r.Awaited(kind) {
			sum += r.Bytes
		}
	}
	return sum
}

// freeBeside returns what may be reserved beside the data that is always there and so much of other data.
func (c *Config) freeBeside(other Bytes) Bytes {
	free := c.Admission.Budget.Available() - other
	for i := range c.Resident {
		if r := &c.Resident[i]; !r.Managed() {
			free -= r.Bytes
		}
	}
	return free
}

// DataBound returns the most that the resident data holds at once, with its transient bytes: of data that comes and
// goes as much as finds room in the ledger together. Data that is acquired by polling counts in full, since it is
// loaded before its bytes are reserved.
func (c *Config) DataBound() Bytes {
	always, atStart := Bytes(0), Bytes(0)
	var loads []dataLoad
	for i := range c.Resident {
		r := &c.Resident[i]
		polls := r.Acquire == AcquirePolling
		switch evicts := c.Admission.Budget != nil && r.Evictable; {
		case !r.OnDemand && !evicts:
			always += r.Bytes // loaded before the first job
		case polls || c.Admission.Budget == nil:
			always += r.Bytes + r.Transient
		default:
			loads = append(loads, dataLoad{r.Bytes, r.Bytes + r.Transient})
			if !r.OnDemand {
				atStart += r.Bytes
			}
		}
	}
	if len(loads) == 0 {
		return always
	}
	return always + max(atStart, fill(c.freeBeside(0), loads))
}

// dataLoad is what an item of data reserves when it is there, and while it is loaded.
type dataLoad struct{ bytes, loading Bytes }

// mostExact is for how many items fill tries everything: 3 to that power.
const mostExact = 12

// fill returns the most of a room that loads can fill, each absent, there or being loaded. Of very many it returns what
// they cannot pass.
func fill(room Bytes, loads []dataLoad) Bytes {
	sum := Bytes(0)
	for _, l := range loads {
		sum += l.loading
	}
	if room <= 0 || sum <= room || len(loads) > mostExact {
		return max(0, min(sum, room))
	}
	first, others := loads[0], loads[1:]
	most := fill(room, others)
	for _, bytes := range []Bytes{first.bytes, first.loading} {
		if bytes <= room {
			most = max(most, bytes+fill(room-bytes, others))
		}
	}
	return most
}
