// 32-bit words with a carry flag: the instructions that long arithmetic is made of.
//
// On the device each function is one PTX instruction and the flag is the hardware's. On the host the flag is a
// variable, so that a test on any processor runs the same chains, word for word, as the card does. A chain must not be
// interrupted by other code that sets the flag; `volatile` keeps the order.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define HR_FN __host__ __device__ __forceinline__
#define HR_APART __host__ __device__ __noinline__
#else
#define HR_FN inline
#define HR_APART inline
#endif

namespace headroom {

#ifndef __CUDA_ARCH__
inline thread_local uint32_t carry_flag;

inline uint32_t with_carry(uint64_t sum) {
  carry_flag = static_cast<uint32_t>(sum >> 32) & 1;
  return static_cast<uint32_t>(sum);
}
inline uint64_t low(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b); }
inline uint64_t high(uint32_t a, uint32_t b) { return uint64_t{a} * b >> 32; }
#endif

// HR_WORD2 and HR_WORD3 define an instruction of two or three operands and its meaning on the host.
#ifdef __CUDA_ARCH__
#define HR_WORD2(name, ptx, host)                                          \
  HR_FN uint32_t name(uint32_t a, uint32_t b) {                            \
    uint32_t r;                                                            \
    asm volatile(ptx ".u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));       \
    return r;                                                              \
  }
#define HR_WORD3(name, ptx, host)                                                      \
  HR_FN uint32_t name(uint32_t a, uint32_t b, uint32_t c) {                            \
    uint32_t r;                                                                        \
    asm volatile(ptx ".u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));       \
    return r;                                                                          \
  }
#else
#define HR_WORD2(name, ptx, host) \
  HR_FN uint32_t name(uint32_t a, uint32_t b) { return host; }
#define HR_WORD3(name, ptx, host) \
  HR_FN uint32_t name(uint32_t a, uint32_t b, uint32_t c) { return host; }
#endif

// Names follow PTX: a trailing _cc sets the flag, a c before the underscore uses it.
HR_WORD2(add_cc, "add.cc", with_carry(uint64_t{a} + b))
HR_WORD2(addc_cc, "addc.cc", with_carry(uint64_t{a} + b + carry_flag))
HR_WORD2(addc, "addc", a + b + carry_flag)
HR_WORD2(sub_cc, "sub.cc", with_carry(uint64_t{a} - b))
HR_WORD2(subc_cc, "subc.cc", with_carry(uint64_t{a} - b - carry_flag))
HR_WORD2(subc, "subc", a - b - carry_flag)
HR_WORD3(mad_lo_cc, "mad.lo.cc", with_carry(low(a, b) + c))
HR_WORD3(madc_lo_cc, "madc.lo.cc", with_carry(low(a, b) + c + carry_flag))
HR_WORD3(madc_hi_cc, "madc.hi.cc", with_carry(high(a, b) + c + carry_flag))
HR_WORD3(madc_hi, "madc.hi", static_cast<uint32_t>(high(a, b) + c + carry_flag))

#undef HR_WORD2
#undef HR_WORD3

}  // namespace headroom
