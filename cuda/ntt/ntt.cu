#include <algorithm>

#include "pass.cuh"

namespace headroom {
namespace {

constexpr int threads = 256;

unsigned blocks_for(uint64_t n) { return static_cast<unsigned>((n + threads - 1) / threads); }

__device__ __forceinline__ uint64_t thread_index() { return uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }

// fill_level computes the factors of one level: shift times the powers of the root.
__global__ void fill_level(Fr* level, uint64_t half, Fr root, Fr shift) {
  uint64_t j = thread_index();
  if (j < half) level[j] = shift * root.pow(j);
}

// divide computes (a b - c) / Z where Z is constant; the factors hold 1/Z and what the transforms left.
__global__ void divide(Fr* a, const Fr* b, const Fr* c, uint64_t n, Fr product_factor, Fr c_factor) {
  uint64_t i = thread_index();
  if (i < n) a[i] = a[i] * b[i] * product_factor - c[i] * c_factor;
}

template <bool forward, bool coset>
void launch(cudaStream_t stream, const Pass& pass) {
  const int tile_log = pass.levels + columns_log;
  const size_t shared = sizeof(Fr) << tile_log;
  // The launch reports an attribute that could not be set.
  cudaFuncSetAttribute(run_pass<forward, coset>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  const uint64_t tiles = pass.n >> tile_log;
  const unsigned blocks = tiles == 0 ? 1 : static_cast<unsigned>(tiles);
  run_pass<forward, coset><<<blocks, 1 << std::max(pass.levels, columns_log), shared, stream>>>(pass);
}

Fr size_inverse(int log) { return fr_of(2).inverse().pow(log); }

// transform runs the passes, of as equal heights as can be. The lowest is never shorter than another.
template <bool forward>
void transform(cudaStream_t stream, Fr* data, const NttTable& table, bool scaled) {
  const int passes = (table.log + pass_levels - 1) / pass_levels;
  const Fr scale = scaled ? size_inverse(table.log) : Fr::one();
  for (int n = 0; n < passes; n++) {
    const int i = forward ? n : passes - 1 - n;
    const int shorter = table.log / passes, longer = table.log % passes;  // how many passes have a level more
    const int low = i * shorter + (i < longer ? i : longer);
    const bool last = n == passes - 1;
    const int levels = shorter + (i < longer ? 1 : 0);
    const Pass pass{data, table.factors, uint64_t{1} << table.log, low, levels, scaled && last, scale};
    if (table.coset) {
      launch<forward, true>(stream, pass);
    } else {
      launch<forward, false>(stream, pass);
    }
  }
}

}  // namespace

void ntt_fill(cudaStream_t stream, Fr* factors, int log, bool inverse, bool coset) {
  Fr shift = coset ? fr_of(fr_generator) : Fr::one();
  // Level l has the root of order 2^(l+1) and the shift g^(2^(log-l-1)).
  for (int level = log - 1; level >= 0; level--) {
    Fr root = fr_root(level + 1);
    const uint64_t half = uint64_t{1} << level;
    fill_level<<<blocks_for(half), threads, 0, stream>>>(factors + half, half, inverse ? root.inverse() : root,
                                                         inverse ? shift.inverse() : shift);
    shift = shift.squared();
  }
}

void ntt_forward(cudaStream_t stream, Fr* data, const NttTable& table) { transform<true>(stream, data, table, false); }

void ntt_inverse(cudaStream_t stream, Fr* data, const NttTable& table, bool scaled) {
  transform<false>(stream, data, table, scaled);
}

void ntt_quotient(cudaStream_t stream, Fr* a, Fr* b, Fr* c, const NttTable& inverse, const NttTable& coset_forward,
                  const NttTable& coset_inverse) {
  for (Fr* v : {a, b, c}) {
    ntt_inverse(stream, v, inverse, false);
    ntt_forward(stream, v, coset_forward);
  }
  const int log = inverse.log;
  const uint64_t n = uint64_t{1} << log;
  const Fr z = fr_of(fr_generator).pow(n) - Fr::one(), left = size_inverse(log);
  // a, b and c are n times too large now, and the last transform multiplies by n once more.
  const Fr c_factor = z.inverse() * left * left, product_factor = c_factor * left;
  divide<<<blocks_for(n), threads, 0, stream>>>(a, b, c, n, product_factor, c_factor);
  ntt_inverse(stream, a, coset_inverse, false);
}

}  // namespace headroom
