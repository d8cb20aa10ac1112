// The scalar field of BLS12-381.
#pragma once

#include "field.h"

namespace headroom {

#ifdef __CUDACC__
static __constant__ uint32_t fr_minus_one = 0xffffffff;
#endif

struct FrParams {
  static constexpr int words = 8;

  // quotient returns x (-1/p) mod 2^32, which is -x. Where the compiler sees that, it splits each wide product by the
  // quotient in two, so on the card the factor comes from memory.
  static HR_FN uint32_t quotient(uint32_t x) {
#ifdef __CUDA_ARCH__
    return x * fr_minus_one;
#else
    return 0 - x;
#endif
  }

  static constexpr HR_FN uint32_t modulus(int i) {
    constexpr uint32_t w[words] = {0x00000001, 0xffffffff, 0xfffe5bfe, 0x53bda402,
                                   0x09a1d805, 0x3339d808, 0x299d7d48, 0x73eda753};
    return w[i];
  }
  static constexpr HR_FN uint32_t one(int i) {
    constexpr uint32_t w[words] = {0xfffffffe, 0x00000001, 0x00034802, 0x5884b7fa,
                                   0xecbc4ff5, 0x998c4fef, 0xacc5056f, 0x1824b159};
    return w[i];
  }
  static constexpr HR_FN uint32_t square(int i) {
    constexpr uint32_t w[words] = {0xf3f29c6d, 0xc999e990, 0x87925c23, 0x2b6cedcb,
                                   0x7254398f, 0x05d31496, 0x9f59ff11, 0x0748d9d9};
    return w[i];
  }
};

using Fr = Field<FrParams>;

// fr_two_adicity is the largest k for which 2^k divides r - 1.
constexpr int fr_two_adicity = 32;

// fr_bits is the length of r.
constexpr int fr_bits = 255;

// fr_generator is the multiplicative generator whose powers shift a coset; gnark's too.
constexpr uint32_t fr_generator = 7;

// fr_root returns the primitive root of unity of order 2^log that gnark-crypto uses.
HR_FN Fr fr_root(int log) {
  Fr root{{0x5f0e466a, 0xb9b58d8c, 0x1819d7ec, 0x5b1b4c80, 0x52a31e64, 0x0af53ae3, 0x19e9b27b, 0x5bf3adda}};
  for (int i = fr_two_adicity; i > log; i--) root = root.squared();
  return root;
}

// fr_of returns a small integer as an element.
HR_FN Fr fr_of(uint32_t value) {
  Fr plain = Fr::zero();
  plain.w[0] = value;
  return plain.montgomery();
}

}  // namespace headroom
