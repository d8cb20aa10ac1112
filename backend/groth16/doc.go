// Package groth16 is a real Groth16 prover over BLS12-381 whose stages run one at a time, so that a pipeline can
// schedule them, hold their memory and give it back stage by stage.
//
// Circuits, setup and verification come from gnark; the prover is this package's own, on gnark-crypto. A
// [Partition] proves Merkle inclusion of challenged leaves in data that [Prover.Synthesize] reads and hashes:
//
//	Synthesize   read, tweak and hash the data; build the tree; solve the circuit
//	Prep         split the assignment by density, load it      (may run beside Kernel)
//	Kernel       NTTs and quotient in place, MSM of h
//	Tail         MSMs of l, a and b_g1                          (needs Prep)
//	Finish       MSM of b_g2 and assembly: 192 bytes
//
// The MSMs come from [Sums]: the host's processors, or whatever [Partition.Use] names.
//
// What a partition holds is outside the Go heap, in three blocks of known size ([SizesOf]): vectors (a, b, c,
// the data, the tree), assignment, and the scalars of one proof. Keys are for tests: [OpenKeys] runs the setup on
// this machine, so whoever ran it could forge proofs.
package groth16

import "github.com/consensys/gnark/logger"

// gnark logs to standard output, which belongs to results.
func init() { logger.Disable() }
