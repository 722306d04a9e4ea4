//go:build !cpython

package numpybridge

/*
#include <stdlib.h>
#include "protocol.h"

static void add_number(const void *how, void *into, const void *from) { *(int64_t *)into += *(const int64_t *)from; }
static dtl_combiner adder(void) { return add_number; }
*/
import "C"

import (
	"reflect"
	"unsafe"

	"dtl/core/board"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/rma"
)

// protocol.h for protocol_test.go, since a test file cannot use C. The extension is built without this file.

// cStructs are the layouts that C and Go share.
var cStructs = map[string]reflect.Type{
	"dtl_arrival":      reflect.TypeFor[C.dtl_arrival](),
	"dtl_board":        reflect.TypeFor[C.dtl_board](),
	"dtl_ahead":        reflect.TypeFor[C.dtl_ahead](),
	"dtl_ring":         reflect.TypeFor[C.dtl_ring](),
	"dtl_long_payload": reflect.TypeFor[C.dtl_long_payload](),
	"dtl_entry":        reflect.TypeFor[C.dtl_entry](),
	"dtl_call_laid":    reflect.TypeFor[C.dtl_call_laid](),
	"dtl_group":        reflect.TypeFor[C.dtl_group](),
	"dtl_target":       reflect.TypeFor[C.dtl_target](),
	"dtl_window":       reflect.TypeFor[C.dtl_window](),
	"dtl_request_peek": reflect.TypeFor[C.dtl_request_peek](),
}

var cConstants = map[string]int{
	"DTL_NDARRAY": C.DTL_NDARRAY, "DTL_NUMPY_SCALAR": C.DTL_NUMPY_SCALAR, "DTL_PYTHON_SCALAR": C.DTL_PYTHON_SCALAR,
	"DTL_OBJECT": C.DTL_OBJECT, "DTL_ALONG": C.DTL_ALONG, "DTL_APART": C.DTL_APART, "DTL_OFFERED": C.DTL_OFFERED,
	"DTL_MAX_DIMS": C.DTL_MAX_DIMS, "DTL_HEADER_FIXED": C.DTL_HEADER_FIXED, "DTL_HEADER_MAX": C.DTL_HEADER_MAX,
	"DTL_SUM": C.DTL_SUM, "DTL_PROD": C.DTL_PROD, "DTL_OPERATORS": C.DTL_OPERATORS, "DTL_BYTES": C.DTL_BYTES,
	"DTL_EAGER": C.DTL_EAGER, "DTL_OUTSIDE_GO": C.DTL_OUTSIDE_GO, "DTL_ENTRY_BYTES": C.DTL_ENTRY_BYTES,
	"DTL_PAYLOAD_BYTES": C.DTL_PAYLOAD_BYTES, "DTL_REACHED": C.DTL_REACHED, "DTL_NO_TARGET": C.DTL_NO_TARGET,
	"DTL_NO_EPOCH": C.DTL_NO_EPOCH, "DTL_OUTSIDE": C.DTL_OUTSIDE, "DTL_UNFENCED": C.DTL_UNFENCED, "DTL_FENCED": C.DTL_FENCED,
	"DTL_FENCE_USED": C.DTL_FENCE_USED, "DTL_UNLOCKED": C.DTL_UNLOCKED, "DTL_SHARED": C.DTL_SHARED, "DTL_EXCLUSIVE": C.DTL_EXCLUSIVE,
	"DTL_TYPE_NUMBERS": C.DTL_TYPE_NUMBERS, "DTL_ENTRIES_KEPT": C.DTL_ENTRIES_KEPT,
	"DTL_MOST_PAYLOAD_BYTES": C.DTL_MOST_PAYLOAD_BYTES, "DTL_RING_PARTS": C.DTL_RING_PARTS, "DTL_SLICES_FROM": C.DTL_SLICES_FROM,
	"DTL_ANNEX_RANKS": C.DTL_ANNEX_RANKS,
	"DTL_FOR_ALL":     C.DTL_FOR_ALL,
	"DTL_FOR_NONE":    C.DTL_FOR_NONE, "DTL_FOR_ROOT": C.DTL_FOR_ROOT, "DTL_TOGETHER": C.DTL_TOGETHER,
	"DTL_GROUP_SIZE": C.DTL_GROUP_SIZE, "DTL_COUNT_BITS": C.DTL_COUNT_BITS, "DTL_DIFFER": C.DTL_DIFFER, "DTL_AGREE": C.DTL_AGREE,
	"DTL_COMBINED": C.DTL_COMBINED,
}

// cFingerprint returns what C makes of a signature, whose operator is the op-th, if there is one.
func cFingerprint(s wire.Signature, op int) (fingerprint, elementsHash uint64) {
	b := C.dtl_signature{op: -1, _type: C.int64_t(s.Type), count: C.int64_t(s.Count), root: C.int64_t(s.Root)}
	if s.Operator != "" {
		b.op = C.int64_t(op)
	}
	if s.ElementsOptional {
		b.elements_optional = 1
	}
	return uint64(C.dtl_fingerprint(&b, C.uint64_t(wire.Hash(s.Op)), C.uint64_t(wire.Hash(s.Operator)))), uint64(C.dtl_elements_hash(&b))
}

// cPutHeader encodes a header in C.
func cPutHeader(h wire.Header, way byte) []byte {
	var into [wire.MaxHeaderBytes]byte
	shape := append([]int64{}, h.Shape...)
	c := C.dtl_header{
		kind: C.int32_t(h.Kind), _type: C.int32_t(h.Type), ndim: C.int32_t(len(shape)), way: C.int32_t(way),
		number: C.uint32_t(h.Number),
	}
	n := C.dtl_header_put((*C.char)(unsafe.Pointer(&into)), &c, (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(shape))))
	return into[:n]
}

// cGetHeader is wire.ParseHeader and wire.CountIn in C.
func cGetHeader(b []byte) (h wire.Header, count int, way byte, ok bool) {
	var sizes [C.DTL_TYPE_NUMBERS]C.uint8_t
	for _, t := range dtype.All() {
		sizes[t] = C.uint8_t(t.Size())
	}
	var c C.dtl_header
	from := (*C.char)(unsafe.Pointer(unsafe.SliceData(append(b, 0))))
	if C.dtl_header_get(from, C.int64_t(len(b)), &sizes[0], &c) == 0 {
		return wire.Header{}, 0, 0, false
	}
	h = wire.Header{Kind: wire.Kind(c.kind), Type: dtype.Type(c._type), Number: uint32(c.number), Shape: []int64{}}
	for i := range c.ndim {
		h.Shape = append(h.Shape, int64(C.dtl_header_extent(from, C.int(i))))
	}
	return h, int(c.count), byte(c.way), true
}

// cBoard is a board as C sees it.
type cBoard struct {
	at         *C.dtl_board
	rank, size C.int
}

func inC(b *board.Board, rank, size int) cBoard {
	at := b.OpenFastPath(1, 1, board.MaxPayload, true, board.Messages{})
	return cBoard{(*C.dtl_board)(at), C.int(rank), C.int(size)}
}

func (b cBoard) lay(fingerprint, elementsHash uint64, waits board.Waits, root int, head, elements []byte) {
	C.dtl_lay_down(b.at, b.rank, C.uint64_t(fingerprint), C.uint64_t(elementsHash), C.int(waits), C.int(root),
		unsafe.Pointer(unsafe.SliceData(head)), C.int(len(head)), unsafe.Pointer(unsafe.SliceData(elements)), C.int(len(elements)))
}

func (b cBoard) describe(c board.Call) {
	signature := C.dtl_signature{_type: C.int64_t(c.Type), count: C.int64_t(c.Count), root: C.int64_t(c.Root)}
	C.dtl_describe(b.at, b.rank, &signature, C.uint64_t(c.Operation), C.uint64_t(c.Operator))
}

func (b cBoard) makeRoom(waits board.Waits, bytes int) bool {
	return C.dtl_make_room(b.at, b.rank, b.size, C.int(waits), C.int(bytes)) != 0
}

func (b cBoard) learn(rank int) { C.dtl_learn(b.at, C.dtl_entry_of(b.at, C.int(rank))) }

func (b cBoard) agrees(rank int) bool {
	return C.dtl_agree(C.dtl_entry_of(b.at, b.rank), C.dtl_entry_of(b.at, C.int(rank))) != 0
}

// comeTogether adds numbers where adds says so.
func (b cBoard) comeTogether(adds bool) {
	var combine C.dtl_combiner
	if adds {
		combine = C.adder()
	}
	C.dtl_come_together(b.at, b.rank, b.size, combine, nil)
}

// together returns what the ranks have combined, if they have and agree.
func (b cBoard) together() (there, agreed bool, number int64) {
	if there = C.dtl_together(b.at) != 0; there {
		agreed = C.dtl_together_agree(b.at) != 0
	}
	if at := C.dtl_combination(b.at); at != nil {
		number = *(*int64)(unsafe.Pointer(at))
	}
	return there, agreed, number
}

// kept is what a rank keeps of its meetings.
type kept struct {
	seq, floor, history uint64
	payloads, longer    C.dtl_ring
}

func (b cBoard) kept() kept {
	return kept{uint64(b.at.seq), uint64(b.at.floor), uint64(b.at.history), b.at.payloads, b.at.longer}
}

// keep has the payload of the last meeting but one stay.
func (b cBoard) keep() { C.dtl_keep(b.at) }

func (b cBoard) arrived(rank int) bool { return C.dtl_arrived(b.at, C.int(rank)) != 0 }

func (b cBoard) payload(rank int) []byte {
	var n C.int
	return C.GoBytes(unsafe.Pointer(C.dtl_payload(b.at, C.int(rank), &n)), n)
}

func (b cBoard) agree() bool { return C.dtl_all_agree(b.at, b.size) != 0 }

// part is what a window's rank knows of one target.
type part struct {
	bytes int64
	held  int32
}

// reaches says what C and what Go make of one access to a window, each with what it leaves of the fence.
func reaches(fence, everywhere int32, parts []part, target, offset, bytes int64) (inC, inGo rma.Reach, afterC, afterGo int32) {
	w := (*C.dtl_window)(C.calloc(1, C.sizeof_dtl_window))
	targets := (*C.dtl_target)(C.calloc(C.size_t(len(parts)), C.sizeof_dtl_target))
	defer C.free(unsafe.Pointer(w))
	defer C.free(unsafe.Pointer(targets))
	for i, t := range unsafe.Slice(targets, len(parts)) {
		t.bytes, t.held = C.int64_t(parts[i].bytes), C.int32_t(parts[i].held)
		unsafe.Slice(targets, len(parts))[i] = t
	}
	w.size, w.everywhere, w.targets = C.int32_t(len(parts)), C.int32_t(everywhere), targets
	w.fence = C.int32_t(fence)
	inC = rma.Reach(C.dtl_window_reach(w, C.int64_t(target), C.int64_t(offset), C.int64_t(bytes)))
	afterC, w.fence = int32(w.fence), C.int32_t(fence)
	local, seen := (*rma.Local)(unsafe.Pointer(w)), unsafe.Slice((*rma.Target)(unsafe.Pointer(targets)), len(parts))
	return inC, local.Reach(seen, target, offset, bytes), afterC, int32(w.fence)
}
