// Many multiples of one point, as key generation needs them.
#pragma once

#include "points.cuh"
#include "../arith/fr.h"

namespace headroom {

// A scalar is 32 digits of a byte. The table holds every digit's multiple at every place, so that a multiple of the
// base is 32 additions and no doubling (Brickell, Gordon, McCurley, Wilson: Fast Exponentiation with Precomputation,
// EUROCRYPT '92).
constexpr int fixed_digits = sizeof(Fr), fixed_values = 256;

template <class F>
constexpr uint64_t table_bytes() {
  return uint64_t{fixed_digits} * fixed_values * affine_parts<F> * sizeof(Fp);
}

constexpr int fixed_threads = 128;

template <class F>
__device__ __forceinline__ void store_affine(Fp* points, uint64_t i, const Xyzz<F>& p) {
  Fp* to = points + i * affine_parts<F>;
  // With zz = z^2 and zzz = z^3: 1/zz = zz^2 / zzz^2. Infinity becomes (0, 0), since the inverse of 0 is 0.
  const F inverse = p.zzz.inverse();
  store_part<F>(to, p.x * (p.zz * inverse).squared());
  store_part<F>(to + F::lanes, p.y * inverse);
}

// fill_table computes digit times 256^place times base, an item an entry.
template <class F>
__global__ void __launch_bounds__(fixed_threads, 2) fill_table(Fp* table, const Fp* base) {
  const unsigned i = (blockIdx.x * fixed_threads + threadIdx.x) / F::lanes;
  const unsigned place = i / fixed_values, digit = i % fixed_values;
  const auto point = load_affine<F>(base, 0);
  auto sum = Xyzz<F>::infinity();
  for (int bit = 7; bit >= 0; bit--) {
    sum = Xyzz<F>::twice(sum);
    if (digit >> bit & 1) sum = Xyzz<F>::sum(sum, Xyzz<F>::of(point));
  }
  for (unsigned k = 0; k < 8 * place; k++) sum = Xyzz<F>::twice(sum);
  store_affine(table, i, sum);
}

template <class F>
__global__ void __launch_bounds__(fixed_threads, 2)
    add_digits(Fp* points, const Fp* table, const Fr* scalars, uint64_t n, bool montgomery) {
  const uint64_t i = (uint64_t{blockIdx.x} * fixed_threads + threadIdx.x) / F::lanes;
  if (i >= n) return;
  Fr s = scalars[i];
  if (montgomery) s = s.plain();
  auto sum = Xyzz<F>::infinity();
#pragma unroll 1
  for (unsigned place = 0; place < fixed_digits; place++) {
    const unsigned digit = s.w[0] & 255;
#pragma unroll
    for (int k = 0; k < Fr::words - 1; k++) s.w[k] = __funnelshift_r(s.w[k], s.w[k + 1], 8);
    s.w[Fr::words - 1] >>= 8;
    if (digit != 0) sum.add(load_affine<F>(table, place * fixed_values + digit));
  }
  store_affine(points, i, sum);
}

template <class F>
void fixed_base(cudaStream_t stream, void* table, const Fp* base, const Fr* scalars, uint64_t n, bool montgomery,
                Fp* points) {
  constexpr int each = fixed_threads / F::lanes;
  auto* entries = static_cast<Fp*>(table);
  fill_table<F><<<fixed_digits * fixed_values / each, fixed_threads, 0, stream>>>(entries, base);
  add_digits<F><<<static_cast<unsigned>((n + each - 1) / each), fixed_threads, 0, stream>>>(points, entries, scalars, n,
                                                                                           montgomery);
}

}  // namespace headroom
