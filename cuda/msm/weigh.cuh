// From the sums of buckets to the result: each bucket counts as often as its digit says.
#pragma once

#include "buckets.cuh"
#include "four.cuh"

namespace headroom {

// weigh_chunks takes the buckets of a window in chunks, from the highest digit down: the running sum of the running
// sums counts the k-th of a chunk k times. What is missing is the sum of the chunk times the digits below it.
template <class F>
__global__ void __launch_bounds__(sum_threads, 2)
    weigh_chunks(MsmPlan plan, Fp* sums, Fp* weighted, const Fp* partials, const uint32_t* offsets) {
  const uint64_t chunk = item<F>();
  if (chunk >= plan.chunks()) return;
  const Cut cut(plan, offsets);
  auto sum = Xyzz<F>::infinity(), running = sum;
  for (int k = (1 << plan.chunk_log) - 1; k >= 0; k--) {
    sum = Xyzz<F>::sum(sum, load_xyzz<F>(partials, cut.first_partial((chunk << plan.chunk_log) + k)));
    running = Xyzz<F>::sum(running, sum);
  }
  store_xyzz(sums, chunk, sum);
  store_xyzz(weighted, chunk, running);
}

// sum_windows adds chunks within a window, a block a sum: block 0 of a window those that are weighted already, and
// block 1 + k the plain sums of those chunks whose number has bit k, which is what chunks still count 2^k times for.
template <class F>
__global__ void __launch_bounds__(sum_threads, 2)
    sum_windows(MsmPlan plan, Fp* window_sums, const Fp* sums, const Fp* weighted) {
  __shared__ uint4 memory[block_sum_bytes / sizeof(uint4)];
  const uint64_t base = uint64_t{blockIdx.y} << plan.chunk_bits;
  const int bit = static_cast<int>(blockIdx.x) - 1;
  const uint64_t n = (uint64_t{1} << plan.chunk_bits) >> (bit < 0 ? 0 : 1);
  auto sum = Xyzz<F>::infinity();
  for (uint64_t i = threadIdx.x / F::lanes; i < n; i += sum_threads / F::lanes) {
    const uint64_t one = uint64_t{1} << max(bit, 0), with_bit = (i & ~(one - 1)) << 1 | one | (i & (one - 1));
    sum = Xyzz<F>::sum(sum, bit < 0 ? load_xyzz<F>(weighted, base + i) : load_xyzz<F>(sums, base + with_bit));
  }
  block_sum(sum, reinterpret_cast<Fp*>(memory));
  if (threadIdx.x < F::lanes) store_xyzz(window_sums, blockIdx.y * gridDim.x + blockIdx.x, sum);
}

// weigh_windows puts the sums of each window together, an item a window: the chunks' bits from the highest down.
template <class F>
__global__ void __launch_bounds__(sum_threads, 2) weigh_windows(MsmPlan plan, Fp* window_sums) {
  const uint64_t window = item<F>(), base = window * (1 + plan.chunk_bits);
  if (window >= static_cast<uint64_t>(plan.windows)) return;
  auto sum = Xyzz<F>::infinity();
  for (int bit = plan.chunk_bits - 1; bit >= 0; bit--) {
    sum = Xyzz<F>::twice(sum);
    sum = Xyzz<F>::sum(sum, load_xyzz<F>(window_sums, base + 1 + bit));
  }
  for (int k = 0; k < plan.chunk_log; k++) sum = Xyzz<F>::twice(sum);
  sum = Xyzz<F>::sum(sum, load_xyzz<F>(window_sums, base));
  store_xyzz(window_sums, base, sum);
}

// join_windows is one block of four items: from the highest window down (Horner).
template <class F>
__global__ void __launch_bounds__(4 * F::lanes, 1) join_windows(MsmPlan plan, const Fp* window_sums, Fp* result) {
  auto sum = Xyzz<F>::infinity();
#pragma unroll 1
  for (int w = plan.windows - 1; w >= 0; w--) {
#pragma unroll 1
    for (int k = 0; k < plan.bits; k++) sum = doubled_by_four(sum);
    sum = Xyzz<F>::sum(sum, load_xyzz<F>(window_sums, static_cast<uint64_t>(w) * (1 + plan.chunk_bits)));
  }
  if (threadIdx.x >= F::lanes) return;
  const Jacobian<F> j = sum.jacobian();
  store_part<F>(result, j.x);
  store_part<F>(result + F::lanes, j.y);
  store_part<F>(result + 2 * F::lanes, j.z);
}

}  // namespace headroom
