// What the programs that need a card share: the library's handles with their ends, and random inputs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../arith/curve.h"
#include "../arith/fp2.h"
#include "../arith/fr.h"
#include "../include/headroom.h"

namespace headroom::test {

// must ends the program unless the call succeeded.
inline void must(const char* call, const hr_status& status) {
  if (status.code == HR_OK) return;
  std::fprintf(stderr, "%s: status %d: %s\n", call, status.code, status.message);
  std::exit(1);
}
#define MUST(call) must(#call, call)

// Card is the first card with one stream.
struct Card {
  hr_device* device = nullptr;
  hr_stream* stream = nullptr;

  explicit Card(uint64_t cap = 0) {
    MUST(hr_open(0, cap, &device));
    MUST(hr_stream_new(device, &stream));
  }
  ~Card() {
    MUST(hr_stream_free(stream));
    MUST(hr_close(device));
  }
  Card(const Card&) = delete;
};

// Buffer is memory on the card.
struct Buffer {
  Card& card;
  hr_buffer* buffer = nullptr;

  Buffer(Card& c, uint64_t size) : card(c) { MUST(hr_buffer_new(card.device, size, &buffer)); }
  ~Buffer() { MUST(hr_buffer_free(buffer)); }
  Buffer(const Buffer&) = delete;

  hr_slice slice() const { return {buffer, 0}; }

  template <class T>
  void put(const std::vector<T>& values) {
    MUST(hr_upload(card.stream, slice(), values.data(), values.size() * sizeof(T)));
    MUST(hr_stream_wait(card.stream));
  }
  template <class T>
  std::vector<T> get(uint64_t n) {
    std::vector<T> values(n);
    MUST(hr_download(card.stream, values.data(), slice(), n * sizeof(T)));
    MUST(hr_stream_wait(card.stream));
    return values;
  }
};

// Ntt is the factors of one size.
struct Ntt {
  hr_ntt* ntt = nullptr;
  Ntt(Card& card, int log) { MUST(hr_ntt_new(card.device, log, &ntt)); }
  ~Ntt() { MUST(hr_ntt_free(ntt)); }
  Ntt(const Ntt&) = delete;
};

// random_word is the n-th output of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// OOPSLA 2014).
inline uint64_t random_word(uint64_t seed, uint64_t n) {
  uint64_t z = seed * 0xd1342543de82ef95 + (n + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// random_fr returns the words of an element below 2^254, whichever value they stand for.
inline Fr random_fr(uint64_t seed, uint64_t n) {
  Fr r;
  for (int i = 0; i < 4; i++) {
    const uint64_t word = random_word(seed, 4 * n + i);
    r.w[2 * i] = static_cast<uint32_t>(word);
    r.w[2 * i + 1] = static_cast<uint32_t>(word >> 32);
  }
  r.w[7] &= 0x3fffffff;
  return r;
}

inline std::vector<Fr> random_vector(uint64_t seed, uint64_t n) {
  std::vector<Fr> v(n);
  for (uint64_t i = 0; i < n; i++) v[i] = random_fr(seed, i);
  return v;
}

// dot returns the sum of the products, on all threads of the host.
inline Fr dot(const std::vector<Fr>& a, const std::vector<Fr>& b) {
  const uint64_t parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Fr> sums(parts, Fr::zero());
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < parts; t++)
    threads.emplace_back([&, t] {
      for (uint64_t i = t; i < a.size(); i += parts) sums[t] = sums[t] + a[i] * b[i];
    });
  for (auto& thread : threads) thread.join();
  Fr sum = Fr::zero();
  for (const Fr& s : sums) sum = sum + s;
  return sum;
}

inline const Affine<Fp> g1_generator{
    {{0xfd530c16, 0x5cb38790, 0x9976fff5, 0x7817fc67, 0x143ba1c1, 0x154f95c7,
      0xf3d0e747, 0xf0ae6acd, 0x21dbf440, 0xedce6ecc, 0x9e0bfb75, 0x12017741}},
    {{0x0ce72271, 0xbaac93d5, 0x7918fd8e, 0x8c22631a, 0x570725ce, 0xdd595f13,
      0x50405194, 0x51ac5829, 0xad0059c0, 0x0e1c8c3f, 0x5008a26a, 0x0bbc3efc}}};
inline const Affine<Fp2> g2_generator{
    {{{0x02940a10, 0xf5f28fa2, 0x87b4961a, 0xb3f5fb26, 0x3e2ae580, 0xa1a893b5,
      0x1a3caee9, 0x9894999d, 0x1863366b, 0x6f67b763, 0x4350bcd7, 0x05819192}},
     {{0x9e23f606, 0xa5a9c075, 0xbccd60c3, 0xaaa0c59d, 0xe2867806, 0x3bb17e18,
      0x8541b367, 0x1b1ab6cc, 0xf2158547, 0xc2b6ed0e, 0x7360edf3, 0x11922a09}}},
    {{{0x60494c4a, 0x4c730af8, 0x5e369c5a, 0x597cfa1f, 0xaa0a635a, 0xe7e6856c,
      0x6e0d495f, 0xbbefb5e9, 0xf0ef25a2, 0x07d3a975, 0x7e80dae5, 0x0083fd8e}},
     {{0xdf64b05d, 0xadc0fc92, 0x2b1461dc, 0x18aa270a, 0x3be4eba0, 0x86adac6a,
      0xc93da33a, 0x79495c4e, 0xa43ccaed, 0xe7175850, 0x63de1bf2, 0x0b2bc2a1}}}};

inline const Affine<Fp>& generator(const Fp*) { return g1_generator; }
inline const Affine<Fp2>& generator(const Fp2*) { return g2_generator; }
template <class F>
constexpr hr_group group_of = sizeof(F) == sizeof(Fp) ? HR_G1 : HR_G2;

// Points is k_i G for scalars k_i, made on the card.
template <class F>
struct Points : Buffer {
  Points(Card& card, const std::vector<Fr>& k) : Buffer(card, k.size() * sizeof(Affine<F>)) {
    hr_size size;
    MUST(hr_multiples_size(card.device, group_of<F>, &size));
    Buffer workspace(card, size.device), scalars(card, k.size() * sizeof(Fr)), base(card, sizeof(Affine<F>));
    scalars.put(k);
    base.put(std::vector<Affine<F>>{generator(static_cast<F*>(nullptr))});
    MUST(hr_multiples(card.stream, group_of<F>, base.slice(), scalars.slice(), HR_MONTGOMERY, k.size(),
                      workspace.slice(), slice()));
    MUST(hr_stream_wait(card.stream));
  }
};

// Msm is a multiplication of one length with its memory.
template <class F>
struct Msm {
  Card& card;
  uint64_t n;
  Buffer scalars, workspace, result;

  Msm(Card& c, uint64_t n_)
      : card(c),
        n(n_),
        scalars(c, n_ * sizeof(Fr)),
        workspace(c, workspace_size(c, n_)),
        result(c, sizeof(Jacobian<F>)) {}

  static uint64_t workspace_size(Card& card, uint64_t n) {
    hr_size size;
    MUST(hr_msm_size(card.device, group_of<F>, n, &size));
    return size.device;
  }
  void run(const Points<F>& points, hr_form form = HR_MONTGOMERY) {
    MUST(hr_msm(card.stream, group_of<F>, points.slice(), scalars.slice(), form, n, workspace.slice(), result.slice()));
    MUST(hr_stream_wait(card.stream));
  }
};

// times returns k G on the host.
template <class F>
Affine<F> times(const Fr& k) {
  const Fr plain = k.plain();
  auto sum = Xyzz<F>::infinity();
  for (int i = 255; i >= 0; i--) {
    sum = sum.doubled();
    if (plain.w[i / 32] >> (i % 32) & 1) sum.add(generator(static_cast<F*>(nullptr)));
  }
  const F inverse = sum.zzz.inverse();
  return {sum.x * (sum.zz * inverse).squared(), sum.y * inverse};
}

// same says whether a Jacobian point is an affine one.
template <class F>
bool same(const Jacobian<F>& j, const Affine<F>& a) {
  if (j.z.is_zero() || a.is_infinity()) return j.z.is_zero() && a.is_infinity();
  const F zz = j.z.squared();
  return j.x == a.x * zz && j.y == a.y * zz * j.z;
}

}  // namespace headroom::test
