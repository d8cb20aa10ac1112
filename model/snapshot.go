package model

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// This file is what a search over states needs of a core: copies, and keys by which it knows a state again.

// Clone returns a copy of the core that shares nothing with it that a step changes.
func (c *Core) Clone() *Core {
	clone := new(Core)
	c.CopyTo(clone)
	return clone
}

// CopyTo is Clone into a core whose storage is used again; what that core was is lost. The zero Core will do.
func (c *Core) CopyTo(into *Core) {
	old := *into
	*into = *c
	into.out = nil
	into.partitions.slots = append(old.partitions.slots[:0], c.partitions.slots...)
	into.partitions.links = append(old.partitions.links[:0], c.partitions.links...)
	into.jobs.slots = append(old.jobs.slots[:0], c.jobs.slots...)
	into.jobs.links = append(old.jobs.links[:0], c.jobs.links...)
	for i := range into.jobs.slots {
		j := &into.jobs.slots[i]
		j.joined = slices.Clone(j.joined)
	}
	into.waiting.ranks = append(old.waiting.ranks[:0], c.waiting.ranks...)
	for i := range into.waiting.ranks {
		b := &into.waiting.ranks[i]
		b.runs = slices.Clone(b.runs)
	}
	into.data.items = append(old.data.items[:0], c.data.items...)
	into.data.lanes.busy = append(old.data.lanes.busy[:0], c.data.lanes.busy...)
	into.timers = append(old.timers[:0], c.timers...)
	into.ready.heap = append(old.ready.heap[:0], c.ready.heap...)
	into.channel.heap = append(old.channel.heap[:0], c.channel.heap...)
	into.workers = append(old.workers[:0], c.workers...)
	into.devices = append(old.devices[:0], c.devices...)
	into.deallocs.ring = append(old.deallocs.ring[:0], c.deallocs.ring...)
	into.census = append(old.census[:0], c.census...)
	into.deallocs.lanes.busy = append(old.deallocs.lanes.busy[:0], c.deallocs.lanes.busy...)
	into.parseLanes.busy = append(old.parseLanes.busy[:0], c.parseLanes.busy...)
	into.synthLanes.busy = append(old.synthLanes.busy[:0], c.synthLanes.busy...)
	into.finishLanes.busy = append(old.finishLanes.busy[:0], c.finishLanes.busy...)
}

// Fingerprint appends a key of the core's state to buf. Cores of one configuration with equal keys have the same
// futures but for names: numbers of jobs and partitions, slots and their generations, lanes, and workers of one
// device. Partitions of a job that are equally far, and jobs of a kind that are, may change places.
//
// A job that fails or is cancelled gives up its waiting partitions in order of their slots. If that may happen, ask
// for distinct keys, which keep this order and tell more states apart.
func (c *Core) Fingerprint(buf []byte, distinct bool) []byte {
	for _, n := range []int32{c.inFlight, c.running, c.permits, c.synthWorkers, c.locks, c.finalizers, c.deallocs.free} {
		buf = binary.AppendVarint(buf, int64(n))
	}
	buf = append(buf, flag(c.draining))
	buf = c.printBooks(buf)
	buf = binary.AppendUvarint(buf, uint64(c.idle.n))
	for i, w := int32(0), c.idle.head; i < c.idle.n; i, w = i+1, c.workers[w] {
		buf = append(buf, byte(int(w)%len(c.devices)))
	}
	for d := range c.devices {
		buf = append(buf, flag(c.devices[d].locked))
	}
	for k := range c.census {
		for _, n := range c.census[k][:NumPlaces] {
			buf = binary.AppendVarint(buf, int64(n))
		}
	}
	for i := range c.waiting.ranks {
		buf = c.waiting.ranks[i].print(buf)
	}
	return c.printJobs(buf, distinct)
}

// printBooks appends the ledger, the timers and the data that comes and goes.
func (c *Core) printBooks(buf []byte) []byte {
	buf = binary.AppendVarint(buf, int64(c.ledger.used))
	buf = append(buf, flag(c.ledger.retryAdmission), flag(c.ledger.retryOpening))
	for i := range c.timers {
		buf = append(buf, flag(c.timers[i].armed))
	}
	for i := range c.data.items {
		d := &c.data.items[i]
		longerIdle := 0
		for k := range c.data.items {
			if other := &c.data.items[k]; d.idle() && other.idle() && other.idleAt < d.idleAt {
				longerIdle++
			}
		}
		buf = append(buf, byte(d.state), flag(d.wanted), flag(d.refused), flag(d.rested))
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(d.users)), uint64(longerIdle))
	}
	return buf
}

// printJobs appends the jobs in flight with their partitions, then the partitions that have left their jobs.
func (c *Core) printJobs(buf []byte, distinct bool) []byte {
	turns := make([]uint16, len(c.jobs.slots))
	c.opening.number(c.jobs.links, turns)
	c.ready.number(c.jobs.links, turns)
	partitions := c.printPartitions(distinct)
	var prints [][]byte
	for slot := range c.jobs.slots {
		if j := c.jobs.at(int32(slot)); j.live {
			print := append(j.print(turns[slot]), flag(c.ledger.refused == j.number))
			if c.policy.order != inOrderOfArrival {
				print = binary.AppendUvarint(print, uint64(c.jobs.older(j)))
			}
			prints = append(prints, partitions[slot].append(print))
		}
	}
	slices.SortFunc(prints, bytes.Compare)
	buf = binary.AppendUvarint(buf, uint64(len(prints)))
	for _, p := range prints {
		buf = append(buf, p...)
	}
	return partitions[len(c.jobs.slots)].append(buf)
}

// printPartitions returns what there is to know of the partitions of each job's slot, and then of those that have left
// their jobs.
func (c *Core) printPartitions(distinct bool) []prints {
	n := len(c.partitions.slots)
	stands, vectors, assignments := make([]uint16, n), make([]uint16, n), make([]uint16, n)
	lines := []*queue{&c.handoff, &c.blocked, &c.finishes}
	for d := range c.devices {
		lines = append(lines, &c.devices[d].queue)
	}
	for _, q := range lines {
		q.number(c.partitions.links, stands)
	}
	c.channel.number(c.partitions.links, stands)
	for i := c.deallocs.head; int32(c.deallocs.tail-i) > 0; i++ {
		r := c.deallocs.ring[i&uint32(len(c.deallocs.ring)-1)]
		[][]uint16{vectors, assignments}[r.block-Vectors][r.slot] = uint16(i - c.deallocs.head + 1)
	}
	list := make([]prints, len(c.jobs.slots)+1)
	for i := range c.partitions.slots {
		p := &c.partitions.slots[i]
		of := &list[len(c.jobs.slots)]
		if p.place != gone {
			of = &list[p.jobSlot]
		} else if p.freeing == [2]freeState{} {
			continue // the slot is free
		}
		turn, rank := 0, 0
		if c.policy.order == inTurn && p.place != gone {
			turn = c.partitions.before(p)
		}
		if distinct && p.place != gone {
			rank = len(*of)
		}
		*of = append(*of, [3]uint64{
			uint64(turn)<<48 | uint64(p.kind)<<32 | uint64(p.marks)<<16 | uint64(p.running),
			uint64(p.place)<<56 | uint64(p.device)<<48 | uint64(p.freeing[0])<<40 | uint64(p.freeing[1])<<32 | uint64(p.proofs),
			uint64(rank)<<48 | uint64(stands[i])<<32 | uint64(vectors[i])<<16 | uint64(assignments[i]),
		})
	}
	return list
}

// prints are what there is to know of some partitions.
type prints [][3]uint64

// append sorts the prints and appends them to buf.
func (ps prints) append(buf []byte) []byte {
	slices.SortFunc(ps, func(a, b [3]uint64) int { return slices.Compare(a[:], b[:]) })
	buf = binary.AppendUvarint(buf, uint64(len(ps)))
	for _, p := range ps {
		for _, n := range p {
			buf = binary.AppendUvarint(buf, n)
		}
	}
	return buf
}

// print returns what there is to know of a job but its partitions. Its turn is where it stands in the line of those
// with partitions to admit, from 1, or 0.
func (j *job) print(turn uint16) []byte {
	givenUp := 0
	for _, m := range j.joined {
		if m.givenUp {
			givenUp++
		}
	}
	buf := []byte{byte(j.phase), flag(j.doomed), flag(j.paid), flag(j.givenUp)}
	for _, n := range []uint64{
		uint64(j.kind), uint64(j.admitted), uint64(j.left), uint64(j.acquired), uint64(len(j.joined)), uint64(givenUp), uint64(turn),
	} {
		buf = binary.AppendUvarint(buf, n)
	}
	return buf
}

// print appends the kinds of the jobs that wait, in order.
func (b *backlog) print(buf []byte) []byte {
	var runs []jobRun
	for _, r := range b.runs[b.head:] {
		if last := len(runs) - 1; last >= 0 && runs[last].kind == r.kind {
			runs[last].count += r.count
			continue
		}
		runs = append(runs, r)
	}
	buf = binary.AppendUvarint(buf, uint64(len(runs)))
	for _, r := range runs {
		buf = binary.AppendUvarint(binary.AppendUvarint(buf, uint64(r.count)), uint64(r.kind))
	}
	return buf
}

// number notes for each slot of a queue where it stands in it, from 1.
func (q *queue) number(l links, stands []uint16) {
	for i, slot := int32(1), q.head; i <= q.n; i, slot = i+1, l[slot] {
		stands[slot] = uint16(i)
	}
}

// number notes for each slot of a line where it stands in it, from 1.
func (l *line) number(links links, stands []uint16) {
	if !l.byKey {
		l.queue.number(links, stands)
		return
	}
	for i := range l.heap {
		n := uint16(1)
		for k := range l.heap {
			if l.less(k, i) {
				n++
			}
		}
		stands[l.heap[i].slot] = n
	}
}

// older returns how many jobs in flight have a lower number.
func (js *jobs) older(j *job) int {
	n := 0
	for i := range js.slots {
		if other := &js.slots[i]; other.live && other.number < j.number {
			n++
		}
	}
	return n
}

// before returns how many partitions in the pipeline have a lower key.
func (ps *partitions) before(p *partition) int {
	n := 0
	for i := range ps.slots {
		if other := &ps.slots[i]; other.place != gone && other.key < p.key {
			n++
		}
	}
	return n
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
