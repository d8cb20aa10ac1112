package work

import "math"

// never is the key of an empty leaf.
const never = math.MaxInt64

// tree is a winner tree: it holds a key for each lane and knows the least one. Setting a key is a path of
// branch-free minima to the root, which beats a heap at the few dozen lanes that a pipeline has.
type tree struct {
	keys []int64 // keys[1] is the least; keys[size+lane] is the lane's
	size int     // lanes, a power of two; 0: nothing was ever set
}

func (t *tree) min() int64 {
	if len(t.keys) < 2 {
		return never
	}
	return t.keys[1]
}

// first returns the lowest lane whose key is the least one. No key is negative, so that the sign of a difference
// tells, without a branch, whether the least one is to the right.
func (t *tree) first() int32 {
	keys, size, i := t.keys, uint(t.size), uint(1)
	least := keys[1]
	for i < size {
		i = 2*i + uint(uint64(least-keys[2*i])>>63)
	}
	return int32(i - size)
}

func (t *tree) set(lane int32, key int64) {
	if int(lane) >= t.size {
		t.grow(int(lane) + 1)
	}
	keys := t.keys
	i := uint(t.size) + uint(lane)
	keys[i] = key
	for i > 1 {
		key = min(key, keys[i^1])
		i /= 2
		keys[i] = key
	}
}

func (t *tree) grow(lanes int) {
	size := max(t.size, 1)
	for size < lanes {
		size *= 2
	}
	keys := make([]int64, 2*size)
	for i := range keys {
		keys[i] = never
	}
	copy(keys[size:], t.keys[t.size:])
	for i := size - 1; i >= 1; i-- {
		keys[i] = min(keys[2*i], keys[2*i+1])
	}
	t.keys, t.size = keys, size
}
