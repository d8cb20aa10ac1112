// One pass of a transform: up to eight levels of butterflies on a tile of values in shared memory.
#pragma once

#include "ntt.cuh"

namespace headroom {

constexpr int pass_levels = 8;

// A thread holds eight values, so it can do three levels between two exchanges.
constexpr int held_log = 3;
constexpr int held = 1 << held_log;

// A tile has 2^levels rows, which the butterflies join, and eight columns of neighbours in memory: then every access is
// of whole sectors and no two lanes meet in a bank.
constexpr int columns_log = 3;
constexpr int columns = 1 << columns_log;

// Pass is what a pass works on: the levels low to low + levels of a transform of n values.
struct Pass {
  Fr* data;
  const Fr* factors;
  uint64_t n;
  int low, levels;
};

// Tile is one block's part of a pass. Position p of a tile is row p / columns, column p % columns.
struct Tile {
  const Pass& pass;
  uint4* shared;
  uint64_t base;

  __device__ __forceinline__ Tile(const Pass& p, uint4* memory) : pass(p), shared(memory) {
    uint64_t block = blockIdx.x;
    if (p.low == 0) {
      base = block << (p.levels + columns_log);
    } else {
      int groups = p.low - columns_log;  // log of the tiles beside each other below the rows
      base = (block >> groups << (p.low + p.levels)) + ((block & ((uint64_t{1} << groups) - 1)) << columns_log);
    }
  }

  // index returns where in the vector a position is. In the lowest pass columns are whole blocks of rows.
  __device__ __forceinline__ uint64_t index(int position) const {
    uint64_t row = position >> columns_log, column = position & (columns - 1);
    return base + (pass.low == 0 ? (column << pass.levels) + row : (row << pass.low) + column);
  }

  // below returns which of the 2^low values below the rows a column is.
  __device__ __forceinline__ uint64_t below(int position) const {
    return (base + (position & (columns - 1))) & ((uint64_t{1} << pass.low) - 1);
  }

  // A vector shorter than a tile leaves columns empty.
  __device__ __forceinline__ Fr load(int position) const {
    uint64_t i = index(position);
    return i < pass.n ? read(pass.data + i, 1) : Fr::zero();
  }
  __device__ __forceinline__ void store(int position, const Fr& x) const {
    uint64_t i = index(position);
    if (i < pass.n) write(pass.data + i, 1, x);
  }

  // Shared memory holds the halves of the values apart, so that neighbouring lanes use neighbouring banks.
  __device__ __forceinline__ Fr exchange_load(int position) const { return read(shared + position, plane()); }
  __device__ __forceinline__ void exchange_store(int position, const Fr& x) const {
    write(shared + position, plane(), x);
  }

  __device__ __forceinline__ Fr factor(uint64_t i) const { return read(pass.factors + i, 1); }

 private:
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

// place returns the position of the value k of this thread in a step on the row bits first to first + bits: the low
// bits of k are those row bits, the thread's number fills the others from below.
template <int bits>
__device__ __forceinline__ int place(int k, int first, int levels) {
  int rest = threadIdx.x | (k >> bits) << levels, at = first + columns_log;
  return (rest >> at << (at + bits)) | (k & ((1 << bits) - 1)) << at | (rest & ((1 << at) - 1));
}

// butterflies does the levels of a step on the values that the thread holds. Where one, each block's first factor is 1
// and costs nothing.
template <bool forward, int bits, bool one>
__device__ __forceinline__ void butterflies(Fr (&v)[held], const Tile& tile, int first) {
#pragma unroll
  for (int n = 0; n < bits; n++) {
    const int bit = forward ? n : bits - 1 - n;
    const uint64_t half = uint64_t{1} << (tile.pass.low + first + bit);
#pragma unroll
    for (int k = 0; k < held; k++) {
      if (k >> bit & 1) continue;
      Fr &x = v[k], &y = v[k | 1 << bit];
      const bool trivial = one && (k & ((1 << bit) - 1)) == 0;
      int p = place<bits>(k, first, tile.pass.levels);
      uint64_t row = (p >> columns_log) & ((1 << (first + bit)) - 1);
      Fr f;
      if (!trivial) f = tile.factor(half + (row << tile.pass.low) + tile.below(p));
      if (forward) {
        Fr t = trivial ? y : y * f;
        y = x - t;
        x = x + t;
      } else {
        Fr t = x - y;
        x = x + y;
        y = trivial ? t : t * f;
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
    int p = place<bits>(k, first, tile.pass.levels);
    v[k] = begins ? tile.load(p) : tile.exchange_load(p);
  }
  butterflies<forward, bits, one>(v, tile, first);
#pragma unroll
  for (int k = 0; k < held; k++) {
    int p = place<bits>(k, first, tile.pass.levels);
    if (ends) {
      tile.store(p, v[k]);
    } else {
      tile.exchange_store(p, v[k]);
    }
  }
}

// run_pass is the kernel: 2^levels threads a block. The forward transform goes from the lowest level up (decimation in
// time, Cooley and Tukey), the inverse down (decimation in frequency, Gentleman and Sande).
template <bool forward, bool coset>
__global__ void __launch_bounds__(1 << pass_levels, 2) run_pass(Pass pass) {
  extern __shared__ uint4 memory[];
  const Tile tile(pass, memory);
  const int steps = (pass.levels + held_log - 1) / held_log;
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
