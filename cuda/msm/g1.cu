#include "run.cuh"

namespace headroom {
const Group g1 = group<Fp>();
}
