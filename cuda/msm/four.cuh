// Doubling by four items of one warp together. The 255 doublings that join the windows are one chain that no other work
// hides, so their latency counts: four items make it three products deep where one makes nine.
#pragma once

#include "points.cuh"

namespace headroom {

__device__ __forceinline__ Fp word_wise(bool first, const Fp& x, const Fp& y) { return Fp2Lane::choose(first, x, y); }
__device__ __forceinline__ Fp2Lane word_wise(bool first, const Fp2Lane& x, const Fp2Lane& y) {
  return {Fp2Lane::choose(first, x.part, y.part)};
}

__device__ __forceinline__ Fp shuffled(const Fp& x, int lane, unsigned all) {
  Fp r;
#pragma unroll
  for (int i = 0; i < Fp::words; i++) r.w[i] = __shfl_sync(all, x.w[i], lane);
  return r;
}
__device__ __forceinline__ Fp2Lane shuffled(const Fp2Lane& x, int lane, unsigned all) {
  return {shuffled(x.part, lane, all)};
}

// Four is the four items' products: each has one, and all get each.
template <class F>
struct Four {
  F mine;

  // of multiplies a[k] by b[k] in item k.
  static __device__ __forceinline__ Four of(const F& a0, const F& b0, const F& a1, const F& b1,  //
                                            const F& a2, const F& b2, const F& a3, const F& b3) {
    const int k = threadIdx.x / F::lanes;
    const F a = word_wise(k < 2, word_wise(k == 0, a0, a1), word_wise(k == 2, a2, a3));
    const F b = word_wise(k < 2, word_wise(k == 0, b0, b1), word_wise(k == 2, b2, b3));
    return {a * b};
  }

  __device__ __forceinline__ F operator[](int k) const {
    return shuffled(mine, k * F::lanes + static_cast<int>(threadIdx.x) % F::lanes, (1u << 4 * F::lanes) - 1);
  }
};

// doubled_by_four is Xyzz::doubled. All four items hold the point, and get the result.
template <class F>
__device__ __forceinline__ Xyzz<F> doubled_by_four(const Xyzz<F>& p) {
  const F u = p.y.doubled();
  const auto first = Four<F>::of(u, u, p.x, p.x, u, u, p.x, p.x);
  const F v = first[0], xx = first[1], m = xx.doubled() + xx;
  const auto second = Four<F>::of(u, v, p.x, v, m, m, v, p.zz);
  const F w = second[0], s = second[1];
  Xyzz<F> r;
  r.x = second[2] - s.doubled();
  r.zz = second[3];
  const auto third = Four<F>::of(m, s - r.x, w, p.y, w, p.zzz, w, p.zzz);
  r.y = third[0] - third[1];
  r.zzz = third[2];
  return r;
}

}  // namespace headroom
