// The multiplication over one field: compiled once for G1 and once for G2.
#pragma once

#include "fixed_base.cuh"
#include "msm.cuh"
#include "sort.cuh"
#include "weigh.cuh"

namespace headroom {

// Space is the workspace of a multiplication.
template <class F>
struct Space {
  SortSpace sort;
  Heavy heavy;
  Fp *partials, *sums, *weighted, *window_sums;

  Space(Workspace& space, const MsmPlan& plan)
      : sort(space, plan),
        heavy{space.array<uint32_t>(1), space.array<uint32_t>(plan.partials() / light_partials + 1)},
        partials(space.array<Fp>(xyzz_parts<F> * plan.partials())),
        sums(space.array<Fp>(xyzz_parts<F> * plan.chunks())),
        weighted(space.array<Fp>(xyzz_parts<F> * plan.chunks())),
        window_sums(space.array<Fp>(xyzz_parts<F> * plan.window_sums())) {}
};

template <class F>
uint64_t workspace_bytes(const MsmPlan& plan) {
  Workspace space(nullptr);
  Space<F>(space, plan);
  return space.used();
}

template <class F>
unsigned blocks_for(uint64_t items) {
  constexpr uint64_t each = sum_threads / F::lanes;
  return static_cast<unsigned>((items + each - 1) / each);
}

// heavy_rows of blocks share the buckets of many partial sums. How many there are only the card knows.
constexpr unsigned heavy_rows = 64;

template <class F>
void run(cudaStream_t stream, const MsmPlan& plan, void* workspace, const Fp* points, const Fr* scalars,
         bool montgomery, Fp* result) {
  Workspace memory(workspace);
  const Space<F> space(memory, plan);
  const uint32_t* offsets = space.sort.offsets;
  msm_sort(stream, plan, space.sort, scalars, montgomery);
  accumulate<F><<<blocks_for<F>(plan.segments), sum_threads, 0, stream>>>(plan, space.partials, offsets,
                                                                         space.sort.entries, points);
  cudaMemsetAsync(space.heavy.count, 0, sizeof(uint32_t), stream);
  combine<F><<<blocks_for<F>(plan.buckets), sum_threads, 0, stream>>>(plan, space.partials, offsets, space.heavy);
  sum_pieces<F><<<dim3(heavy_pieces, heavy_rows), sum_threads, 0, stream>>>(plan, space.partials, offsets, space.heavy);
  join_pieces<F><<<heavy_rows, sum_threads, 0, stream>>>(plan, space.partials, offsets, space.heavy);
  weigh_chunks<F><<<blocks_for<F>(plan.chunks()), sum_threads, 0, stream>>>(plan, space.sums, space.weighted,
                                                                           space.partials, offsets);
  const dim3 windows(1 + plan.chunk_bits, plan.windows);
  sum_windows<F><<<windows, sum_threads, 0, stream>>>(plan, space.window_sums, space.sums, space.weighted);
  weigh_windows<F><<<blocks_for<F>(plan.windows), sum_threads, 0, stream>>>(plan, space.window_sums);
  join_windows<F><<<1, 4 * F::lanes, 0, stream>>>(plan, space.window_sums, result);
}

// parallel_items asks the current device how many segments it sums at once.
template <class F>
uint64_t parallel_items() {
  int device = 0, processors = 0, blocks = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, accumulate<F>, sum_threads, 0);
  return static_cast<uint64_t>(processors) * blocks * (sum_threads / F::lanes);
}

template <class F>
Group group() {
  return {F::lanes, parallel_items<F>, workspace_bytes<F>, run<F>, table_bytes<F>(), fixed_base<F>};
}

}  // namespace headroom
