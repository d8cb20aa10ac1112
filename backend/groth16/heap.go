package groth16

import "runtime/debug"

// ReturnHeap collects the Go heap and returns what is free to the system. The solver and the MSMs work on the heap
// and leave garbage that would otherwise stay resident until the collector's next cycles. [OpenKeys] and
// [Prover.Synthesize] call it before they return; a pipeline may call it after a proof as well. It takes about
// a millisecond for keys of 2^13, since keys and constraints hold no pointers to follow.
func ReturnHeap() { debug.FreeOSMemory() }
