// What the handles of headroom.h stand for.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <mutex>
#include <string>
#include <unordered_map>

#include "../include/headroom.h"
#include "../ntt/ntt.cuh"

struct hr_device {
  int card;
  std::mutex mutex;  // of what follows
  hr_size taken{}, peak{};
  uint64_t cap, most = 0;             // of the card's memory
  uint64_t segments_g1, segments_g2;  // that run at once
  int streams = 0, handles = 0;       // that are open
  std::unordered_map<void*, uint64_t> pinned;
};

struct hr_stream {
  hr_device* device;
  cudaStream_t stream;
};

struct hr_buffer {
  hr_device* device;
  uint64_t size;
  char* memory;
};

struct hr_ntt {
  hr_buffer* factors;
  headroom::NttTable inverse, coset_forward, coset_inverse;
};

namespace headroom {

// Failure is what a function of the library throws within it; guard makes it a status.
struct Failure {
  int32_t code;
  std::string message;
};

// check throws where CUDA reports an error. A kernel's launch reports through cudaGetLastError.
void check(const char* what, cudaError_t error);

// require throws HR_ARGUMENT with the message unless the condition holds.
void require(bool condition, const std::string& message);

// use makes the device current for this thread.
void use(const hr_device* device);

// at returns the memory of a slice that must hold so many bytes on the device.
char* at(const char* what, const hr_device* device, hr_slice slice, uint64_t size);

// guard runs f and returns what became of it. Nothing is thrown across the C interface.
template <class F>
hr_status guard(F f) {
  hr_status status{};
  try {
    f();
  } catch (const Failure& failure) {
    status.code = failure.code;
    std::snprintf(status.message, sizeof status.message, "%s", failure.message.c_str());
  } catch (const std::exception& e) {
    status.code = HR_CUDA;
    std::snprintf(status.message, sizeof status.message, "host: %s", e.what());
  }
  return status;
}

}  // namespace headroom
