// The sums of the buckets, from sorted entries.
#pragma once

#include "plan.h"
#include "points.cuh"

namespace headroom {

constexpr int sum_threads = 128;

// Cut says how the entries are cut into segments of equal length, whatever their buckets: every thread does the same
// work, however the scalars are spread. Segment t and bucket b meet in partial sum t + b. That is a place of its own
// for each meeting, since both numbers only grow along the entries, and those of one bucket are neighbours.
struct Cut {
  const uint32_t* offsets;
  uint64_t buckets;
  uint32_t entries, length;

  __device__ __forceinline__ Cut(const MsmPlan& plan, const uint32_t* offsets_)
      : offsets(offsets_), buckets(plan.buckets), entries(offsets_[plan.buckets]) {
    const uint64_t equal = (entries + plan.segments - 1) / plan.segments;
    length = static_cast<uint32_t>(equal > shortest_segment ? equal : shortest_segment);
  }

  // first_partial is where the partial sums of a bucket begin. For an empty bucket it is a free place.
  __device__ __forceinline__ uint64_t first_partial(uint64_t bucket) const { return offsets[bucket] / length + bucket; }

  __device__ __forceinline__ uint32_t partials(uint64_t bucket) const {
    const uint32_t begin = offsets[bucket], end = offsets[bucket + 1];
    return begin == end ? 0 : (end - 1) / length - begin / length + 1;
  }

  // bucket_of returns the bucket of an entry.
  __device__ __forceinline__ uint64_t bucket_of(uint32_t entry) const {
    uint64_t low = 0, high = buckets;  // offsets[low] <= entry < offsets[high]
    while (high - low > 1) {
      const uint64_t middle = (low + high) / 2;
      if (offsets[middle] <= entry) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

template <class F>
__device__ __forceinline__ uint64_t item() {
  return (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / F::lanes;
}

// accumulate sums the segments, bucket by bucket.
template <class F>
__global__ void __launch_bounds__(sum_threads, 2)
    accumulate(MsmPlan plan, Fp* partials, const uint32_t* offsets, const uint32_t* entries, const Fp* points) {
  const Cut cut(plan, offsets);
  const uint64_t segment = item<F>(), begin = segment * cut.length;
  if (begin >= cut.entries) return;
  const uint32_t end = min(begin + cut.length, uint64_t{cut.entries});
  uint64_t bucket = cut.bucket_of(begin);
  uint32_t last = offsets[bucket + 1];
  auto sum = Xyzz<F>::infinity();
#pragma unroll 1
  for (uint32_t i = begin; i < end; i++) {
    if (i == last) {
      store_xyzz(partials, segment + bucket, sum);
      sum = Xyzz<F>::infinity();
      do last = offsets[++bucket + 1];
      while (i == last);
    }
    const uint32_t entry = entries[i];
    Affine<F> p = load_affine<F>(points, entry & 0x7fffffff);
    p.y = p.y.negated_if(entry >> 31);
    sum.add(p);
  }
  store_xyzz(partials, segment + bucket, sum);
}

// Heavy is the list of buckets with many partial sums.
struct Heavy {
  uint32_t* count;
  uint32_t* buckets;
};

// combine adds the partial sums of every bucket into its first. It leaves those of many to sum_pieces and join_pieces.
template <class F>
__global__ void __launch_bounds__(sum_threads, 2)
    combine(MsmPlan plan, Fp* partials, const uint32_t* offsets, Heavy heavy) {
  const uint64_t bucket = item<F>();
  if (bucket >= plan.buckets) return;
  const Cut cut(plan, offsets);
  const uint64_t first = cut.first_partial(bucket);
  const uint32_t n = cut.partials(bucket);
  if (n > light_partials) {
    if (threadIdx.x % F::lanes == 0) heavy.buckets[atomicAdd(heavy.count, 1)] = static_cast<uint32_t>(bucket);
    return;
  }
  if (n == 1) return;
  auto sum = Xyzz<F>::infinity();
  for (uint32_t k = 0; k < n; k++) sum = Xyzz<F>::sum(sum, load_xyzz<F>(partials, first + k));
  store_xyzz(partials, first, sum);
}

// block_sum adds what the items of a block hold. The result is with item 0.
template <class F>
__device__ __forceinline__ void block_sum(Xyzz<F>& sum, Fp* shared) {
  const int mine = threadIdx.x / F::lanes;
  for (int n = sum_threads / F::lanes / 2; n > 0; n /= 2) {
    __syncthreads();
    if (mine >= n && mine < 2 * n) store_xyzz(shared, mine - n, sum);
    __syncthreads();
    if (mine < n) sum = Xyzz<F>::sum(sum, load_xyzz<F>(shared, mine));
  }
}

// block_sum_bytes is the shared memory of block_sum, for either group.
constexpr int block_sum_bytes = sum_threads / 2 * 4 * sizeof(Fp);

// A heavy bucket is summed in pieces, a block each, and then the pieces: with equal scalars everything is in one bucket
// of each window. A piece's sum replaces its first partial sum.
constexpr uint32_t heavy_pieces = 64, shortest_piece = 4 * sum_threads;

__device__ __forceinline__ uint32_t piece_length(uint32_t partials) {
  const uint32_t equal = (partials + heavy_pieces - 1) / heavy_pieces;
  return equal > shortest_piece ? equal : shortest_piece;
}

// sum_every adds the n partial sums from first on that are apart, with the whole block, into the first of them.
template <class F>
__device__ __forceinline__ void sum_every(Fp* partials, uint64_t first, uint32_t n, uint32_t apart) {
  __shared__ uint4 memory[block_sum_bytes / sizeof(uint4)];
  auto sum = Xyzz<F>::infinity();
  for (uint32_t k = threadIdx.x / F::lanes; k < n; k += sum_threads / F::lanes)
    sum = Xyzz<F>::sum(sum, load_xyzz<F>(partials, first + uint64_t{k} * apart));
  block_sum(sum, reinterpret_cast<Fp*>(memory));
  if (threadIdx.x < F::lanes) store_xyzz(partials, first, sum);
}

// sum_pieces does every piece of every heavy bucket, in blocks (piece, bucket).
template <class F>
__global__ void __launch_bounds__(sum_threads, 2)
    sum_pieces(MsmPlan plan, Fp* partials, const uint32_t* offsets, Heavy heavy) {
  const Cut cut(plan, offsets);
  for (uint32_t h = blockIdx.y; h < *heavy.count; h += gridDim.y) {
    const uint32_t n = cut.partials(heavy.buckets[h]), length = piece_length(n), begin = blockIdx.x * length;
    if (begin >= n) continue;
    sum_every<F>(partials, cut.first_partial(heavy.buckets[h]) + begin, min(length, n - begin), 1);
  }
}

// join_pieces does every heavy bucket, a block each.
template <class F>
__global__ void __launch_bounds__(sum_threads, 2)
    join_pieces(MsmPlan plan, Fp* partials, const uint32_t* offsets, Heavy heavy) {
  const Cut cut(plan, offsets);
  for (uint32_t h = blockIdx.x; h < *heavy.count; h += gridDim.x) {
    const uint32_t n = cut.partials(heavy.buckets[h]), length = piece_length(n);
    sum_every<F>(partials, cut.first_partial(heavy.buckets[h]), (n + length - 1) / length, length);
  }
}

}  // namespace headroom
