// Multi-scalar multiplication, and multiples of one point, in G1 and G2.
#pragma once

#include "../arith/fp.h"
#include "plan.h"

namespace headroom {

// Group is what can be done in one of the groups. Work is enqueued on a stream of the current device. Points are affine
// in gnark-crypto's layout; an Fp pointer is their memory.
struct Group {
  int lanes;  // Fp in a coordinate: 1 in G1, 2 in G2

  // parallel is how many segments the current device sums at once, for msm_plan.
  uint64_t (*parallel)();

  // workspace_bytes is the device memory of run beside its arguments.
  uint64_t (*workspace_bytes)(const MsmPlan& plan);

  // run computes the sum of scalar times point, as one Jacobian point.
  void (*run)(cudaStream_t stream, const MsmPlan& plan, void* workspace, const Fp* points, const Fr* scalars,
              bool montgomery, Fp* result);

  // table_bytes is the device memory of fixed_base beside its arguments.
  uint64_t table_bytes;

  // fixed_base computes scalar times base for n scalars.
  void (*fixed_base)(cudaStream_t stream, void* table, const Fp* base, const Fr* scalars, uint64_t n, bool montgomery,
                     Fp* points);

  uint64_t affine_bytes() const { return 2 * lanes * sizeof(Fp); }
  uint64_t jacobian_bytes() const { return 3 * lanes * sizeof(Fp); }
};

extern const Group g1, g2;

}  // namespace headroom
