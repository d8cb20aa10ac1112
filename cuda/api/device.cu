// Devices, memory, streams and copies.
#include <algorithm>

#include "../msm/msm.cuh"
#include "handles.h"

namespace headroom {

void check(const char* what, cudaError_t error) {
  if (error == cudaSuccess) return;
  const int32_t code = error == cudaErrorMemoryAllocation ? HR_MEMORY : HR_CUDA;
  throw Failure{code, std::string(what) + ": CUDA error " + std::to_string(error) + ": " + cudaGetErrorString(error)};
}

void require(bool condition, const std::string& message) {
  if (!condition) throw Failure{HR_ARGUMENT, message};
}

void use(const hr_device* device) { check("use the card", cudaSetDevice(device->card)); }

char* at(const char* what, const hr_device* device, hr_slice slice, uint64_t size) {
  require(slice.buffer != nullptr && slice.buffer->device == device,
          std::string(what) + " is not on the stream's device");
  const uint64_t whole = slice.buffer->size;
  require(slice.offset % 16 == 0, std::string(what) + " begins at " + std::to_string(slice.offset) +
                                      " bytes: should be a multiple of 16");
  require(slice.offset <= whole && size <= whole - slice.offset,
          std::string(what) + " needs " + std::to_string(size) + " bytes from " + std::to_string(slice.offset) +
              ", and the buffer has " + std::to_string(whole));
  return slice.buffer->memory + slice.offset;
}

namespace {

// reserve notes that the device takes memory, if the cap allows.
void reserve(hr_device* device, uint64_t size) {
  std::lock_guard<std::mutex> lock(device->mutex);
  if (device->cap != 0 && (size > device->cap || device->taken.device > device->cap - size))
    throw Failure{HR_MEMORY, "buffer of " + std::to_string(size) + " bytes: " + std::to_string(device->taken.device) +
                                 " of a cap of " + std::to_string(device->cap) + " are taken"};
  device->taken.device += size;
  device->handles++;
}

void release(hr_device* device, uint64_t size) {
  std::lock_guard<std::mutex> lock(device->mutex);
  device->taken.device -= size;
  device->handles--;
}

// at_peak reports whether no less is taken than ever before, and notes it.
bool at_peak(hr_device* device) {
  std::lock_guard<std::mutex> lock(device->mutex);
  if (device->taken.device < device->peak.device) return false;
  device->peak.device = device->taken.device;
  return true;
}

// look reads how much of the card is free, of how much, and notes the most that was not.
cudaError_t look(hr_device* device, size_t* free, size_t* total) {
  const cudaError_t error = cudaMemGetInfo(free, total);
  if (error != cudaSuccess) return error;
  std::lock_guard<std::mutex> lock(device->mutex);
  device->most = std::max<uint64_t>(device->most, *total - *free);
  return error;
}

}  // namespace
}  // namespace headroom

using namespace headroom;

uint32_t hr_abi(void) { return HR_ABI; }

hr_status hr_open(int32_t card, uint64_t cap, hr_device** device) {
  return guard([&] {
    int cards = 0;
    check("count the cards", cudaGetDeviceCount(&cards));
    require(card >= 0 && card < cards,
            "card " + std::to_string(card) + ": should be 0 to " + std::to_string(cards - 1));
    auto opened = new hr_device{};
    opened->card = card;
    opened->cap = cap;
    try {
      use(opened);
      opened->segments_g1 = g1.parallel();
      opened->segments_g2 = g2.parallel();
      check("open the card", cudaGetLastError());
      require(opened->segments_g1 > 0 && opened->segments_g2 > 0, "the library has no kernels for this card");
    } catch (...) {
      delete opened;
      throw;
    }
    *device = opened;
  });
}

hr_status hr_close(hr_device* device) {
  return guard([&] {
    const int left = device->streams + device->handles + static_cast<int>(device->pinned.size());
    require(left == 0, "close: " + std::to_string(left) + " buffers, factors, streams or pinned blocks are left");
    delete device;
  });
}

hr_status hr_memory(hr_device* device, hr_memory_book* book) {
  return guard([&] {
    use(device);
    size_t free = 0, total = 0;
    check("ask for memory", look(device, &free, &total));
    std::lock_guard<std::mutex> lock(device->mutex);
    *book = {device->taken, device->peak, device->cap, total, free, device->most};
  });
}

hr_status hr_buffer_new(hr_device* device, uint64_t size, hr_buffer** buffer) {
  return guard([&] {
    require(size > 0, "buffer of 0 bytes: should be at least 1");
    use(device);
    reserve(device, size);
    void* memory = nullptr;
    size_t free = 0, total = 0;
    const cudaError_t error = cudaMalloc(&memory, size);
    if (error != cudaSuccess) {
      release(device, size);
      cudaGetLastError();  // The error is this call's, not the next one's.
      cudaMemGetInfo(&free, &total);
      check(("buffer of " + std::to_string(size) + " bytes, " + std::to_string(free) + " free").c_str(), error);
    }
    *buffer = new hr_buffer{device, size, static_cast<char*>(memory)};
    if (at_peak(device)) look(device, &free, &total);  // What fails here the next call reports.
  });
}

hr_status hr_buffer_free(hr_buffer* buffer) {
  return guard([&] {
    use(buffer->device);
    check("free a buffer", cudaFree(buffer->memory));
    release(buffer->device, buffer->size);
    delete buffer;
  });
}

hr_status hr_pin(hr_device* device, void* memory, uint64_t size) {
  return guard([&] {
    require(memory != nullptr && size > 0, "memory to be pinned has 0 bytes: should have at least 1");
    use(device);
    const cudaError_t error = cudaHostRegister(memory, size, cudaHostRegisterPortable);
    std::lock_guard<std::mutex> lock(device->mutex);
    if (error != cudaSuccess) {
      cudaGetLastError();  // The error is this call's, not the next one's.
      const std::string beside = std::to_string(device->taken.pinned);
      check(("pin " + std::to_string(size) + " bytes beside " + beside + " that are pinned").c_str(), error);
    }
    device->pinned[memory] = size;
    device->taken.pinned += size;
    device->peak.pinned = std::max(device->peak.pinned, device->taken.pinned);
  });
}

hr_status hr_unpin(hr_device* device, void* memory) {
  return guard([&] {
    use(device);
    std::lock_guard<std::mutex> lock(device->mutex);
    const auto block = device->pinned.find(memory);
    require(block != device->pinned.end(), "memory to be unpinned is not pinned by the device");
    check("unpin memory", cudaHostUnregister(memory));
    device->taken.pinned -= block->second;
    device->pinned.erase(block);
  });
}

hr_status hr_stream_new(hr_device* device, hr_stream** stream) {
  return guard([&] {
    use(device);
    cudaStream_t made;
    check("make a stream", cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
    std::lock_guard<std::mutex> lock(device->mutex);
    device->streams++;
    *stream = new hr_stream{device, made};
  });
}

hr_status hr_stream_free(hr_stream* stream) {
  return guard([&] {
    use(stream->device);
    check("end a stream", cudaStreamDestroy(stream->stream));
    std::lock_guard<std::mutex> lock(stream->device->mutex);
    stream->device->streams--;
    delete stream;
  });
}

hr_status hr_stream_wait(hr_stream* stream) {
  return guard([&] {
    use(stream->device);
    check("wait for the stream", cudaStreamSynchronize(stream->stream));
  });
}

hr_status hr_upload(hr_stream* stream, hr_slice to, const void* from, uint64_t size) {
  return guard([&] {
    use(stream->device);
    char* memory = at("the target", stream->device, to, size);
    check("upload", cudaMemcpyAsync(memory, from, size, cudaMemcpyHostToDevice, stream->stream));
  });
}

hr_status hr_download(hr_stream* stream, void* to, hr_slice from, uint64_t size) {
  return guard([&] {
    use(stream->device);
    const char* memory = at("the source", stream->device, from, size);
    check("download", cudaMemcpyAsync(to, memory, size, cudaMemcpyDeviceToHost, stream->stream));
  });
}
