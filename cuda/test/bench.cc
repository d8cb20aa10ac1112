// Times the library on a card: a line for each operation and size, median of several runs in milliseconds, wall clock
// around enqueuing and waiting. Every multiplication's result is checked.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>

#include "card.h"

using namespace headroom;
using namespace headroom::test;

namespace {

double milliseconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void report(const std::string& what, int log, std::vector<double> times, int each, uint64_t bytes) {
  std::sort(times.begin(), times.end());
  std::printf("%-22s 2^%-2d  %9.3f ms  (%.3f to %.3f)  %8.1f MiB\n", what.c_str(), log, times[times.size() / 2] / each,
              times.front() / each, times.back() / each, bytes / 1048576.0);
  std::fflush(stdout);
}

// Transforms are short: many are enqueued between two readings of the clock.
void bench_transforms(Card& card, int log) {
  constexpr int runs = 9, each = 10;
  const uint64_t n = uint64_t{1} << log;
  Ntt ntt(card, log);
  Buffer a(card, n * sizeof(Fr)), b(card, n * sizeof(Fr)), c(card, n * sizeof(Fr));
  const auto values = random_vector(1, n);
  for (Buffer* v : {&a, &b, &c}) v->put(values);
  hr_size size;
  MUST(hr_ntt_size(card.device, log, &size));
  const auto time = [&](const char* what, const std::function<hr_status()>& enqueue) {
    std::vector<double> times;
    for (int run = -2; run < runs; run++) {
      const double t = milliseconds([&] {
        for (int i = 0; i < each; i++) must(what, enqueue());
        MUST(hr_stream_wait(card.stream));
      });
      if (run >= 0) times.push_back(t);
    }
    report(what, log, times, each, size.device);
  };
  time("inverse", [&] { return hr_ntt_run(card.stream, ntt.ntt, HR_INVERSE, a.slice()); });
  time("coset forward", [&] { return hr_ntt_run(card.stream, ntt.ntt, HR_COSET_FORWARD, a.slice()); });
  time("coset inverse", [&] { return hr_ntt_run(card.stream, ntt.ntt, HR_COSET_INVERSE, a.slice()); });
  time("quotient", [&] { return hr_quotient(card.stream, ntt.ntt, a.slice(), b.slice(), c.slice()); });
}

// Mix is how the scalars of a run are drawn.
struct Mix {
  const char* name;
  Fr (*at)(uint64_t seed, uint64_t i);
};

const Mix uniform{"uniform", random_fr};

// The wires of a SHA-256 circuit: 55.6 % are 0, 30.4 % are 1, 13.8 % are -1 and the rest are small.
const Mix bits{"bits", [](uint64_t seed, uint64_t i) {
                 const uint64_t draw = random_word(seed, i) % 1000;
                 if (draw < 556) return Fr::zero();
                 if (draw < 860) return Fr::one();
                 return draw < 998 ? -Fr::one() : fr_of(draw);
               }};

// 5 % of small values among bits and full values: many entries in few buckets.
const Mix small_values{"small values", [](uint64_t seed, uint64_t i) {
                         const uint64_t word = random_word(seed, i), draw = word % 100;
                         if (draw < 45) return Fr::zero();
                         if (draw < 80) return Fr::one();
                         return draw < 85 ? fr_of(word >> 32 & 0xffff) : random_fr(seed, i);
                       }};

template <class F>
void bench_msm(Card& card, int log, const std::vector<Mix>& mixes) {
  const int runs = log <= 22 ? 7 : 5;
  const uint64_t n = uint64_t{1} << log;
  const auto k = random_vector(2, n);
  const Points<F> points(card, k);
  Msm<F> msm(card, n);
  std::vector<Fr> s(n);
  for (const Mix& mix : mixes) {
    for (uint64_t i = 0; i < n; i++) s[i] = mix.at(3, i);
    msm.scalars.put(s);
    std::vector<double> times;
    for (int run = -1; run < runs; run++) {
      const double t = milliseconds([&] { msm.run(points); });
      if (run >= 0) times.push_back(t);
    }
    const std::string what = std::string(group_of<F> == HR_G1 ? "G1 MSM " : "G2 MSM ") + mix.name;
    const auto result = msm.result.template get<Jacobian<F>>(1)[0];
    if (!same(result, headroom::test::times<F>(dot(k, s)))) {
      std::printf("WRONG: %s of 2^%d\n", what.c_str(), log);
      std::exit(1);
    }
    report(what, log, times, 1, Msm<F>::workspace_size(card, n));
  }
}

template <class F>
void bench_multiples(Card& card, int log) {
  const auto k = random_vector(4, uint64_t{1} << log);
  std::vector<double> times;
  // Copying the scalars is part of it, as in key generation.
  for (int run = 0; run < 3; run++) times.push_back(milliseconds([&] { Points<F>(card, k); }));
  const char* what = group_of<F> == HR_G1 ? "G1 multiples" : "G2 multiples";
  report(what, log, times, 1, (uint64_t{1} << log) * sizeof(Affine<F>));
}

}  // namespace

// bench [LARGEST [NAME [SMALLEST]]]: sizes up to 2^24 from 2^18 where not said; ntt, g1, g2, multiples or all of them.
int main(int argc, char** argv) {
  const int largest = argc > 1 ? std::atoi(argv[1]) : 24;
  const std::string only = argc > 2 ? argv[2] : "all";
  const int smallest = argc > 3 ? std::atoi(argv[3]) : 18;
  const auto wanted = [&](const char* name) { return only == "all" || only == name; };
  Card card;
  for (int log = smallest; log <= largest; log += 2) {
    if (wanted("ntt")) bench_transforms(card, log);
    if (wanted("g1")) bench_msm<Fp>(card, log, {uniform, bits, small_values});
    if (wanted("g2") && log <= 22) bench_msm<Fp2>(card, log, {uniform, bits});
    if (wanted("multiples") && log <= 20) bench_multiples<Fp>(card, log), bench_multiples<Fp2>(card, log);
  }
  return 0;
}
