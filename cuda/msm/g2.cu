#include "run.cuh"

namespace headroom {
const Group g2 = group<Fp2Lane>();
}
