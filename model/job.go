package model

import "slices"

// job is what the core knows of one job in flight, or of several that a batch has joined.
type job struct {
	number   int32
	joined   []member // a batch's further jobs
	admitted int32    // partitions admitted so far
	left     int32    // partitions that have not finished or left
	gen      uint32
	lane     int32 // of Parse
	kind     uint16
	acquired uint16 // how many of the data that its kind needs it has claimed
	phase    phase
	paid     bool // its partitions' reservations were made for all at once
	givenUp  bool // the leading job of a batch was cancelled
	doomed   bool // failed or cancelled: its partitions leave
	live     bool // the slot is in use
}

// phase is how far a job in flight is before its partitions.
type phase uint8

const (
	collecting phase = iota // waits for others to join it
	acquiring               // waits for its reservation or its data
	parsing
	working // has partitions
)

// member is a job that has joined a batch.
type member struct {
	number  int32
	givenUp bool // cancelled: the batch goes on without using its result
}

// proofs returns how many jobs are joined.
func (j *job) proofs() uint16 { return uint16(1 + len(j.joined)) }

// jobs is the slots of jobs in flight.
type jobs struct {
	slots []job
	links links
	free  queue
}

func (js *jobs) at(slot int32) *job { return &js.slots[slot] }

// expect makes room for so many more jobs at once.
func (js *jobs) expect(n int) {
	n = max(0, n-int(js.free.n))
	js.slots, js.links = slices.Grow(js.slots, n), slices.Grow(js.links, n)
}

func (js *jobs) take(j job) int32 {
	j.live = true
	if js.free.n == 0 {
		js.slots = append(js.slots, j)
		js.links = append(js.links, none)
		return int32(len(js.slots) - 1)
	}
	slot := js.free.pop(js.links)
	j.gen = js.slots[slot].gen
	js.slots[slot] = j
	return slot
}

func (js *jobs) put(slot int32) {
	js.slots[slot].gen++
	js.slots[slot].live, js.slots[slot].joined = false, nil
	js.free.push(js.links, slot)
}
