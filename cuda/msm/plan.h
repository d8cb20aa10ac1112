// The shape of a multi-scalar multiplication, decided on the host from its length alone.
#pragma once

#include <cstdint>

#include "../arith/fr.h"

namespace headroom {

// Scalars are cut into windows of signed digits (Pippenger's method with the digits of Booth): the points of equal
// digit in a window are summed into a bucket, and a bucket of digit d counts d times. Half the buckets suffice, since a
// negative digit adds the negated point.
struct MsmPlan {
  uint64_t n;         // points
  int bits;           // of a window
  int windows;        // of 255 bits together, at least
  uint64_t half;      // buckets of a window, of the digits 1 to 2^(bits-1)
  uint64_t buckets;   // of all windows
  uint64_t entries;   // digits, and so the most additions into buckets
  uint64_t segments;  // equal parts that the entries are summed in
  int chunk_log;      // buckets are weighed in chunks of this size
  int chunk_bits;     // log of the chunks of a window

  HR_FN uint64_t partials() const { return segments + buckets + 1; }
  HR_FN uint64_t chunks() const { return buckets >> chunk_log; }
  HR_FN uint64_t window_sums() const { return static_cast<uint64_t>(windows) * (1 + chunk_bits); }
};

// A bucket of more partial sums than this is summed by a whole block.
constexpr uint64_t light_partials = 16;

// A segment has at least this many entries: a shorter one would cost more to join than it saves.
constexpr uint64_t shortest_segment = 8;

// msm_max_points keeps a point's number and a sign in 32 bits, and the entries of all windows below 2^32.
constexpr uint64_t msm_max_points = uint64_t{1} << 26;

// msm_plan plans for n points, 1 to msm_max_points, on a card that runs so many segments at once.
inline MsmPlan msm_plan(uint64_t n, uint64_t parallel) {
  // Each entry costs an addition to an affine point; a bucket costs about four additions of 1.4 times the work.
  constexpr int narrowest = 6, widest = 20;
  constexpr double bucket_cost = 5.5;
  MsmPlan p{};
  double least = 0;
  for (int bits = narrowest; bits <= widest; bits++) {
    const int windows = (fr_bits + bits - 1) / bits;
    const double cost = windows * (static_cast<double>(n) + bucket_cost * (uint64_t{1} << (bits - 1)));
    if (p.bits == 0 || cost < least) p.bits = bits, p.windows = windows, least = cost;
  }
  p.n = n;
  p.half = uint64_t{1} << (p.bits - 1);
  p.buckets = p.half * p.windows;
  p.entries = n * p.windows;
  // Several rounds of segments even out how fast the multiprocessors are.
  const uint64_t most = 4 * parallel, worthwhile = (p.entries + shortest_segment - 1) / shortest_segment;
  p.segments = worthwhile < most ? worthwhile : most;
  p.chunk_log = p.bits - 1 < 4 ? p.bits - 1 : 4;
  p.chunk_bits = p.bits - 1 - p.chunk_log;
  return p;
}

// Workspace places arrays one after another, each on a boundary of 256 bytes.
class Workspace {
 public:
  explicit Workspace(void* base) : base_(static_cast<char*>(base)) {}

  template <class T>
  T* array(uint64_t count) {
    T* p = reinterpret_cast<T*>(base_ + used_);
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return p;
  }
  uint64_t used() const { return used_; }

 private:
  char* base_;
  uint64_t used_ = 0;
};

}  // namespace headroom
