// Which points go into which buckets.
#pragma once

#include "plan.h"

namespace headroom {

// SortSpace is the memory of the sort.
struct SortSpace {
  uint32_t* scalars;  // eight planes of n words
  uint32_t* ranks;    // of each entry in its bucket
  uint32_t* entries;  // sorted: the point's number, the highest bit set for a negative digit
  uint32_t* offsets;  // where each bucket's entries begin, and where the last ends
  uint32_t* tiles;    // sums of tiles of the scan

  SortSpace(Workspace& space, const MsmPlan& plan);
};

// msm_sort sorts the entries by bucket. Scalars are in Montgomery form or plain below r. Digits of 0 have no entry.
void msm_sort(cudaStream_t stream, const MsmPlan& plan, const SortSpace& space, const Fr* scalars, bool montgomery);

}  // namespace headroom
