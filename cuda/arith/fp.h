// The base field of BLS12-381.
#pragma once

#include "field.h"

namespace headroom {

struct FpParams {
  static constexpr int words = 12;
  static constexpr uint32_t inverse = 0xfffcfffd;

  static constexpr HR_FN uint32_t modulus(int i) {
    constexpr uint32_t w[words] = {0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,
                                   0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea};
    return w[i];
  }
  static HR_FN uint32_t factor(int i);
  static constexpr HR_FN uint32_t one(int i) {
    constexpr uint32_t w[words] = {0x0002fffd, 0x76090000, 0xc40c0002, 0xebf4000b, 0x53c758ba, 0x5f489857,
                                   0x70525745, 0x77ce5853, 0xa256ec6d, 0x5c071a97, 0xfa80e493, 0x15f65ec3};
    return w[i];
  }
  static constexpr HR_FN uint32_t square(int i) {
    constexpr uint32_t w[words] = {0x1c341746, 0xf4df1f34, 0x09d104f1, 0x0a76e6a6, 0x4c95b6d5, 0x8de5476c,
                                   0x939d83c0, 0x67eb88a9, 0xb519952d, 0x9a793e85, 0x92cae3aa, 0x11988fe5};
    return w[i];
  }
};

#ifdef __CUDACC__
#define m(i) FpParams::modulus(i)
static __constant__ uint32_t fp_modulus[12] = {m(0), m(1), m(2), m(3), m(4), m(5), m(6), m(7), m(8), m(9), m(10), m(11)};
#undef m
#endif

// factor is a word of the modulus as an operand of wide products, which take it from the constant bank but not from
// the instruction: with an immediate the compiler splits each in two.
HR_FN uint32_t FpParams::factor(int i) {
#ifdef __CUDA_ARCH__
  return fp_modulus[i];
#else
  return modulus(i);
#endif
}

using Fp = Field<FpParams>;

}  // namespace headroom
