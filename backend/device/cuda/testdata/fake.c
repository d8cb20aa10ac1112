/* A library with no card: memory is counted and held, and every result is zero bytes. Of all calls since the library was
 * asked for its ABI, the one with the number FAKE_FAULT fails, and with a + behind the number all after it. What is to be
 * freed is gone even then. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../../cuda/include/headroom.h"

enum { TOTAL = 1 << 30, CONTEXT = 64 << 20 }; /* of the card's memory: all, and what the driver has of it */

struct pinned { struct pinned *next; char *memory; uint64_t size; };
struct hr_device {
  pthread_mutex_t mutex;
  hr_memory_book book;
  struct pinned *pinned;
  uint64_t pinnable; /* bytes that may be pinned: FAKE_PINNABLE, else any */
  int handles;
};
struct hr_stream { hr_device *device; };
struct hr_buffer { hr_device *device; uint64_t size; };
struct hr_ntt { hr_device *device; uint64_t size; };

static atomic_int calls;
static int fault; /* the call that fails; 0: none */
static int lost;  /* so do all after it */

static hr_status fine(void) {
  int call = ++calls;
  if (call == fault || (lost && call > fault)) return (hr_status){HR_CUDA, "fault"};
  return (hr_status){HR_OK, ""};
}

static hr_status count(hr_device *d, int64_t size, int handles) {
  hr_status s = fine();
  if (s.code != HR_OK && size + handles > 0) return s;
  pthread_mutex_lock(&d->mutex);
  uint64_t taken = d->book.taken.device + (uint64_t)size;
  if (size > 0 && d->book.cap != 0 && taken > d->book.cap) {
    s.code = HR_MEMORY;
    snprintf(s.message, sizeof s.message, "buffer of %lld bytes: %llu of a cap of %llu are taken", (long long)size,
             (unsigned long long)d->book.taken.device, (unsigned long long)d->book.cap);
  } else {
    d->book.taken.device = taken;
    d->book.free = TOTAL - CONTEXT - taken;
    if (taken > d->book.peak.device) d->book.peak.device = taken;
    d->book.most = CONTEXT + d->book.peak.device;
    d->handles += handles;
  }
  pthread_mutex_unlock(&d->mutex);
  return s;
}

uint32_t hr_abi(void) {
  const char *number = getenv("FAKE_FAULT");
  fault = number == NULL ? 0 : atoi(number);
  lost = number != NULL && strchr(number, '+') != NULL;
  calls = 0;
  return HR_ABI;
}
hr_status hr_open(int32_t card, uint64_t cap, hr_device **device) {
  if (card > 1) return (hr_status){HR_ARGUMENT, "should be 0 to 1"};
  hr_device *d = *device = calloc(1, sizeof **device);
  const char *pinnable = getenv("FAKE_PINNABLE");
  pthread_mutex_init(&d->mutex, NULL);
  d->book.cap = cap, d->book.total = TOTAL;
  d->pinnable = pinnable == NULL ? UINT64_MAX : strtoull(pinnable, NULL, 10);
  return count(d, 0, 0);
}
hr_status hr_close(hr_device *device) {
  if (device->handles != 0) return (hr_status){HR_ARGUMENT, "something is left"};
  free(device);
  return fine();
}
hr_status hr_memory(hr_device *device, hr_memory_book *book) {
  pthread_mutex_lock(&device->mutex);
  *book = device->book;
  pthread_mutex_unlock(&device->mutex);
  return fine();
}
hr_status hr_buffer_new(hr_device *device, uint64_t size, hr_buffer **buffer) {
  hr_status s = count(device, (int64_t)size, 1);
  if (s.code != HR_OK) return s;
  *buffer = malloc(sizeof **buffer);
  **buffer = (hr_buffer){device, size};
  return s;
}
hr_status hr_buffer_free(hr_buffer *buffer) {
  hr_status s = count(buffer->device, -(int64_t)buffer->size, -1);
  free(buffer);
  return s;
}
hr_status hr_pin(hr_device *device, void *memory, uint64_t size) {
  hr_status s = fine();
  if (s.code != HR_OK) return s;
  pthread_mutex_lock(&device->mutex);
  hr_size *taken = &device->book.taken, *peak = &device->book.peak;
  if (taken->pinned + size > device->pinnable) {
    s.code = HR_MEMORY;
    snprintf(s.message, sizeof s.message, "pin %llu bytes beside %llu that are pinned", (unsigned long long)size,
             (unsigned long long)taken->pinned);
  } else {
    struct pinned *p = malloc(sizeof *p);
    *p = (struct pinned){device->pinned, memory, size};
    device->pinned = p;
    device->handles++;
    taken->pinned += size;
    if (taken->pinned > peak->pinned) peak->pinned = taken->pinned;
  }
  pthread_mutex_unlock(&device->mutex);
  return s;
}
hr_status hr_unpin(hr_device *device, void *memory) {
  hr_status s = {HR_ARGUMENT, "not pinned"};
  pthread_mutex_lock(&device->mutex);
  for (struct pinned **at = &device->pinned; *at != NULL; at = &(*at)->next) {
    struct pinned *p = *at;
    if (p->memory != memory) continue;
    p->memory[0] = p->memory[p->size - 1] = 0; /* a fault if it is not mapped any more */
    *at = p->next;
    device->handles--;
    device->book.taken.pinned -= p->size;
    free(p);
    s = fine();
    break;
  }
  pthread_mutex_unlock(&device->mutex);
  return s;
}
hr_status hr_stream_new(hr_device *device, hr_stream **stream) {
  *stream = malloc(sizeof **stream);
  (*stream)->device = device;
  return count(device, 0, 1);
}
hr_status hr_stream_free(hr_stream *stream) {
  hr_status s = count(stream->device, 0, -1);
  free(stream);
  return s;
}
hr_status hr_stream_wait(hr_stream *stream) { return fine(); }
static hr_status within(hr_slice s, uint64_t size) {
  if (s.offset + size > s.buffer->size) return (hr_status){HR_ARGUMENT, "out of the buffer"};
  return fine();
}
hr_status hr_upload(hr_stream *stream, hr_slice to, const void *from, uint64_t size) { return within(to, size); }
hr_status hr_download(hr_stream *stream, void *to, hr_slice from, uint64_t size) {
  for (uint64_t i = 0; i < size; i++) ((char *)to)[i] = 0;
  return within(from, size);
}
hr_status hr_ntt_size(hr_device *device, int32_t log, hr_size *size) {
  *size = (hr_size){UINT64_C(64) << log, 0};
  return fine();
}
hr_status hr_ntt_new(hr_device *device, int32_t log, hr_ntt **ntt) {
  hr_status s = count(device, INT64_C(64) << log, 1);
  if (s.code != HR_OK) return s;
  *ntt = malloc(sizeof **ntt);
  **ntt = (hr_ntt){device, UINT64_C(64) << log};
  return s;
}
hr_status hr_ntt_free(hr_ntt *ntt) {
  hr_status s = count(ntt->device, -(int64_t)ntt->size, -1);
  free(ntt);
  return s;
}
hr_status hr_ntt_run(hr_stream *stream, hr_ntt *ntt, hr_transform transform, hr_slice data) { return fine(); }
hr_status hr_quotient(hr_stream *stream, hr_ntt *ntt, hr_slice a, hr_slice b, hr_slice c) { return fine(); }
hr_status hr_msm_size(hr_device *device, hr_group group, uint64_t n, hr_size *workspace) {
  *workspace = (hr_size){256 * n, 0};
  return fine();
}
hr_status hr_msm(hr_stream *stream, hr_group group, hr_slice points, hr_slice scalars, hr_form form, uint64_t n,
                 hr_slice workspace, hr_slice result) {
  return within(workspace, 256 * n);
}
hr_status hr_multiples_size(hr_device *device, hr_group group, hr_size *workspace) {
  *workspace = (hr_size){1024, 0};
  return fine();
}
hr_status hr_multiples(hr_stream *stream, hr_group group, hr_slice base, hr_slice scalars, hr_form form, uint64_t n,
                       hr_slice workspace, hr_slice points) {
  return fine();
}
