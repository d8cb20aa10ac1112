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

// line is a queue of slots in the order that the configuration says: first in first out, or least key first and of
// equal keys the lower slot.
type line struct {
	queue
	byKey bool
	heap  []keyed // instead of the queue, with the least on top
}

type keyed struct {
	key  uint64
	slot int32
}

func newLine(byKey bool) line { return line{queue: emptyQueue(), byKey: byKey} }

func (l *line) push(links links, slot int32, key uint64) {
	if !l.byKey {
		l.queue.push(links, slot)
		return
	}
	l.n++
	l.heap = append(l.heap, keyed{key, slot})
	l.up(len(l.heap) - 1)
}

// first returns the slot that is next in a line that is not empty.
func (l *line) first() int32 {
	if l.byKey {
		return l.heap[0].slot
	}
	return l.head
}

func (l *line) pop(links links) int32 {
	if !l.byKey {
		return l.queue.pop(links)
	}
	return l.takeOut(0)
}

// find returns the slot that is next of those that a test takes, or none.
func (l *line) find(links links, test func(slot int32) bool) int32 {
	if !l.byKey {
		at := l.head
		for at != none && !test(at) {
			at = links[at]
		}
		return at
	}
	best := -1
	for i := range l.heap {
		if test(l.heap[i].slot) && (best < 0 || l.less(i, best)) {
			best = i
		}
	}
	if best < 0 {
		return none
	}
	return l.heap[best].slot
}

func (l *line) remove(links links, slot int32) {
	if !l.byKey {
		l.queue.remove(links, slot)
		return
	}
	for i := range l.heap {
		if l.heap[i].slot == slot {
			l.takeOut(i)
			return
		}
	}
}

// takeOut takes the i-th entry out of the heap and returns its slot.
func (l *line) takeOut(i int) int32 {
	slot, last := l.heap[i].slot, len(l.heap)-1
	l.heap[i] = l.heap[last]
	l.heap = l.heap[:last]
	l.n--
	if i < last {
		l.down(i)
		l.up(i)
	}
	return slot
}

func (l *line) less(i, j int) bool {
	a, b := &l.heap[i], &l.heap[j]
	return a.key < b.key || a.key == b.key && a.slot < b.slot
}

func (l *line) up(i int) {
	for i > 0 && l.less(i, (i-1)/2) {
		l.heap[i], l.heap[(i-1)/2] = l.heap[(i-1)/2], l.heap[i]
		i = (i - 1) / 2
	}
}

func (l *line) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(l.heap); child++ {
			if l.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		l.heap[i], l.heap[least] = l.heap[least], l.heap[i]
		i = least
	}
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
			l.busy[l.low] = word | (word + 1)
			return int32(l.low*64 + bit)
		}
	}
}

func (l *laneSet) put(lane int32) {
	word := int(uint32(lane) / 64)
	l.busy[word] &^= 1 << (uint32(lane) % 64)
	l.low = min(l.low, word)
}

// waiting is the jobs that have not begun, by the rank of their kinds' priorities, or all at rank 0 where the order is
// not by priority.
type waiting struct {
	ranks []backlog
	n     int64
}

func (w *waiting) empty() bool { return w.n == 0 }

func (w *waiting) push(rank int, r jobRun) {
	w.ranks[rank].push(r)
	w.n += int64(r.count)
}

func (w *waiting) pop() (job int32, kind uint16) {
	w.n--
	for i := range w.ranks {
		if b := &w.ranks[i]; !b.empty() {
			return b.pop()
		}
	}
	panic("model: no job waits")
}

// remove takes a job out and reports whether it was there.
func (w *waiting) remove(job int32) (kind uint16, ok bool) {
	for i := range w.ranks {
		if kind, ok = w.ranks[i].remove(job); ok {
			w.n--
			return kind, true
		}
	}
	return 0, false
}

// has reports whether a job waits.
func (w *waiting) has(job int32) bool {
	for i := range w.ranks {
		for _, r := range w.ranks[i].runs[w.ranks[i].head:] {
			if job >= r.first && job-r.first < r.count {
				return true
			}
		}
	}
	return false
}

// backlog is jobs in order, as runs of consecutive numbers of one kind, so that it stays small however many jobs wait.
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
	if b.head > len(b.runs)/2 {
		b.runs, b.head = b.runs[:copy(b.runs, b.runs[b.head:])], 0
	}
	if last := len(b.runs) - 1; last >= b.head {
		if l := &b.runs[last]; l.kind == r.kind && l.first+l.count == r.first {
			l.count += r.count
			return
		}
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
