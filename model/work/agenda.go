package work

// agenda holds lanes in order of their keys, and of their numbers where keys are equal. The first ones stand in a
// sorted list: taking one out is a step of an index, and a new one mostly belongs near the end. The others wait in a
// winner tree, so that among thousands of lanes a key costs a logarithm.
type agenda struct {
	first      int64  // the least key; never if there is none
	beyond     int64  // the least key in the tree; never if there is none
	head, tail uint32 // of the list, which stands in a ring
	ring       [ringSize]entry
	rest       tree
}

type entry struct {
	key  int64
	lane int32
}

const (
	ringSize = 64 // a power of two, and more than listed
	listed   = 32 // the most that the list holds
	refilled = 16 // what an empty list takes out of the tree
)

func newAgenda() agenda {
	a := agenda{first: never, beyond: never}
	a.ring[0].key = never
	return a
}

// at returns a place in the ring.
func (a *agenda) at(i uint32) *entry { return &a.ring[i%ringSize] }

// add puts in a lane that is not there.
func (a *agenda) add(key int64, lane int32) {
	if key >= a.beyond && (key > a.beyond || lane > a.rest.first()) {
		a.postpone(key, lane)
		return
	}
	i := a.tail
	for ; i != a.head; i-- {
		last := a.at(i - 1)
		if last.key < key || last.key == key && last.lane < lane {
			break
		}
		*a.at(i) = *last
	}
	*a.at(i) = entry{key, lane}
	if i == a.head {
		a.first = key
	}
	a.tail++
	a.at(a.tail).key = never
	if a.tail-a.head > listed {
		a.overflow()
	}
}

// overflow moves the last lane of the list into the tree.
func (a *agenda) overflow() {
	a.tail--
	last := a.at(a.tail)
	a.postpone(last.key, last.lane)
	last.key = never
}

// postpone puts a lane into the tree.
func (a *agenda) postpone(key int64, lane int32) {
	a.rest.set(lane, key)
	a.beyond = a.rest.min()
}

// pop takes out the first lane. Behind the list stands never, which is the least key of an empty one.
func (a *agenda) pop() int32 {
	lane := a.ring[a.head%ringSize].lane
	a.head++
	if a.first = a.ring[a.head%ringSize].key; a.first > a.beyond {
		a.refill()
	}
	return lane
}

// refill fills the empty list out of the tree.
func (a *agenda) refill() {
	a.first = a.beyond
	for n := 0; n < refilled && a.beyond != never; n++ {
		lane := a.rest.first()
		*a.at(a.tail) = entry{a.beyond, lane}
		a.tail++
		a.postpone(never, lane)
	}
	a.at(a.tail).key = never
}
