package model

import "math/bits"

// none is the end of a linked list and an absent slot.
const none int32 = -1

// links are where the queues' next slots stand, by slot. All queues of one sort of slot share them.
type links []int32

// queue is a first-in first-out line of slots, linked through the slots' links, so that it is unbounded and never
// allocates. A slot stands in at most one queue.
type queue struct {
	head, tail, n int32
}

func emptyQueue() queue { return queue{head: none, tail: none} }

func (q *queue) push(l links, slot int32) {
	l[slot] = none
	if q.n == 0 {
		q.head = slot
	} else {
		l[q.tail] = slot
	}
	q.tail = slot
	q.n++
}

// pop takes out the first slot of a queue that is not empty.
func (q *queue) pop(l links) int32 {
	slot := q.head
	q.head = l[slot]
	q.n--
	if q.n == 0 {
		q.tail = none
	}
	return slot
}

// remove takes slot out of the middle of the queue; it walks the queue, which is fine for the rare cancellation.
func (q *queue) remove(l links, slot int32) {
	before := none
	for at := q.head; at != slot; at = l[at] {
		before = at
	}
	if before == none {
		q.head = l[slot]
	} else {
		l[before] = l[slot]
	}
	if q.tail == slot {
		q.tail = before
	}
	q.n--
}

// laneSet hands out the lowest free number.
type laneSet struct {
	busy []uint64
	low  int // words below are full
}

func (l *laneSet) take() int32 {
	for ; ; l.low++ {
		if l.low == len(l.busy) {
			l.busy = append(l.busy, 0)
		}
		if word := l.busy[l.low]; word != ^uint64(0) {
			bit := bits.TrailingZeros64(^word)
			l.busy[l.low] |= 1 << bit
			return int32(l.low*64 + bit)
		}
	}
}

func (l *laneSet) put(lane int32) {
	word := int(lane) / 64
	l.busy[word] &^= 1 << (lane % 64)
	l.low = min(l.low, word)
}

// backlog is the jobs that have not begun, as runs of consecutive numbers of one kind, so that it stays small
// however many jobs wait.
type backlog struct {
	runs []jobRun
	head int
}

type jobRun struct {
	first, count int32
	kind         uint16
}

func (b *backlog) empty() bool { return b.head == len(b.runs) }

func (b *backlog) push(r jobRun) {
	if b.head > 0 && b.head == len(b.runs) {
		b.runs, b.head = b.runs[:0], 0
	}
	b.runs = append(b.runs, r)
}

func (b *backlog) pop() (job int32, kind uint16) {
	r := &b.runs[b.head]
	job, kind = r.first, r.kind
	r.first++
	r.count--
	if r.count == 0 {
		b.head++
	}
	return job, kind
}

// remove takes a job out and reports whether it was there.
func (b *backlog) remove(job int32) (kind uint16, ok bool) {
	for i := b.head; i < len(b.runs); i++ {
		r := b.runs[i]
		if job < r.first || job >= r.first+r.count {
			continue
		}
		var parts []jobRun
		if before := job - r.first; before > 0 {
			parts = append(parts, jobRun{r.first, before, r.kind})
		}
		if after := r.first + r.count - job - 1; after > 0 {
			parts = append(parts, jobRun{job + 1, after, r.kind})
		}
		b.runs = append(b.runs[:i], append(parts, b.runs[i+1:]...)...)
		return r.kind, true
	}
	return 0, false
}
