// One pass of a transform: up to eight levels of butterflies on a tile of values in shared memory.
#pragma once

#include "ntt.cuh"

namespace headroom {

constexpr int pass_levels = 8;

// A thread holds eight values, so it can do three levels between two exchanges.
constexpr int held_log = 3;
constexpr int held = 1 << held_log;

// A tile has 2^levels rows, which the butterflies join, and eight columns of neighbours in memory, one a thread: then
// every access is of whole sectors and no two lanes meet in a bank.
constexpr int columns_log = 3;
constexpr int columns = 1 << columns_log;

// Pass is what a pass works on: the levels low to low + levels of a transform of n values.
struct Pass {
  Fr* data;
  const Fr* factors;
  uint64_t n;
  int low, levels;
  bool scaled;  // the results are multiplied by scale; of the inverse transform alone
  Fr scale;
};

// Tile is a thread's view of its block's part of a pass: one column of it.
struct Tile {
  const Pass& pass;
  uint4* shared;
  uint64_t origin;  // where in the vector row 0 of the column is
  uint64_t below;   // which of the 2^low values below the rows the column is

  // Columns are neighbours, but in the lowest pass, where rows are: there they are blocks of rows.
  __device__ __forceinline__ Tile(const Pass& p, uint4* memory) : pass(p), shared(memory) {
    const uint64_t block = blockIdx.x, column = threadIdx.x & (columns - 1);
    if (p.low == 0) {
      origin = (block << columns_log | column) << p.levels;
      below = 0;
    } else {
      const int groups = p.low - columns_log;  // log of the tiles beside each other below the rows
      below = (block & ((uint64_t{1} << groups) - 1)) << columns_log | column;
      origin = (block >> groups << (p.low + p.levels)) | below;
    }
  }

  // A vector shorter than a tile leaves places empty.
  __device__ __forceinline__ Fr load(int row) const {
    const uint64_t i = origin + (uint64_t(row) << pass.low);
    return i < pass.n ? read(pass.data + i, 1) : Fr::zero();
  }
  __device__ __forceinline__ void store(int row, const Fr& x) const {
    const uint64_t i = origin + (uint64_t(row) << pass.low);
    if (i < pass.n) write(pass.data + i, 1, x);
  }

  // Shared memory holds the halves of the values apart, so that neighbouring lanes use neighbouring banks.
  __device__ __forceinline__ Fr exchange_load(int row) const { return read(shared + place(row), plane()); }
  __device__ __forceinline__ void exchange_store(int row, const Fr& x) const { write(shared + place(row), plane(), x); }

  // factor returns that of a butterfly between rows apart by half, the first of which is row.
  __device__ __forceinline__ Fr factor(int row, int half) const {
    const int in_block = half | (row & (half - 1));
    return read(pass.factors + ((uint64_t(in_block) << pass.low) + below), 1);
  }

 private:
  __device__ __forceinline__ int place(int row) const { return row << columns_log | (threadIdx.x & (columns - 1)); }
  __device__ __forceinline__ int plane() const { return columns << pass.levels; }

  static __device__ __forceinline__ Fr read(const void* p, int apart) {
    Fr r;
    reinterpret_cast<uint4*>(r.w)[0] = static_cast<const uint4*>(p)[0];
    reinterpret_cast<uint4*>(r.w)[1] = static_cast<const uint4*>(p)[apart];
    return r;
  }
  static __device__ __forceinline__ void write(void* p, int apart, const Fr& x) {
    static_cast<uint4*>(p)[0] = reinterpret_cast<const uint4*>(x.w)[0];
    static_cast<uint4*>(p)[apart] = reinterpret_cast<const uint4*>(x.w)[1];
  }
};

// row_of returns the row of the value k of this thread in a step on the row bits first to first + bits: the low bits of
// k are those bits, the thread's number and the rest of k fill the others from below.
template <int bits>
__device__ __forceinline__ int row_of(int k, int first, int levels) {
  const int rest = threadIdx.x >> columns_log | (k >> bits) << max(levels - held_log, 0);
  return (rest >> first << (first + bits)) | (k & ((1 << bits) - 1)) << first | (rest & ((1 << first) - 1));
}

// butterflies does the levels of a step on the values that the thread holds. Where one, the first factor of each block
// is 1 and costs nothing.
template <bool forward, int bits, bool one>
__device__ __forceinline__ void butterflies(Fr (&v)[held], const Tile& tile, int first) {
#pragma unroll
  for (int n = 0; n < bits; n++) {
    const int bit = forward ? n : bits - 1 - n;
#pragma unroll
    for (int k = 0; k < held; k++) {
      if (k >> bit & 1) continue;
      Fr &x = v[k], &y = v[k | 1 << bit];
      const bool trivial = one && (k & ((1 << bit) - 1)) == 0;
      Fr factor;
      if (!trivial) factor = tile.factor(row_of<bits>(k, first, tile.pass.levels), 1 << (first + bit));
      if (forward) {
        const Fr t = trivial ? y : y * factor;
        y = x - t;
        x = x + t;
      } else {
        const Fr t = x - y;
        x = x + y;
        y = trivial ? t : t * factor;
      }
    }
  }
}

// step loads the thread's values, does up to three levels and stores them.
template <bool forward, int bits, bool one>
__device__ __forceinline__ void step(const Tile& tile, int first, bool begins, bool ends) {
  Fr v[held];
#pragma unroll
  for (int k = 0; k < held; k++) {
    const int row = row_of<bits>(k, first, tile.pass.levels);
    v[k] = begins ? tile.load(row) : tile.exchange_load(row);
  }
  butterflies<forward, bits, one>(v, tile, first);
#pragma unroll
  for (int k = 0; k < held; k++) {
    const int row = row_of<bits>(k, first, tile.pass.levels);
    if (!ends) {
      tile.exchange_store(row, v[k]);
    } else {
      tile.store(row, !forward && tile.pass.scaled ? v[k] * tile.pass.scale : v[k]);
    }
  }
}

// run_pass is the kernel: 2^levels threads a block, at least one a column. The forward transform goes from the lowest
// level up (decimation in time, Cooley and Tukey), the inverse down (decimation in frequency, Gentleman and Sande).
template <bool forward, bool coset>
__global__ void __launch_bounds__(1 << pass_levels, 2) run_pass(const __grid_constant__ Pass pass) {
  extern __shared__ uint4 memory[];
  const Tile tile(pass, memory);
  const int steps = (pass.levels + held_log - 1) / held_log;
#pragma unroll 1
  for (int n = 0; n < steps; n++) {
    const int first = held_log * (forward ? n : steps - 1 - n), bits = min(held_log, pass.levels - first);
    const bool begins = n == 0, ends = n == steps - 1;
    if (!begins) __syncthreads();
    if (bits == 3 && !coset && first + pass.low == 0) {
      step<forward, 3, true>(tile, first, begins, ends);
    } else if (bits == 3) {
      step<forward, 3, false>(tile, first, begins, ends);
    } else if (bits == 2) {
      step<forward, 2, false>(tile, first, begins, ends);
    } else {
      step<forward, 1, false>(tile, first, begins, ends);
    }
  }
}

}  // namespace headroom
