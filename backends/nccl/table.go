package nccl

/*
#include <stdlib.h>
#include "library.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"dtl/backends/internal/dl"
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// table holds the library's functions. It is never freed.
type table struct {
	library *dl.Library
	number  int // the version's
	c       *C.nccl_table
}

// symbols returns NCCL's names of the functions, in the table's order.
func symbols() (names []string) {
	for i := C.int(0); C.nccl_symbol(i) != nil; i++ {
		names = append(names, C.GoString(C.nccl_symbol(i)))
	}
	return names
}

// newTable finds every function, or says which one is missing.
func newTable(library *dl.Library) (*table, error) {
	t := &table{library: library, c: (*C.nccl_table)(C.calloc(1, C.sizeof_nccl_table))}
	for i, name := range symbols() {
		function, err := library.Symbol(name)
		if err != nil {
			C.free(unsafe.Pointer(t.c))
			return nil, status.New(status.BackendUnavailable, "NCCL found (%s), which is too old: it has no %s", library.Path(), name)
		}
		C.nccl_set(t.c, C.int(i), function)
	}
	var v C.int
	if rc := C.nccl_get_version(t.c, &v); rc != success {
		err := status.New(status.BackendUnavailable, "NCCL found (%s), but ncclGetVersion failed: %s", library.Path(), t.explain(int(rc), nil))
		C.free(unsafe.Pointer(t.c))
		return nil, err
	}
	t.number = int(v)
	return t, nil
}

// version is the library's in words: 22703 is 2.27.3; before 2.9 it was 2804.
func (t *table) version() string {
	if t.number < 10000 {
		return fmt.Sprintf("%d.%d.%d", t.number/1000, t.number/100%10, t.number%100)
	}
	return fmt.Sprintf("%d.%d.%d", t.number/10000, t.number/100%100, t.number%100)
}

// NCCL's results that something follows from.
const (
	success    = 0
	inProgress = 7
)

// explain says what a result is, and what NCCL said last, of a communicator or, as it does where there is none yet, of any.
func (t *table) explain(result int, comm unsafe.Pointer) string {
	text := fmt.Sprintf("error %d (%s)", result, C.GoString(C.nccl_text(t.c, C.int(result))))
	if last := C.nccl_last(t.c, comm); last != nil && *last != 0 {
		text += ": " + C.GoString(last)
	}
	return text
}

// newKey returns what all ranks of a new link need.
func (t *table) newKey() ([]byte, error) {
	key := make([]byte, backend.LinkKey)
	if rc := C.nccl_get_key(t.c, unsafe.Pointer(&key[0])); rc != success {
		return nil, status.New(status.Backend, "NCCL: ncclGetUniqueId failed: %s", t.explain(int(rc), nil))
	}
	return key, nil
}

// calls makes NCCL's calls on one communicator, each with the device current.
type calls struct {
	*table
	c C.nccl_link
}

// init begins to make the communicator.
func (l *calls) init(key []byte, rank, size int, stream uintptr) error {
	l.c.table, l.c.stream = l.table.c, C.uintptr_t(stream)
	var comm unsafe.Pointer
	rc := C.nccl_init(l.table.c, C.int(size), unsafe.Pointer(&key[0]), C.int(rank), &comm)
	l.c.comm = comm
	return l.check("ncclCommInitRankConfig", rc)
}

// check makes an error of what a call returned, unless that is under way.
func (l *calls) check(call string, result C.int) error {
	if result == success || result == inProgress {
		return nil
	}
	return status.New(status.Backend, "NCCL: %s failed: %s", call, l.explain(int(result), l.c.comm))
}

// state reports whether nothing is under way.
func (l *calls) state() (bool, error) {
	var result C.int
	if rc := C.nccl_state(l.table.c, l.c.comm, &result); rc != success {
		return false, l.check("ncclCommGetAsyncError", rc)
	}
	return result == success, l.check("what was under way", result)
}

func (l *calls) finalize() error {
	return l.check("ncclCommFinalize", C.nccl_finalize(l.table.c, l.c.comm))
}

// destroy frees the communicator, and abort also ends what is under way.
func (l *calls) destroy() error {
	return l.check("ncclCommDestroy", C.nccl_destroy(l.table.c, l.c.comm))
}

func (l *calls) abort() error { return l.check("ncclCommAbort", C.nccl_abort(l.table.c, l.c.comm)) }

func at(s memory.Span) C.nccl_address { return C.nccl_address(uintptr(s.Addr)) }

func (l *calls) allReduce(send, recv memory.Span, n combination) error {
	return l.check("ncclAllReduce", C.nccl_all_reduce(&l.c, at(send), at(recv), n.count(recv), n.kind, n.op))
}

func (l *calls) reduce(send, recv memory.Span, n combination, root int) error {
	return l.check("ncclReduce", C.nccl_reduce(&l.c, at(send), at(recv), n.count(send), n.kind, n.op, C.int(root)))
}

func (l *calls) reduceScatter(send, recv memory.Span, n combination) error {
	return l.check("ncclReduceScatter", C.nccl_reduce_scatter(&l.c, at(send), at(recv), n.count(recv), n.kind, n.op))
}

func (l *calls) broadcast(buf memory.Span, root int) error {
	return l.check("ncclBroadcast", C.nccl_broadcast(&l.c, at(buf), C.size_t(buf.Bytes()), C.int(root)))
}

func (l *calls) allGather(send, recv memory.Span) error {
	return l.check("ncclAllGather", C.nccl_all_gather(&l.c, at(send), at(recv), C.size_t(send.Bytes())))
}

func (l *calls) exchange(send, recv []memory.Span) error {
	from, sent := places(send)
	to, received := places(recv)
	return l.check("ncclSend and ncclRecv", C.nccl_exchange(&l.c, C.int(len(send)), &from[0], &sent[0], &to[0], &received[0]))
}

func places(spans []memory.Span) (addresses []C.nccl_address, bytes []C.size_t) {
	for _, s := range spans {
		addresses = append(addresses, at(s))
		bytes = append(bytes, C.size_t(s.Bytes()))
	}
	return addresses, bytes
}

// combination is how NCCL combines elements: its numbers of a type and of an operator, and how many of that type an element has.
type combination struct {
	kind, op C.int
	each     int
}

func (n combination) count(s memory.Span) C.size_t { return C.size_t(s.Count * n.each) }

// kinds are NCCL's numbers of the types that it combines. An element of two is two of them: sums of complex numbers are.
var kinds = [dtype.N]struct {
	number C.int
	each   int
}{
	dtype.Int8: {0, 1}, dtype.Uint8: {1, 1}, dtype.Int32: {2, 1}, dtype.Uint32: {3, 1}, dtype.Int64: {4, 1}, dtype.Uint64: {5, 1},
	dtype.Float32: {7, 1}, dtype.Float64: {8, 1}, dtype.Complex64: {7, 2}, dtype.Complex128: {8, 2}, dtype.Bool: {1, 1},
}

// NCCL's operators.
const (
	sum C.int = iota
	product
	maximum
	minimum
)

// combining returns how NCCL combines elements of a type by an operator, and whether it does: as the host would. Its least of
// floats loses NaN, and logical operators of numbers are none of its. Truth values are bytes of 0 and 1.
func combining(t dtype.Type, op kernel.Op) (combination, bool) {
	kind := kinds[t]
	ops := map[kernel.Op]C.int{kernel.Sum: sum, kernel.Prod: product, kernel.Max: maximum, kernel.Min: minimum}
	switch {
	case t == dtype.Bool:
		ops = map[kernel.Op]C.int{
			kernel.Max: maximum, kernel.LOr: maximum, kernel.BOr: maximum,
			kernel.Min: minimum, kernel.LAnd: minimum, kernel.BAnd: minimum,
		}
	case t.Complex():
		ops = map[kernel.Op]C.int{kernel.Sum: sum}
	case t.Inexact():
		ops = map[kernel.Op]C.int{kernel.Sum: sum, kernel.Prod: product}
	}
	number, known := ops[op]
	return combination{kind.number, number, kind.each}, known && kind.each > 0
}
