/* headroom's GPU library: transforms over the scalar field of BLS12-381 and multi-scalar multiplication in its groups.
 *
 * Field elements and points have gnark-crypto's memory: little-endian words, in Montgomery form; an affine point of
 * (0, 0) is infinity. Sizes and offsets are bytes, counts are elements or points, all 64-bit.
 *
 * Device memory is taken by hr_buffer_new and hr_ntt_new alone; what an operation needs beside its arguments is a
 * workspace that the caller brings, of the size that its query names. So what is taken is always known, and a cap on it
 * makes any card a small one.
 *
 * Functions that take a stream enqueue work and return; hr_stream_wait reports what failed on the way. A device may be
 * used by several threads, a stream, a buffer or factors by one at a time. */
#ifndef HEADROOM_H
#define HEADROOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* HR_ABI changes whenever this header changes meaning. */
#define HR_ABI 2

/* hr_status is the outcome of a call. message is empty where code is HR_OK; else it says what failed, the value and
 * what would be right. */
typedef struct {
  int32_t code;
  char message[252];
} hr_status;

enum {
  HR_OK = 0,
  HR_ARGUMENT = 1, /* an argument is out of its range */
  HR_MEMORY = 2,   /* the card, the cap or the host has too little memory left */
  HR_CUDA = 3      /* the card or its driver failed: message has CUDA's word for it */
};

typedef struct hr_device hr_device; /* a card in use */
typedef struct hr_stream hr_stream; /* an order of work on a card */
typedef struct hr_buffer hr_buffer; /* memory on a card */
typedef struct hr_ntt hr_ntt;       /* the factors of transforms of one size */

/* hr_slice is a part of a buffer: what begins at the offset. */
typedef struct {
  hr_buffer *buffer;
  uint64_t offset;
} hr_slice;

/* hr_size is what something takes. */
typedef struct {
  uint64_t device; /* bytes of the card's memory */
  uint64_t pinned; /* bytes of page-locked host memory */
} hr_size;

/* hr_memory_book is what a device has taken, and what its driver shows of the card. What others hold there is in it:
 * the driver's own context, and other programs. */
typedef struct {
  hr_size taken, peak;
  uint64_t cap;   /* on taken.device; 0 means none */
  uint64_t total; /* bytes of the card's memory */
  uint64_t free;  /* of them, bytes that nobody has */
  uint64_t most;  /* of them, the most bytes that somebody had since hr_open: at a peak and whenever it was asked for */
} hr_memory_book;

/* hr_abi returns the HR_ABI that the library was built with. Ask it first. */
uint32_t hr_abi(void);

/* hr_open begins to use the card with a number, 0 for the first. cap bounds the memory of buffers and factors; 0 means
 * the card's own bound. */
hr_status hr_open(int32_t card, uint64_t cap, hr_device **device);

/* hr_close ends it. It is an error while something of the device is left. */
hr_status hr_close(hr_device *device);

hr_status hr_memory(hr_device *device, hr_memory_book *book);

hr_status hr_buffer_new(hr_device *device, uint64_t size, hr_buffer **buffer);
hr_status hr_buffer_free(hr_buffer *buffer);

/* hr_pin locks host memory of the caller's for the copies of all cards: they are fast and asynchronous then. It must stay
 * mapped until hr_unpin, which is told where it begins. */
hr_status hr_pin(hr_device *device, void *memory, uint64_t size);
hr_status hr_unpin(hr_device *device, void *memory);

hr_status hr_stream_new(hr_device *device, hr_stream **stream);
hr_status hr_stream_free(hr_stream *stream);

/* hr_stream_wait blocks until all enqueued work is over. */
hr_status hr_stream_wait(hr_stream *stream);

/* Copies. From and to memory that is not pinned they block; what is pinned must stay as it is until hr_stream_wait. */
hr_status hr_upload(hr_stream *stream, hr_slice to, const void *from, uint64_t size);
hr_status hr_download(hr_stream *stream, void *to, hr_slice from, uint64_t size);

/* hr_ntt_size is what hr_ntt_new takes for transforms of 2^log values, log from 0 to HR_NTT_MAX_LOG. */
#define HR_NTT_MAX_LOG 28
hr_status hr_ntt_size(hr_device *device, int32_t log, hr_size *size);
hr_status hr_ntt_new(hr_device *device, int32_t log, hr_ntt **ntt);
hr_status hr_ntt_free(hr_ntt *ntt);

/* The transforms, in place: those that gnark's prover makes. A coset is that of the generator 7. */
typedef enum {
  HR_INVERSE = 0,       /* values in natural order to coefficients in bit-reversed order */
  HR_COSET_FORWARD = 1, /* coefficients in bit-reversed order to values on the coset in natural order */
  HR_COSET_INVERSE = 2  /* values on the coset in natural order to coefficients in bit-reversed order */
} hr_transform;
hr_status hr_ntt_run(hr_stream *stream, hr_ntt *ntt, hr_transform transform, hr_slice data);

/* hr_quotient computes h = (a b - c) / (X^n - 1) from the values of a, b and c on the domain: into a, in bit-reversed
 * order, which is that of the points of gnark's proving key. b and c are overwritten. */
hr_status hr_quotient(hr_stream *stream, hr_ntt *ntt, hr_slice a, hr_slice b, hr_slice c);

typedef enum { HR_G1 = 1, HR_G2 = 2 } hr_group;

/* hr_form is how scalars are given: gnark's elements, or plain integers below the modulus. */
typedef enum { HR_PLAIN = 0, HR_MONTGOMERY = 1 } hr_form;

/* hr_msm computes the sum of scalar times point for n of each, 1 to HR_MSM_MAX_POINTS: one Jacobian point (144 bytes in
 * G1, 288 in G2; z = 0 is infinity). hr_msm_size is the workspace that it needs. */
#define HR_MSM_MAX_POINTS (UINT64_C(1) << 26)
hr_status hr_msm_size(hr_device *device, hr_group group, uint64_t n, hr_size *workspace);
hr_status hr_msm(hr_stream *stream, hr_group group, hr_slice points, hr_slice scalars, hr_form form, uint64_t n,
                 hr_slice workspace, hr_slice result);

/* hr_multiples computes scalar times base, n times: affine points. hr_multiples_size is the workspace that it needs. */
hr_status hr_multiples_size(hr_device *device, hr_group group, hr_size *workspace);
hr_status hr_multiples(hr_stream *stream, hr_group group, hr_slice base, hr_slice scalars, hr_form form, uint64_t n,
                       hr_slice workspace, hr_slice points);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
