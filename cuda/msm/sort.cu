#include "sort.cuh"

namespace headroom {
namespace {

constexpr int threads = 256;
constexpr int scan_items = 16;
constexpr uint64_t scan_tile = threads * scan_items;

constexpr uint32_t negative = 0x80000000;

unsigned blocks_for(uint64_t n) { return static_cast<unsigned>((n + threads - 1) / threads); }

// Bias is the sum of 2^(bits-1) at every window but the last. With it added, a digit is a window's plain bits less
// 2^(bits-1), and no carry runs from window to window.
struct Bias {
  uint32_t w[Fr::words];
};

Bias bias_of(const MsmPlan& plan) {
  Bias b{};
  for (int window = 0; window < plan.windows - 1; window++) {
    const int bit = window * plan.bits + plan.bits - 1;
    b.w[bit / 32] |= 1u << (bit % 32);
  }
  return b;
}

// prepare takes a scalar out of Montgomery form, replaces one above r/2 by r less it and marks that in the highest bit,
// which stays free: both the scalar and the bias are below 2^254.
__global__ void prepare(uint32_t* planes, const Fr* scalars, uint64_t n, bool montgomery, Bias bias) {
  const uint64_t i = uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= n) return;
  Fr s = scalars[i];
  if (montgomery) s = s.plain();
  const Fr opposite = -s;
  const bool flip = Fr::below(opposite, s);
  if (flip) s = opposite;
  s.w[0] = add_cc(s.w[0], bias.w[0]);
#pragma unroll
  for (int k = 1; k < Fr::words - 1; k++) s.w[k] = addc_cc(s.w[k], bias.w[k]);
  s.w[Fr::words - 1] = addc(s.w[Fr::words - 1], bias.w[Fr::words - 1]);
  if (flip) s.w[Fr::words - 1] |= negative;
#pragma unroll
  for (int k = 0; k < Fr::words; k++) planes[k * n + i] = s.w[k];
}

// Digit is one entry: the bucket in its window (the digit's size less 1) and the sign.
struct Digit {
  bool zero, minus;
  uint32_t bucket;
};

__device__ __forceinline__ Digit digit_of(const uint32_t* planes, const MsmPlan& plan, uint64_t i, int window) {
  const int bit = window * plan.bits, word = bit / 32;
  const uint32_t top = planes[(Fr::words - 1) * plan.n + i];
  uint32_t low = word == Fr::words - 1 ? top : planes[word * plan.n + i];
  uint32_t high = word + 1 >= Fr::words ? 0 : planes[(word + 1) * plan.n + i];
  if (word == Fr::words - 1) low &= ~negative;
  if (word == Fr::words - 2) high &= ~negative;
  const uint32_t plain = __funnelshift_r(low, high, bit % 32) & ((1u << plan.bits) - 1);
  const int digit = static_cast<int>(plain) - (window == plan.windows - 1 ? 0 : 1 << (plan.bits - 1));
  return {digit == 0, (digit < 0) != (top >= negative), static_cast<uint32_t>(abs(digit)) - 1};
}

// count counts the entries of every bucket and ranks each in its own. Lanes of one bucket count once together: with
// many equal scalars all would else wait for one address.
__global__ void count(MsmPlan plan, uint32_t* counts, uint32_t* ranks, const uint32_t* planes) {
  const uint64_t i = uint64_t{blockIdx.x} * threads + threadIdx.x;
  const int window = blockIdx.y;
  Digit d{true, false, 0};
  if (i < plan.n) d = digit_of(planes, plan, i, window);
  const unsigned present = __ballot_sync(~0u, !d.zero);
  if (d.zero) return;
  const unsigned same = __match_any_sync(present, d.bucket);
  const int lane = threadIdx.x % 32, leader = __ffs(same) - 1;
  uint32_t rank = 0;
  if (lane == leader) rank = atomicAdd(&counts[window * plan.half + d.bucket], __popc(same));
  ranks[window * plan.n + i] = __shfl_sync(same, rank, leader) + __popc(same & ((1u << lane) - 1));
}

// scatter writes each entry to its place. Windows go one after another, so that the part that is written stays in the
// cache.
__global__ void scatter(MsmPlan plan, uint32_t* entries, const uint32_t* offsets, const uint32_t* ranks,
                        const uint32_t* planes) {
  const uint64_t i = uint64_t{blockIdx.x} * threads + threadIdx.x;
  const int window = blockIdx.y;
  if (i >= plan.n) return;
  const Digit d = digit_of(planes, plan, i, window);
  if (d.zero) return;
  const uint32_t at = offsets[window * plan.half + d.bucket] + ranks[window * plan.n + i];
  entries[at] = static_cast<uint32_t>(i) | (d.minus ? negative : 0);
}

// before returns the sum of the values of the threads before this one; total is that of all.
__device__ __forceinline__ uint32_t before(uint32_t value, uint32_t& total) {
  __shared__ uint32_t warps[threads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint32_t sum = value;
  for (int d = 1; d < 32; d *= 2) {
    const uint32_t left = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += left;
  }
  __syncthreads();
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  uint32_t earlier = 0;
  total = 0;
  for (int w = 0; w < threads / 32; w++) {
    if (w < warp) earlier += warps[w];
    total += warps[w];
  }
  return earlier + sum - value;
}

// scan_tiles sums each tile of counts.
__global__ void scan_tiles(uint32_t* tiles, const uint32_t* counts, uint64_t n) {
  uint32_t sum = 0, total;
  const uint64_t base = blockIdx.x * scan_tile;
  for (int k = 0; k < scan_items; k++) {
    const uint64_t i = base + k * threads + threadIdx.x;
    if (i < n) sum += counts[i];
  }
  before(sum, total);
  if (threadIdx.x == 0) tiles[blockIdx.x] = total;
}

// scan_sums turns the sums of tiles into what comes before each, in one block.
__global__ void scan_sums(uint32_t* tiles, uint64_t n) {
  uint32_t carried = 0;
  for (uint64_t base = 0; base < n; base += threads) {
    const uint64_t i = base + threadIdx.x;
    uint32_t total;
    const uint32_t sum = before(i < n ? tiles[i] : 0, total);
    if (i < n) tiles[i] = carried + sum;
    carried += total;
  }
}

// scan_offsets turns counts into offsets in place; offsets[n] is the sum of all.
__global__ void scan_offsets(uint32_t* offsets, const uint32_t* tiles, uint64_t n) {
  const uint64_t base = blockIdx.x * scan_tile + threadIdx.x * scan_items;
  uint32_t values[scan_items], sum = 0, total;
  for (int k = 0; k < scan_items; k++) {
    values[k] = base + k < n ? offsets[base + k] : 0;
    sum += values[k];
  }
  uint32_t at = tiles[blockIdx.x] + before(sum, total);
  for (int k = 0; k < scan_items; k++) {
    if (base + k < n) offsets[base + k] = at;
    at += values[k];
    if (base + k == n - 1) offsets[n] = at;
  }
}

uint64_t tiles_of(uint64_t n) { return (n + scan_tile - 1) / scan_tile; }

}  // namespace

SortSpace::SortSpace(Workspace& space, const MsmPlan& plan)
    : scalars(space.array<uint32_t>(Fr::words * plan.n)),
      ranks(space.array<uint32_t>(plan.entries)),
      entries(space.array<uint32_t>(plan.entries)),
      offsets(space.array<uint32_t>(plan.buckets + 1)),
      tiles(space.array<uint32_t>(tiles_of(plan.buckets))) {}

void msm_sort(cudaStream_t stream, const MsmPlan& plan, const SortSpace& space, const Fr* scalars, bool montgomery) {
  const dim3 grid(blocks_for(plan.n), plan.windows);
  const auto tiles = static_cast<unsigned>(tiles_of(plan.buckets));
  cudaMemsetAsync(space.offsets, 0, (plan.buckets + 1) * sizeof(uint32_t), stream);
  prepare<<<blocks_for(plan.n), threads, 0, stream>>>(space.scalars, scalars, plan.n, montgomery, bias_of(plan));
  count<<<grid, threads, 0, stream>>>(plan, space.offsets, space.ranks, space.scalars);
  scan_tiles<<<tiles, threads, 0, stream>>>(space.tiles, space.offsets, plan.buckets);
  scan_sums<<<1, threads, 0, stream>>>(space.tiles, tiles);
  scan_offsets<<<tiles, threads, 0, stream>>>(space.offsets, space.tiles, plan.buckets);
  scatter<<<grid, threads, 0, stream>>>(plan, space.entries, space.offsets, space.ranks, space.scalars);
}

}  // namespace headroom
