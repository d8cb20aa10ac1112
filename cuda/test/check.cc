// Checks the library on a card against the arithmetic of the host, which is itself held against gnark-crypto. With the
// argument "small" it makes only what a memory checker can follow in a minute.
#include <cstdlib>
#include <cstring>
#include <string>

#include "card.h"

using namespace headroom;
using namespace headroom::test;

namespace {

int failures = 0;

void expect(bool right, const std::string& what) {
  if (right) return;
  failures++;
  std::printf("WRONG: %s\n", what.c_str());
}

// reversed returns the bits of i in reverse.
uint64_t reversed(uint64_t i, int log) {
  uint64_t r = 0;
  for (int k = 0; k < log; k++) r |= (i >> k & 1) << (log - 1 - k);
  return r;
}

// value returns a polynomial at x, from coefficients in bit-reversed order.
Fr value(const std::vector<Fr>& coefficients, int log, const Fr& x) {
  Fr sum = Fr::zero();
  for (uint64_t i = coefficients.size(); i-- > 0;) sum = sum * x + coefficients[reversed(i, log)];
  return sum;
}

// some are the indices at which a transform is evaluated: all of a short one.
std::vector<uint64_t> some(uint64_t n) {
  std::vector<uint64_t> indices;
  if (n <= 64) {
    for (uint64_t i = 0; i < n; i++) indices.push_back(i);
  } else {
    indices = {0, n - 1, random_word(n, 0) % n};
  }
  return indices;
}

void check_transforms(Card& card, int log) {
  const uint64_t n = uint64_t{1} << log;
  const std::string size = " of 2^" + std::to_string(log);
  Ntt ntt(card, log);
  Buffer data(card, n * sizeof(Fr));
  const Fr root = fr_root(log), g = fr_of(fr_generator);
  const auto run = [&](hr_transform transform) {
    MUST(hr_ntt_run(card.stream, ntt.ntt, transform, data.slice()));
    return data.get<Fr>(n);
  };

  auto values = random_vector(log, n);
  values[0] = Fr::zero();
  data.put(values);
  const auto coefficients = run(HR_INVERSE);
  for (uint64_t i : some(n)) expect(value(coefficients, log, root.pow(i)) == values[i], "inverse transform" + size);
  const auto shifted = run(HR_COSET_FORWARD);
  for (uint64_t i : some(n))
    expect(value(coefficients, log, g * root.pow(i)) == shifted[i], "coset forward transform" + size);
  const auto back = run(HR_COSET_INVERSE);
  expect(std::memcmp(back.data(), coefficients.data(), n * sizeof(Fr)) == 0, "coset inverse transform" + size);
}

void check_quotient(Card& card, int log) {
  const uint64_t n = uint64_t{1} << log;
  Ntt ntt(card, log);
  std::vector<Fr> values[3] = {random_vector(1, n), random_vector(2, n), std::vector<Fr>(n)};
  for (uint64_t i = 0; i < n; i++) values[2][i] = values[0][i] * values[1][i];
  Buffer a(card, n * sizeof(Fr)), b(card, n * sizeof(Fr)), c(card, n * sizeof(Fr));
  Buffer* vectors[3] = {&a, &b, &c};
  const Fr x = random_fr(3, 0);
  Fr at_x[3];
  for (int k = 0; k < 3; k++) {
    vectors[k]->put(values[k]);
    MUST(hr_ntt_run(card.stream, ntt.ntt, HR_INVERSE, vectors[k]->slice()));
    at_x[k] = value(vectors[k]->get<Fr>(n), log, x);
    vectors[k]->put(values[k]);
  }
  MUST(hr_quotient(card.stream, ntt.ntt, a.slice(), b.slice(), c.slice()));
  const Fr h = value(a.get<Fr>(n), log, x);
  expect(h * (x.pow(n) - Fr::one()) == at_x[0] * at_x[1] - at_x[2], "quotient of 2^" + std::to_string(log));
}

// Scalars of many kinds: what a witness may hold, and what a sort or an addition may trip over.
struct Kind {
  const char* name;
  Fr (*at)(uint64_t i);
};

const Fr half_of_r = fr_of(2).inverse();

const Kind kinds[] = {
    {"random", [](uint64_t i) { return random_fr(7, i); }},
    {"zero", [](uint64_t) { return Fr::zero(); }},
    {"equal", [](uint64_t) { return random_fr(8, 0); }},
    {"r - 1", [](uint64_t) { return -Fr::one(); }},
    {"0, 1, r - 1", [](uint64_t i) { return i % 3 == 0 ? Fr::zero() : i % 3 == 1 ? Fr::one() : -Fr::one(); }},
    {"below 2^16", [](uint64_t i) { return fr_of(random_word(9, i) & 0xffff); }},
    {"near half of r", [](uint64_t i) { return half_of_r + (i % 2 ? Fr::one() : -Fr::one()); }},
};

// The points repeat, oppose each other and vanish; sums within a bucket meet every case of an addition.
Fr point_scalar(uint64_t i) {
  switch (i % 8) {
    case 0: return Fr::zero();
    case 1: return Fr::one();
    case 2: return -Fr::one();
    case 3: return fr_of(2);
    default: return random_fr(10, i);
  }
}

template <class F>
void check_multiples(Card& card) {
  std::vector<Fr> k;
  for (uint64_t i = 0; i < 37; i++) k.push_back(i < 5 ? point_scalar(i) : i == 5 ? -fr_of(2) : random_fr(11, i));
  Points<F> points(card, k);
  const auto got = points.template get<Affine<F>>(k.size());
  for (uint64_t i = 0; i < k.size(); i++) {
    const Affine<F> want = times<F>(k[i]);
    expect(got[i].x == want.x && got[i].y == want.y, "multiple " + std::to_string(i));
  }
}

template <class F>
void check_msm(Card& card, uint64_t n, bool mixed_points) {
  const char* group = group_of<F> == HR_G1 ? "G1" : "G2";
  std::vector<Fr> k(n), s(n);
  for (uint64_t i = 0; i < n; i++) k[i] = mixed_points ? point_scalar(i) : random_fr(12, i);
  Points<F> points(card, k);
  Msm<F> msm(card, n);
  for (const Kind& kind : kinds) {
    for (uint64_t i = 0; i < n; i++) s[i] = kind.at(i);
    msm.scalars.put(s);
    msm.run(points);
    const auto got = msm.result.template get<Jacobian<F>>(1)[0];
    expect(same(got, times<F>(dot(k, s))),
           std::string("MSM in ") + group + " of " + std::to_string(n) + " points, scalars " + kind.name);
  }
}

// Scalars may be plain integers.
void check_plain(Card& card) {
  const uint64_t n = 1000;
  const auto k = random_vector(13, n), s = random_vector(14, n);
  std::vector<Fr> plain;
  for (const Fr& x : s) plain.push_back(x.plain());
  Points<Fp> points(card, k);
  Msm<Fp> msm(card, n);
  msm.scalars.put(plain);
  msm.run(points, HR_PLAIN);
  expect(same(msm.result.get<Jacobian<Fp>>(1)[0], times<Fp>(dot(k, s))), "MSM with plain scalars");
}

// A refused buffer leaves the device as it was.
void check_cap() {
  Card card(1 << 20);
  Buffer half(card, 1 << 19);
  hr_buffer* refused = nullptr;
  const hr_status status = hr_buffer_new(card.device, (1 << 19) + 1, &refused);
  expect(status.code == HR_MEMORY && refused == nullptr, std::string("buffer beyond the cap: ") + status.message);
  hr_memory_book book;
  MUST(hr_memory(card.device, &book));
  expect(book.taken.device == 1 << 19 && book.peak.device == 1 << 19, "memory book after a refusal");
  Buffer rest(card, 1 << 19);
}

// Host memory that is pinned is copied from and to, and the book has it until it is unpinned.
void check_pin() {
  Card card;
  const uint64_t n = 1 << 16, size = n * sizeof(Fr);
  const auto values = random_vector(15, n);
  auto memory = static_cast<Fr*>(std::aligned_alloc(4096, 2 * size));
  std::memcpy(memory, values.data(), size);
  MUST(hr_pin(card.device, memory, 2 * size));
  hr_memory_book book;
  MUST(hr_memory(card.device, &book));
  expect(book.taken.pinned == 2 * size, "memory book with pinned memory");
  expect(book.free <= book.total && book.total - book.free <= book.most, "memory book of the card");
  {
    Buffer buffer(card, size);
    MUST(hr_upload(card.stream, buffer.slice(), memory, size));
    MUST(hr_download(card.stream, memory + n, buffer.slice(), size));
    MUST(hr_stream_wait(card.stream));
  }
  expect(std::memcmp(values.data(), memory + n, size) == 0, "copies of pinned memory");
  MUST(hr_unpin(card.device, memory));
  expect(hr_unpin(card.device, memory).code == HR_ARGUMENT, "unpin twice");
  MUST(hr_memory(card.device, &book));
  expect(book.taken.pinned == 0 && book.peak.pinned == 2 * size, "memory book after unpinning");
  std::free(memory);
}

}  // namespace

int main(int argc, char** argv) {
  const bool small = argc > 1 && std::string(argv[1]) == "small";
  check_cap();
  check_pin();
  {
    Card card;
    for (int log = 0; log <= (small ? 10 : 17); log++) check_transforms(card, log);
    if (!small) check_transforms(card, 20);
    for (int log : {1, 4, small ? 9 : 17}) check_quotient(card, log);
    check_plain(card);
    check_multiples<Fp>(card);
    check_multiples<Fp2>(card);
    const std::vector<uint64_t> lengths = small ? std::vector<uint64_t>{1, 2, 257}
                                                : std::vector<uint64_t>{1, 2, 3, 31, 255, 256, 257, 4095, 4097, 65537};
    for (uint64_t n : lengths) {
      check_msm<Fp>(card, n, true);
      check_msm<Fp2>(card, n, true);
    }
    if (!small) {
      check_msm<Fp>(card, 1 << 18, false);
      check_msm<Fp2>(card, 1 << 16, false);
    }
  }
  std::printf("%s\n", failures == 0 ? "all checks passed" : "SOME CHECKS FAILED");
  return failures == 0 ? 0 : 1;
}
