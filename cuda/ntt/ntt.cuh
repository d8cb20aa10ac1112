// Number-theoretic transforms over Fr, in place, in the orders that a prover for gnark's keys needs: the inverse takes
// natural order and leaves bit-reversed order, the forward transform takes that back, so no pass reverses bits.
#pragma once

#include "../arith/fr.h"

namespace headroom {

// NttTable is the factors of every level of a transform of 2^log values: at [h + j], j < h, that of butterfly j among
// the blocks of 2h values. A coset's shift is part of its factors, and costs no multiplication.
struct NttTable {
  const Fr* factors;
  int log;
  bool coset;
};

// ntt_table_bytes is the memory of one table.
constexpr uint64_t ntt_table_bytes(int log) { return sizeof(Fr) << log; }

// ntt_fill computes the factors of a table: powers of the root of unity, or of its inverse for the inverse transform.
void ntt_fill(cudaStream_t stream, Fr* factors, int log, bool inverse, bool coset);

// ntt_forward turns coefficients in bit-reversed order into values in natural order.
void ntt_forward(cudaStream_t stream, Fr* data, const NttTable& table);

// ntt_inverse turns values in natural order into coefficients in bit-reversed order: 2^log times too large unless
// scaled, for what follows often has a factor anyway.
void ntt_inverse(cudaStream_t stream, Fr* data, const NttTable& table, bool scaled);

// ntt_quotient computes h = (a b - c) / (X^n - 1), n = 2^log, from the values of a, b and c on the domain: into a, in
// bit-reversed order. b and c are overwritten. The tables are plain inverse, coset forward and coset inverse.
void ntt_quotient(cudaStream_t stream, Fr* a, Fr* b, Fr* c, const NttTable& inverse, const NttTable& coset_forward,
                  const NttTable& coset_inverse);

}  // namespace headroom
