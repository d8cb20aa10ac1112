// Prime fields in Montgomery form: 32-bit words, lowest first, always below the modulus. The memory of an element
// equals gnark-crypto's on a little-endian host.
#pragma once

#include "word.h"

namespace headroom {

// Field is the prime field that P describes: P::words (even), P::modulus(i), P::one(i) (the word i of R mod p),
// P::square(i) (of R^2 mod p) and P::quotient(x) (x times -1/p mod 2^32). R is 2^(32 words). The modulus must leave the
// top bit free: then sums and unreduced products fit.
template <class P>
struct alignas(16) Field {
  static constexpr int words = P::words;
  static constexpr int lanes = 1;  // threads that share one element

  uint32_t w[words];

  static HR_FN Field zero() {
    Field r;
#pragma unroll
    for (int i = 0; i < words; i++) r.w[i] = 0;
    return r;
  }

  static HR_FN Field one() {
    Field r;
#pragma unroll
    for (int i = 0; i < words; i++) r.w[i] = P::one(i);
    return r;
  }

  HR_FN bool is_zero() const {
    uint32_t any = 0;
#pragma unroll
    for (int i = 0; i < words; i++) any |= w[i];
    return any == 0;
  }

  HR_FN bool operator==(const Field& b) const {
    uint32_t differ = 0;
#pragma unroll
    for (int i = 0; i < words; i++) differ |= w[i] ^ b.w[i];
    return differ == 0;
  }

  friend HR_FN Field operator+(const Field& a, const Field& b) {
    Field r;
    r.w[0] = add_cc(a.w[0], b.w[0]);
#pragma unroll
    for (int i = 1; i < words - 1; i++) r.w[i] = addc_cc(a.w[i], b.w[i]);
    r.w[words - 1] = addc(a.w[words - 1], b.w[words - 1]);
    return r.reduced();
  }

  friend HR_FN Field operator-(const Field& a, const Field& b) {
    Field r;
    r.w[0] = sub_cc(a.w[0], b.w[0]);
#pragma unroll
    for (int i = 1; i < words; i++) r.w[i] = subc_cc(a.w[i], b.w[i]);
    uint32_t borrowed = subc(0, 0);  // all ones where a < b
    r.w[0] = add_cc(r.w[0], P::modulus(0) & borrowed);
#pragma unroll
    for (int i = 1; i < words - 1; i++) r.w[i] = addc_cc(r.w[i], P::modulus(i) & borrowed);
    r.w[words - 1] = addc(r.w[words - 1], P::modulus(words - 1) & borrowed);
    return r;
  }

  HR_FN Field operator-() const { return zero() - *this; }
  HR_FN Field doubled() const { return *this + *this; }
  HR_FN Field negated_if(bool negate) const {
    Field n = -*this, r;
#pragma unroll
    for (int i = 0; i < words; i++) r.w[i] = negate ? n.w[i] : w[i];
    return r;
  }

  friend HR_FN Field operator*(const Field& a, const Field& b) { return Product::of(a, b); }
  HR_FN Field squared() const { return *this * *this; }

  // sum_of_products returns a b + c d with one reduction in place of two. Only where 4 p < R.
  static HR_FN Field sum_of_products(const Field& a, const Field& b, const Field& c, const Field& d) {
    static_assert(P::modulus(words - 1) < 0x40000000, "the unreduced sum needs a second free bit");
    return Product::of(a, b, c, d);
  }

  // plain returns the value out of Montgomery form.
  HR_FN Field plain() const {
    Field unit = zero();
    unit.w[0] = 1;
    return *this * unit;
  }

  // montgomery returns the Montgomery form of a plain value.
  HR_FN Field montgomery() const {
    Field r2;
#pragma unroll
    for (int i = 0; i < words; i++) r2.w[i] = P::square(i);
    return *this * r2;
  }

  HR_FN Field pow(uint64_t exponent) const {
    Field r = one();
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (Field power = *this; exponent != 0; exponent >>= 1) {
      if (exponent & 1) r = r * power;
      power = power.squared();
    }
    return r;
  }

  // inverse returns 1/x by Fermat's theorem; 0 for 0.
  HR_FN Field inverse() const {
    Field r = one();
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int i = 32 * words - 1; i >= 0; i--) {
      r = r.squared();
      if (exponent(i / 32) >> (i % 32) & 1) r = r * *this;
    }
    return r;
  }

  // below says whether the words of a are a smaller integer than the words of b.
  static HR_FN bool below(const Field& a, const Field& b) {
    sub_cc(a.w[0], b.w[0]);
#pragma unroll
    for (int i = 1; i < words; i++) subc_cc(a.w[i], b.w[i]);
    return subc(0, 0) != 0;
  }

 private:
  // exponent returns the word i of p - 2, whose borrow ends at word 1 in every field here.
  static HR_FN uint32_t exponent(int i) {
    static_assert(P::modulus(1) != 0, "p - 2 would borrow further");
    return P::modulus(i) - (i == 0 ? 2 : 0) - (i == 1 && P::modulus(0) < 2 ? 1 : 0);
  }

  // reduced subtracts the modulus once if the words are not below it.
  HR_FN Field reduced() const {
    Field t, r;
    t.w[0] = sub_cc(w[0], P::modulus(0));
#pragma unroll
    for (int i = 1; i < words; i++) t.w[i] = subc_cc(w[i], P::modulus(i));
    uint32_t borrowed = subc(0, 0);
#pragma unroll
    for (int i = 0; i < words; i++) r.w[i] = borrowed ? w[i] : t.w[i];
    return r;
  }

  // Product is Montgomery multiplication, a row of the product and a row of the reduction in turn. A 32 x 32 product
  // has two words, so a row over the even words of a and one over its odd words are each one carry chain of whole
  // products, which the card does in half as many instructions (Emmart, Luitjens, Weems, Woolley: Optimizing Modular
  // Multiplication for NVIDIA's Maxwell GPUs, ARITH 2016). The value is even + 2^32 odd; division by 2^32 swaps them.
  struct Product {
    static HR_FN Field of(const Field& a, const Field& b) {
      uint32_t even[words], odd[words];
      first(even, odd, a, b.w[0]);
      reduce(even, odd);
#pragma unroll
      for (int i = 1; i < words; i += 2) {
        next(odd, even, a, b.w[i]);
        reduce(odd, even);
        if (i + 1 == words) break;
        next(even, odd, a, b.w[i + 1]);
        reduce(even, odd);
      }
      return end(odd, even);
    }

    static HR_FN Field of(const Field& a, const Field& b, const Field& c, const Field& d) {
      uint32_t even[words], odd[words];
      first(even, odd, a, b.w[0]);
      more(even, odd, c, d.w[0]);
      reduce(even, odd);
#pragma unroll
      for (int i = 1; i < words; i += 2) {
        next(odd, even, a, b.w[i]);
        more(odd, even, c, d.w[i]);
        reduce(odd, even);
        if (i + 1 == words) break;
        next(even, odd, a, b.w[i + 1]);
        more(even, odd, c, d.w[i + 1]);
        reduce(even, odd);
      }
      return end(odd, even);
    }

    // first sets even and odd to a b.
    static HR_FN void first(uint32_t* even, uint32_t* odd, const Field& a, uint32_t b) {
#pragma unroll
      for (int i = 0; i < words; i += 2) {
        uint64_t e = uint64_t{a.w[i]} * b, o = uint64_t{a.w[i + 1]} * b;
        even[i] = static_cast<uint32_t>(e), even[i + 1] = static_cast<uint32_t>(e >> 32);
        odd[i] = static_cast<uint32_t>(o), odd[i + 1] = static_cast<uint32_t>(o >> 32);
      }
    }

    // next divides by 2^32, for which the caller has swapped the names, and adds a b. What comes in as odd was even:
    // its word 0 is zero, word 1 belongs to the new even part, and the rest moves down by two.
    static HR_FN void next(uint32_t* even, uint32_t* odd, const Field& a, uint32_t b) {
      even[0] = add_cc(even[0], odd[1]);
#pragma unroll
      for (int i = 0; i < words - 2; i += 2) {
        odd[i] = madc_lo_cc(a.w[i + 1], b, odd[i + 2]);
        odd[i + 1] = madc_hi_cc(a.w[i + 1], b, odd[i + 3]);
      }
      odd[words - 2] = madc_lo_cc(a.w[words - 1], b, 0);
      odd[words - 1] = madc_hi(a.w[words - 1], b, 0);
      row(even, [&](int i) { return a.w[i]; }, b);
      odd[words - 1] = addc(odd[words - 1], 0);
    }

    // more adds another product to the same row.
    static HR_FN void more(uint32_t* even, uint32_t* odd, const Field& c, uint32_t d) {
      row(odd, [&](int i) { return c.w[i + 1]; }, d);
      row(even, [&](int i) { return c.w[i]; }, d);
      odd[words - 1] = addc(odd[words - 1], 0);
    }

    // reduce adds the multiple of the modulus that clears the lowest word.
    static HR_FN void reduce(uint32_t* even, uint32_t* odd) {
      if constexpr (P::modulus(0) == 1 && P::modulus(1) == 0xffffffff) {
        reduce_without_low_products(even, odd);
      } else {
        uint32_t q = P::quotient(even[0]);
        row(odd, [](int i) { return P::modulus(i + 1); }, q);
        row(even, [](int i) { return P::modulus(i); }, q);
        odd[words - 1] = addc(odd[words - 1], 0);
      }
    }

    // With p = 1 - 2^32 + 2^64 (...) the lowest word e has q = -e, and the low part of q p plus e is
    // 2^32 (e + c) + 2^64 (q - c), where c is 1 unless e is 0: additions in place of two products.
    static HR_FN void reduce_without_low_products(uint32_t* even, uint32_t* odd) {
      uint32_t e = even[0], q = P::quotient(e);
      odd[1] = add_cc(odd[1], q - (e != 0));
      rest_of_row(odd, [](int i) { return P::modulus(i + 1); }, q);
      add_cc(e, q);
      even[1] = addc_cc(even[1], e);
      rest_of_row(even, [](int i) { return P::modulus(i); }, q);
      odd[words - 1] = addc(odd[words - 1], 0);
    }

    // row adds every second word of a number, times b, in one chain. It leaves the carry.
    template <class Word>
    static HR_FN void row(uint32_t* sum, Word word, uint32_t b) {
      sum[0] = mad_lo_cc(word(0), b, sum[0]);
      sum[1] = madc_hi_cc(word(0), b, sum[1]);
      rest_of_row(sum, word, b);
    }

    template <class Word>
    static HR_FN void rest_of_row(uint32_t* sum, Word word, uint32_t b) {
#pragma unroll
      for (int i = 2; i < words; i += 2) {
        sum[i] = madc_lo_cc(word(i), b, sum[i]);
        sum[i + 1] = madc_hi_cc(word(i), b, sum[i + 1]);
      }
    }

    static HR_FN Field end(const uint32_t* even, const uint32_t* odd) {
      Field r;
      r.w[0] = add_cc(odd[0], even[1]);
#pragma unroll
      for (int i = 1; i < words - 1; i++) r.w[i] = addc_cc(odd[i], even[i + 1]);
      r.w[words - 1] = addc(odd[words - 1], 0);
      return r.reduced();
    }
  };
};

}  // namespace headroom
