package groth16

import (
	"runtime"
	"runtime/debug"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// ReturnHeap collects the Go heap and returns what is free to the system. The solver and the MSMs work on the heap
// and on goroutine stacks and leave garbage that would otherwise stay resident until the collector's next cycle.
// [OpenKeys], [Prover.Synthesize] and the sums on the host's processors call it before they return, so a process that holds
// partitions is as large as their blocks. Sums on a card leave no garbage, and would keep the card waiting. It takes a few
// milliseconds whatever the size of the keys, since keys and constraints hold no pointers to follow.
func ReturnHeap() { debug.FreeOSMemory() }

// move copies values out of the Go heap and gives their pages back to the system on the way, long before the collector
// finds that nobody needs them. Nothing may read from afterwards: it is zero wherever a page was given back.
func move(to, from fr.Vector) {
	const step = 1 << 15 // a MiB
	for rest := from; len(rest) > 0; {
		n := copy(to, rest[:min(step, len(rest))])
		giveBack(rest[:n])
		to, rest = to[n:], rest[n:]
	}
	runtime.KeepAlive(from)
}
