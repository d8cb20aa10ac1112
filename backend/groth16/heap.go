package groth16

import "runtime/debug"

// ReturnHeap collects the Go heap and returns what is free to the system. The solver and the MSMs work on the heap
// and on goroutine stacks and leave garbage that would otherwise stay resident until the collector's next cycle.
// [OpenKeys], [Prover.Synthesize] and the sums on the host's processors call it before they return, so a process that holds
// partitions is as large as their blocks. Sums on a card leave no garbage, and would keep the card waiting. It takes a few
// milliseconds whatever the size of the keys, since keys and constraints hold no pointers to follow.
func ReturnHeap() { debug.FreeOSMemory() }
