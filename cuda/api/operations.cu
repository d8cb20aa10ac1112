// Transforms and multiplications.
#include "../msm/msm.cuh"
#include "handles.h"

using namespace headroom;

namespace {

constexpr int tables = 3;

void check_log(int32_t log) {
  require(log >= 0 && log <= HR_NTT_MAX_LOG,
          "transform of 2^" + std::to_string(log) + " values: should be 2^0 to 2^" + std::to_string(HR_NTT_MAX_LOG));
}

const Group& group_of(hr_group group) {
  require(group == HR_G1 || group == HR_G2, "group " + std::to_string(group) + ": should be HR_G1 or HR_G2");
  return group == HR_G1 ? g1 : g2;
}

MsmPlan plan_of(const hr_device* device, hr_group group, uint64_t n) {
  require(n >= 1 && n <= HR_MSM_MAX_POINTS,
          "MSM of " + std::to_string(n) + " points: should be 1 to " + std::to_string(HR_MSM_MAX_POINTS));
  return msm_plan(n, group == HR_G1 ? device->segments_g1 : device->segments_g2);
}

Fr* vector_at(const char* what, const hr_stream* stream, const hr_ntt* ntt, hr_slice slice) {
  require(ntt->factors->device == stream->device, "the factors are not on the stream's device");
  return reinterpret_cast<Fr*>(at(what, stream->device, slice, sizeof(Fr) << ntt->inverse.log));
}

static_assert(HR_MSM_MAX_POINTS == msm_max_points, "the header says what the plan can do");

}  // namespace

hr_status hr_ntt_size(hr_device*, int32_t log, hr_size* size) {
  return guard([&] {
    check_log(log);
    *size = {tables * ntt_table_bytes(log), 0};
  });
}

hr_status hr_ntt_new(hr_device* device, int32_t log, hr_ntt** ntt) {
  return guard([&] {
    check_log(log);
    hr_buffer* factors = nullptr;
    const hr_status status = hr_buffer_new(device, tables * ntt_table_bytes(log), &factors);
    if (status.code != HR_OK) throw Failure{status.code, std::string("factors: ") + status.message};
    Fr* table[tables];
    for (int i = 0; i < tables; i++) table[i] = reinterpret_cast<Fr*>(factors->memory + i * ntt_table_bytes(log));
    try {
      ntt_fill(nullptr, table[0], log, true, false);
      ntt_fill(nullptr, table[1], log, false, true);
      ntt_fill(nullptr, table[2], log, true, true);
      check("compute factors", cudaGetLastError());
      check("compute factors", cudaStreamSynchronize(nullptr));
    } catch (...) {
      hr_buffer_free(factors);
      throw;
    }
    *ntt = new hr_ntt{factors, {table[0], log, false}, {table[1], log, true}, {table[2], log, true}};
  });
}

hr_status hr_ntt_free(hr_ntt* ntt) {
  const hr_status status = hr_buffer_free(ntt->factors);
  delete ntt;
  return status;
}

hr_status hr_ntt_run(hr_stream* stream, hr_ntt* ntt, hr_transform transform, hr_slice data) {
  return guard([&] {
    use(stream->device);
    Fr* values = vector_at("the data", stream, ntt, data);
    switch (transform) {
      case HR_COSET_FORWARD:
        ntt_forward(stream->stream, values, ntt->coset_forward);
        break;
      case HR_INVERSE:
      case HR_COSET_INVERSE:
        ntt_inverse(stream->stream, values, transform == HR_INVERSE ? ntt->inverse : ntt->coset_inverse, true);
        break;
      default:
        require(false, "transform " + std::to_string(transform) + " is none of the three");
    }
    check("transform", cudaGetLastError());
  });
}

hr_status hr_quotient(hr_stream* stream, hr_ntt* ntt, hr_slice a, hr_slice b, hr_slice c) {
  return guard([&] {
    use(stream->device);
    ntt_quotient(stream->stream, vector_at("a", stream, ntt, a), vector_at("b", stream, ntt, b),
                 vector_at("c", stream, ntt, c), ntt->inverse, ntt->coset_forward, ntt->coset_inverse);
    check("quotient", cudaGetLastError());
  });
}

hr_status hr_msm_size(hr_device* device, hr_group group, uint64_t n, hr_size* workspace) {
  return guard([&] { *workspace = {group_of(group).workspace_bytes(plan_of(device, group, n)), 0}; });
}

hr_status hr_msm(hr_stream* stream, hr_group group, hr_slice points, hr_slice scalars, hr_form form, uint64_t n,
                 hr_slice workspace, hr_slice result) {
  return guard([&] {
    const Group& g = group_of(group);
    const MsmPlan plan = plan_of(stream->device, group, n);
    use(stream->device);
    g.run(stream->stream, plan, at("the workspace", stream->device, workspace, g.workspace_bytes(plan)),
          reinterpret_cast<const Fp*>(at("the points", stream->device, points, n * g.affine_bytes())),
          reinterpret_cast<const Fr*>(at("the scalars", stream->device, scalars, n * sizeof(Fr))),
          form == HR_MONTGOMERY,
          reinterpret_cast<Fp*>(at("the result", stream->device, result, g.jacobian_bytes())));
    check("MSM", cudaGetLastError());
  });
}

hr_status hr_multiples_size(hr_device*, hr_group group, hr_size* workspace) {
  return guard([&] { *workspace = {group_of(group).table_bytes, 0}; });
}

hr_status hr_multiples(hr_stream* stream, hr_group group, hr_slice base, hr_slice scalars, hr_form form, uint64_t n,
                       hr_slice workspace, hr_slice points) {
  return guard([&] {
    const Group& g = group_of(group);
    require(n >= 1 && n <= HR_MSM_MAX_POINTS,
            "multiples for " + std::to_string(n) + " scalars: should be 1 to " + std::to_string(HR_MSM_MAX_POINTS));
    use(stream->device);
    g.fixed_base(stream->stream, at("the workspace", stream->device, workspace, g.table_bytes),
                 reinterpret_cast<const Fp*>(at("the base", stream->device, base, g.affine_bytes())),
                 reinterpret_cast<const Fr*>(at("the scalars", stream->device, scalars, n * sizeof(Fr))), n,
                 form == HR_MONTGOMERY,
                 reinterpret_cast<Fp*>(at("the points", stream->device, points, n * g.affine_bytes())));
    check("multiples", cudaGetLastError());
  });
}
