// The quadratic extension Fp[u], u^2 = -1, over which G2 lives.
#pragma once

#include "fp.h"

namespace headroom {

// Fp2 is a + b u on one thread. Its memory equals gnark-crypto's E2.
struct Fp2 {
  static constexpr int lanes = 1;

  Fp a, b;

  static HR_FN Fp2 zero() { return {Fp::zero(), Fp::zero()}; }
  static HR_FN Fp2 one() { return {Fp::one(), Fp::zero()}; }
  HR_FN bool is_zero() const { return a.is_zero() && b.is_zero(); }
  HR_FN bool operator==(const Fp2& y) const { return a == y.a && b == y.b; }
  friend HR_FN Fp2 operator+(const Fp2& x, const Fp2& y) { return {x.a + y.a, x.b + y.b}; }
  friend HR_FN Fp2 operator-(const Fp2& x, const Fp2& y) { return {x.a - y.a, x.b - y.b}; }
  HR_FN Fp2 operator-() const { return {-a, -b}; }
  HR_FN Fp2 doubled() const { return {a.doubled(), b.doubled()}; }
  HR_FN Fp2 negated_if(bool negate) const { return {a.negated_if(negate), b.negated_if(negate)}; }

  friend HR_FN Fp2 operator*(const Fp2& x, const Fp2& y) {
    return {Fp::sum_of_products(x.a, y.a, -x.b, y.b), Fp::sum_of_products(x.a, y.b, x.b, y.a)};
  }
  HR_FN Fp2 squared() const { return {(a + b) * (a - b), a.doubled() * b}; }
  static HR_FN Fp2 sum_of_products(const Fp2& x, const Fp2& y, const Fp2& z, const Fp2& t) { return x * y + z * t; }

  HR_FN Fp2 inverse() const {
    Fp norm = Fp::sum_of_products(a, a, b, b).inverse();
    return {a * norm, -b * norm};
  }
};

#ifdef __CUDACC__

// Fp2Lane is one of the two parts of an element of Fp2: an even lane holds a, the lane after it b. An element then
// takes as many registers a thread as one of Fp, and each part of a product is two products with one reduction. Both
// lanes of a pair must always take the same branches.
struct Fp2Lane {
  static constexpr int lanes = 2;

  Fp part;

  static __device__ __forceinline__ bool odd() { return threadIdx.x & 1; }
  static __device__ __forceinline__ unsigned pair() { return 3u << (threadIdx.x & 30); }

  // other returns what the other lane of the pair holds.
  static __device__ __forceinline__ Fp other(const Fp& x) {
    Fp r;
#pragma unroll
    for (int i = 0; i < Fp::words; i++) r.w[i] = __shfl_xor_sync(pair(), x.w[i], 1);
    return r;
  }
  static __device__ __forceinline__ Fp choose(bool first, const Fp& x, const Fp& y) {
    Fp r;
#pragma unroll
    for (int i = 0; i < Fp::words; i++) r.w[i] = first ? x.w[i] : y.w[i];
    return r;
  }

  static __device__ __forceinline__ Fp2Lane zero() { return {Fp::zero()}; }
  static __device__ __forceinline__ Fp2Lane one() { return {choose(odd(), Fp::zero(), Fp::one())}; }
  __device__ __forceinline__ bool is_zero() const { return __all_sync(pair(), part.is_zero()); }
  __device__ __forceinline__ bool operator==(const Fp2Lane& y) const { return __all_sync(pair(), part == y.part); }
  friend __device__ __forceinline__ Fp2Lane operator+(const Fp2Lane& x, const Fp2Lane& y) { return {x.part + y.part}; }
  friend __device__ __forceinline__ Fp2Lane operator-(const Fp2Lane& x, const Fp2Lane& y) { return {x.part - y.part}; }
  __device__ __forceinline__ Fp2Lane operator-() const { return {-part}; }
  __device__ __forceinline__ Fp2Lane doubled() const { return {part.doubled()}; }
  __device__ __forceinline__ Fp2Lane negated_if(bool negate) const { return {part.negated_if(negate)}; }

  // The even lane computes a c - b d, the odd one b c + a d.
  friend __device__ __forceinline__ Fp2Lane operator*(const Fp2Lane& x, const Fp2Lane& y) {
    Fp across = other(x.part), swapped = other(y.part);
    Fp c = choose(odd(), swapped, y.part), d = choose(odd(), y.part, swapped);
    return {Fp::sum_of_products(x.part, c, across.negated_if(!odd()), d)};
  }
  // The even lane computes (a + b)(a - b), the odd one 2 b a.
  __device__ __forceinline__ Fp2Lane squared() const {
    Fp across = other(part);
    return {choose(odd(), part.doubled(), part + across) * choose(odd(), across, part - across)};
  }
  // Both lanes need the inverse of the norm a^2 + b^2.
  __device__ __forceinline__ Fp2Lane inverse() const {
    Fp across = other(part), norm = Fp::sum_of_products(part, part, across, across).inverse();
    return {part.negated_if(odd()) * norm};
  }
  static __device__ __forceinline__ Fp2Lane sum_of_products(const Fp2Lane& x, const Fp2Lane& y, const Fp2Lane& z,
                                                            const Fp2Lane& t) {
    return x * y + z * t;
  }
};

#endif

}  // namespace headroom
