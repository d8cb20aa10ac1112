// Reading and writing points by the threads that share them.
#pragma once

#include "../arith/curve.h"
#include "../arith/fp2.h"

namespace headroom {

// G1 is over Fp, G2 over Fp2Lane. Points are arrays of Fp: coordinate k of a point begins at part k * lanes, and of Fp2
// each of the two lanes has its own part.
template <class F>
__device__ __forceinline__ F load_part(const Fp* p);

template <class F>
__device__ __forceinline__ void store_part(Fp* p, const F& x);

__device__ __forceinline__ Fp load_fp(const Fp* p) {
  Fp r;
#pragma unroll
  for (int i = 0; i < 3; i++) reinterpret_cast<uint4*>(r.w)[i] = reinterpret_cast<const uint4*>(p)[i];
  return r;
}

__device__ __forceinline__ void store_fp(Fp* p, const Fp& x) {
#pragma unroll
  for (int i = 0; i < 3; i++) reinterpret_cast<uint4*>(p)[i] = reinterpret_cast<const uint4*>(x.w)[i];
}

template <>
__device__ __forceinline__ Fp load_part<Fp>(const Fp* p) {
  return load_fp(p);
}
template <>
__device__ __forceinline__ void store_part<Fp>(Fp* p, const Fp& x) {
  store_fp(p, x);
}
template <>
__device__ __forceinline__ Fp2Lane load_part<Fp2Lane>(const Fp* p) {
  return {load_fp(p + Fp2Lane::odd())};
}
template <>
__device__ __forceinline__ void store_part<Fp2Lane>(Fp* p, const Fp2Lane& x) {
  store_fp(p + Fp2Lane::odd(), x.part);
}

// affine_parts and xyzz_parts are how many Fp a point takes.
template <class F>
constexpr int affine_parts = 2 * F::lanes;
template <class F>
constexpr int xyzz_parts = 4 * F::lanes;

template <class F>
__device__ __forceinline__ Affine<F> load_affine(const Fp* points, uint64_t i) {
  const Fp* p = points + i * affine_parts<F>;
  return {load_part<F>(p), load_part<F>(p + F::lanes)};
}

template <class F>
__device__ __forceinline__ Xyzz<F> load_xyzz(const Fp* points, uint64_t i) {
  const Fp* p = points + i * xyzz_parts<F>;
  return {load_part<F>(p), load_part<F>(p + F::lanes), load_part<F>(p + 2 * F::lanes), load_part<F>(p + 3 * F::lanes)};
}

template <class F>
__device__ __forceinline__ void store_xyzz(Fp* points, uint64_t i, const Xyzz<F>& x) {
  Fp* p = points + i * xyzz_parts<F>;
  store_part<F>(p, x.x);
  store_part<F>(p + F::lanes, x.y);
  store_part<F>(p + 2 * F::lanes, x.zz);
  store_part<F>(p + 3 * F::lanes, x.zzz);
}

}  // namespace headroom
