//go:build linux && cgo

package cuda

/*
#cgo CFLAGS: -I${SRCDIR}/../../../cuda/include
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include "headroom.h"

// HR_ALL names every function of the library.
#define HR_ALL(F) F(hr_open) F(hr_close) F(hr_memory) F(hr_buffer_new) F(hr_buffer_free) F(hr_pin) \
	F(hr_unpin) F(hr_stream_new) F(hr_stream_free) F(hr_stream_wait) F(hr_upload) F(hr_download) \
	F(hr_ntt_size) F(hr_ntt_new) F(hr_ntt_free) F(hr_ntt_run) F(hr_quotient) F(hr_msm_size) F(hr_msm) \
	F(hr_multiples_size) F(hr_multiples)

typedef struct {
#define FIELD(name) __typeof__(name) *name;
	HR_ALL(FIELD)
} table;

// open_library loads the file and asks for its ABI before anything else of it is used. It returns what went wrong.
static const char *open_library(const char *path, void **library, uint32_t *abi) {
	*library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (*library == NULL) return dlerror();
	uint32_t (*ask)(void) = (uint32_t (*)(void))dlsym(*library, "hr_abi");
	if (ask == NULL) return dlerror();
	*abi = ask();
	return NULL;
}

static const char *fill(void *library, table *t) {
#define FIND(name) if ((t->name = (__typeof__(name) *)dlsym(library, #name)) == NULL) return dlerror();
	HR_ALL(FIND)
	return NULL;
}

// Go cannot call through a pointer to a function.
static hr_status do_open(table *t, int32_t card, uint64_t cap, hr_device **d) {
	return t->hr_open(card, cap, d);
}
static hr_status do_close(table *t, void *d) { return t->hr_close(d); }
static hr_status do_memory(table *t, void *d, hr_memory_book *b) { return t->hr_memory(d, b); }
static hr_status do_buffer_new(table *t, void *d, uint64_t n, hr_buffer **b) {
	return t->hr_buffer_new(d, n, b);
}
static hr_status do_buffer_free(table *t, void *b) { return t->hr_buffer_free(b); }
static hr_status do_pin(table *t, void *d, void *m, uint64_t n) { return t->hr_pin(d, m, n); }
static hr_status do_unpin(table *t, void *d, void *m) { return t->hr_unpin(d, m); }
static hr_status do_stream_new(table *t, void *d, hr_stream **s) { return t->hr_stream_new(d, s); }
static hr_status do_stream_free(table *t, void *s) { return t->hr_stream_free(s); }
static hr_status do_stream_wait(table *t, void *s) { return t->hr_stream_wait(s); }
static hr_status do_upload(table *t, void *s, hr_slice to, void *from, uint64_t n) {
	return t->hr_upload(s, to, from, n);
}
static hr_status do_download(table *t, void *s, void *to, hr_slice from, uint64_t n) {
	return t->hr_download(s, to, from, n);
}
static hr_status do_ntt_size(table *t, void *d, int32_t log, hr_size *z) { return t->hr_ntt_size(d, log, z); }
static hr_status do_ntt_new(table *t, void *d, int32_t log, hr_ntt **n) { return t->hr_ntt_new(d, log, n); }
static hr_status do_ntt_free(table *t, void *n) { return t->hr_ntt_free(n); }
static hr_status do_ntt_run(table *t, void *s, void *n, int32_t k, hr_slice v) {
	return t->hr_ntt_run(s, n, k, v);
}
static hr_status do_quotient(table *t, void *s, void *n, hr_slice a, hr_slice b, hr_slice c) {
	return t->hr_quotient(s, n, a, b, c);
}
static hr_status do_msm_size(table *t, void *d, int32_t g, uint64_t n, hr_size *z) {
	return t->hr_msm_size(d, g, n, z);
}
static hr_status do_msm(table *t, void *s, int32_t g, hr_slice p, hr_slice k, uint64_t n, hr_slice w, hr_slice r) {
	return t->hr_msm(s, g, p, k, HR_MONTGOMERY, n, w, r);
}
static hr_status do_multiples_size(table *t, void *d, int32_t g, hr_size *z) {
	return t->hr_multiples_size(d, g, z);
}
static hr_status do_multiples(table *t, void *s, int32_t g, hr_slice b, hr_slice k, uint64_t n, hr_slice w, hr_slice p) {
	return t->hr_multiples(s, g, b, k, HR_MONTGOMERY, n, w, p);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"headroom/model"
)

// functions is the library's table. It lives as long as the program: a library that has used a card cannot be unloaded.
type functions struct{ table *C.table }

// load loads the library at the path.
func load(path string) (functions, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var library unsafe.Pointer
	var abi C.uint32_t
	if fault := C.open_library(name, &library, &abi); fault != nil {
		return functions{}, fmt.Errorf("%s: %s", C.GoString(fault), build)
	}
	if abi != C.HR_ABI {
		return functions{}, fmt.Errorf("it has ABI %d, this program wants %d: %s", abi, C.HR_ABI, build)
	}
	f := functions{(*C.table)(C.calloc(1, C.sizeof_table))}
	if fault := C.fill(library, f.table); fault != nil {
		return functions{}, errors.New(C.GoString(fault))
	}
	return f, nil
}

// check turns a status into an error.
func check(op string, s C.hr_status) error {
	if s.code == C.HR_OK {
		return nil
	}
	return &Error{op, int(s.code), C.GoString(&s.message[0])}
}

func (s Slice) c() C.hr_slice {
	return C.hr_slice{(*C.hr_buffer)(s.Buffer.handle), C.uint64_t(s.Offset)}
}

func sizeOf(s C.hr_size) Size { return Size{model.Bytes(s.device), model.Bytes(s.pinned)} }

func (f functions) open(card int, cap model.Bytes) (unsafe.Pointer, error) {
	var d *C.hr_device
	err := check(fmt.Sprintf("open card %d", card), C.do_open(f.table, C.int32_t(card), C.uint64_t(cap), &d))
	return unsafe.Pointer(d), err
}

func (f functions) close(card unsafe.Pointer) error {
	return check("close the card", C.do_close(f.table, card))
}

func (f functions) memory(card unsafe.Pointer) (Book, error) {
	var b C.hr_memory_book
	err := check("ask for memory", C.do_memory(f.table, card, &b))
	return Book{
		Taken: sizeOf(b.taken), Peak: sizeOf(b.peak), Cap: model.Bytes(b.cap),
		Total: model.Bytes(b.total), Free: model.Bytes(b.free), Most: model.Bytes(b.most),
	}, err
}

func (f functions) newBuffer(card unsafe.Pointer, size model.Bytes) (unsafe.Pointer, error) {
	var b *C.hr_buffer
	err := check(fmt.Sprintf("allocate %v", size), C.do_buffer_new(f.table, card, C.uint64_t(size), &b))
	return unsafe.Pointer(b), err
}

func (f functions) freeBuffer(buffer unsafe.Pointer) error {
	return check("free a buffer", C.do_buffer_free(f.table, buffer))
}

func (f functions) pin(card unsafe.Pointer, memory []byte) error {
	start := unsafe.Pointer(unsafe.SliceData(memory))
	return check(fmt.Sprintf("pin %v", model.Bytes(len(memory))), C.do_pin(f.table, card, start, C.uint64_t(len(memory))))
}

func (f functions) unpin(card unsafe.Pointer, memory []byte) error {
	return check("unpin memory", C.do_unpin(f.table, card, unsafe.Pointer(unsafe.SliceData(memory))))
}

func (f functions) newStream(card unsafe.Pointer) (unsafe.Pointer, error) {
	var s *C.hr_stream
	err := check("make a stream", C.do_stream_new(f.table, card, &s))
	return unsafe.Pointer(s), err
}

func (f functions) freeStream(stream unsafe.Pointer) error {
	return check("end a stream", C.do_stream_free(f.table, stream))
}

func (f functions) wait(stream unsafe.Pointer) error {
	return check("wait", C.do_stream_wait(f.table, stream))
}

func (f functions) upload(stream unsafe.Pointer, to Slice, from []byte) error {
	data := unsafe.Pointer(unsafe.SliceData(from))
	return check("upload", C.do_upload(f.table, stream, to.c(), data, C.uint64_t(len(from))))
}

func (f functions) download(stream unsafe.Pointer, to []byte, from Slice) error {
	data := unsafe.Pointer(unsafe.SliceData(to))
	return check("download", C.do_download(f.table, stream, data, from.c(), C.uint64_t(len(to))))
}

func (f functions) nttSize(card unsafe.Pointer, log int) (Size, error) {
	var s C.hr_size
	err := check("size of factors", C.do_ntt_size(f.table, card, C.int32_t(log), &s))
	return sizeOf(s), err
}

func (f functions) newNTT(card unsafe.Pointer, log int) (unsafe.Pointer, error) {
	var n *C.hr_ntt
	err := check(fmt.Sprintf("factors of 2^%d", log), C.do_ntt_new(f.table, card, C.int32_t(log), &n))
	return unsafe.Pointer(n), err
}

func (f functions) freeNTT(ntt unsafe.Pointer) error {
	return check("free factors", C.do_ntt_free(f.table, ntt))
}

func (f functions) transform(stream, ntt unsafe.Pointer, t Transform, data Slice) error {
	return check("transform", C.do_ntt_run(f.table, stream, ntt, C.int32_t(t), data.c()))
}

func (f functions) quotient(stream, ntt unsafe.Pointer, a, b, c Slice) error {
	return check("quotient", C.do_quotient(f.table, stream, ntt, a.c(), b.c(), c.c()))
}

func (f functions) msmSize(card unsafe.Pointer, g Group, n int) (Size, error) {
	var s C.hr_size
	err := check("size of an MSM", C.do_msm_size(f.table, card, C.int32_t(g), C.uint64_t(n), &s))
	return sizeOf(s), err
}

func (f functions) msm(stream unsafe.Pointer, g Group, points, scalars Slice, n int, workspace, result Slice) error {
	return check("MSM", C.do_msm(
		f.table, stream, C.int32_t(g), points.c(), scalars.c(), C.uint64_t(n), workspace.c(), result.c()))
}

func (f functions) multiplesSize(card unsafe.Pointer, g Group) (Size, error) {
	var s C.hr_size
	err := check("size of multiples", C.do_multiples_size(f.table, card, C.int32_t(g), &s))
	return sizeOf(s), err
}

func (f functions) multiples(stream unsafe.Pointer, g Group, base, scalars Slice, n int, work, points Slice) error {
	return check("multiples", C.do_multiples(
		f.table, stream, C.int32_t(g), base.c(), scalars.c(), C.uint64_t(n), work.c(), points.c()))
}
