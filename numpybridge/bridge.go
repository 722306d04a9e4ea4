//go:build cpython

package numpybridge

/*
#cgo LDFLAGS: -Wl,--wrap=pthread_create -Wl,--wrap=mmap -lm
#include <stdlib.h>
#include "bridge.h"
#include "blocks.h"
#include "reserve.h"
#include "sigbus.h"
*/
import "C"

import (
	"runtime/cgo"
	"slices"
	"sync"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/handle"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
	"dtl/core/status"
)

// calls holds calls that are over, for the next ones: each would be allocated, because an operation is called through
// a table.
var calls = sync.Pool{New: func() any { return new(Call) }}

func init() {
	memory.SetGuard(memory.Guard{
		Watch:   func(at, size uintptr) int { return int(C.sigbus_watch(C.uintptr_t(at), C.uintptr_t(size))) },
		Renew:   func() { C.sigbus_renew() },
		Unwatch: func(number int) { C.sigbus_unwatch(C.int(number)) },
		Broken:  func(number int) bool { return C.sigbus_broken(C.int(number)) != 0 },
		Break:   func(number int) { C.sigbus_break(C.int(number)) },
		Count:   (*int32)(C.sigbus_count()),
	})
	keep := func() bool { return C.reserve_keep() != 0 }
	if keep() {
		memory.SetReserve(memory.Reserve{Bytes: C.RESERVE_BYTES, State: (*int32)(C.reserve_state()), Keep: keep})
	}
}

// dtl_perform runs one call. It sets error, or unsuitable, or result, or none of them where there is nothing to return.
//
//export dtl_perform
func dtl_perform(c *C.dtl_call) {
	defer guard(&c.error)
	call := calls.Get().(*Call)
	call.Code, call.Handle, call.KeepsBuffers, call.Met = Code(c.code), int64(c.handle), c.held != 0, c.met != 0
	call.Borrowed = c.borrowed != 0
	call.Args = [4]int64{int64(c.args[0]), int64(c.args[1]), int64(c.args[2]), int64(c.args[3])}
	if c.in.given != 0 {
		call.HasIn = true
		describe(&call.In, &c.in)
	}
	if c.out.given != 0 {
		call.HasOut = true
		describe(&call.Out, &c.out)
	}
	if !call.suitable() || !call.borrow(c.lists[:c.list_count]) {
		c.unsuitable = 1
	} else if err := call.perform(); err != nil {
		c.error = C.CString(status.Encode(err))
		if call.Result.Retained {
			c.retained = 1
		}
		c.alone = C.int32_t(truth(call.Alone))
	} else if call.Result.Storage != nil {
		handOver(c, &call.Result)
	} else if call.Number.Type.Valid() {
		giveNumber(c, &call.Number, call.Generic)
	}
	c.staged = C.int32_t(truth(call.Staged))
	*call = Call{}
	calls.Put(call)
}

// dtl_ease lets pages of files be given back, after a block of a loop.
//
//export dtl_ease
func dtl_ease() {
	defer guard(nil)
	memory.Ease()
}

// dtl_by_calls copies bytes that do not overlap by calls of the system, where elements in files are more than can stay resident, and returns
// how many of the first it has copied.
//
//export dtl_by_calls
func dtl_by_calls(dst, src unsafe.Pointer, n C.int64_t) (done C.int64_t) {
	defer guard(nil)
	return C.int64_t(memory.ByCalls(dst, src, int(n)))
}

// dtl_release drops one use of a storage that a call returned.
//
//export dtl_release
func dtl_release(storage C.uintptr_t) {
	defer guard(nil)
	h := cgo.Handle(storage)
	if s, ok := h.Value().(*memory.Storage); ok {
		s.Release()
	} else {
		h.Value().(*comm.Result).Storage.Release()
	}
	h.Delete()
}

// dtl_container_close closes a container, and returns its error as a call does, or NULL.
//
//export dtl_container_close
func dtl_container_close(h C.int64_t) (failed *C.char) {
	defer guard(&failed)
	if err := container.Containers.Close(handle.Handle(h)); err != nil {
		failed = C.CString(status.Encode(err))
	}
	return failed
}

// blocks takes back memory that C has handed over.
type blocks struct{}

func (blocks) Allocate(int, int) (memory.Block, error) {
	return memory.Block{}, status.New(status.Internal, "C allocates blocks")
}

func (blocks) Deallocate(b memory.Block) { C.block_drop(b.Addr) }

// dtl_container_template makes what keeps the layout of a container, and returns its handle, or an error.
//
//export dtl_container_template
func dtl_container_template(h C.int64_t, made *C.int64_t) (failed *C.char) {
	defer guard(&failed)
	err := withContainer(int64(h), func(c container.Container) error {
		a, err := container.Template(c)
		if err == nil {
			*made = C.int64_t(container.Containers.Put(a))
		}
		return err
	})
	if err != nil {
		failed = C.CString(status.Encode(err))
	}
	return failed
}

// dtl_container_over makes a container of a template's layout and an element type over a block, which it drops when nobody
// uses the elements any more; at once where it fails.
//
//export dtl_container_over
func dtl_container_over(template C.int64_t, number C.int32_t, block unsafe.Pointer, size C.int64_t, made *C.int64_t) (failed *C.char) {
	defer guard(&failed)
	return adopted(block, size, made, func(storage *memory.Storage) (a *container.Array, err error) {
		err = withContainer(int64(template), func(c container.Container) error {
			a, err = container.Over(c, dtype.FromNumber(int64(number)), storage)
			return err
		})
		return a, err
	})
}

// adopted makes a container over a block.
func adopted(
	block unsafe.Pointer, size C.int64_t, made *C.int64_t, over func(*memory.Storage) (*container.Array, error),
) (failed *C.char) {
	storage := memory.Adopt(blocks{}, memory.Block{Addr: block, Size: int(size)})
	a, err := over(storage)
	if err != nil {
		storage.Release()
		return C.CString(status.Encode(err))
	}
	*made = C.int64_t(container.Containers.Put(a))
	return nil
}

// dtl_container_whole is dtl_container_over of a shape that a context's only rank has all of.
//
//export dtl_container_whole
func dtl_container_whole(ctx C.int64_t, number, ndim C.int32_t, shape *C.int64_t, block unsafe.Pointer, size C.int64_t, made *C.int64_t) (failed *C.char) {
	defer guard(&failed)
	return adopted(block, size, made, func(storage *memory.Storage) (a *container.Array, err error) {
		spec := container.Spec{Type: dtype.FromNumber(int64(number)), Shape: slices.Clone(unsafe.Slice((*int64)(shape), int(ndim)))}
		spec.Division = container.Division{Kind: partition.KindBlock}
		call := Call{Handle: int64(ctx)}
		err = call.onContext(func(on *runtime.Context) error {
			a, err = container.WholeOver(on, spec, storage)
			return err
		})
		return a, err
	})
}

// guard ends a call: it turns a panic, which would end the interpreter, into an error, which goes to failed unless that is
// nil.
func guard(failed **C.char) {
	comm.EndCall()
	if p := recover(); p != nil && failed != nil {
		*failed = C.CString(status.Encode(status.Recovered(p)))
	}
}

// describe sets a, field by field, to a borrowed buffer.
func describe(a *comm.Array, c *C.dtl_array) {
	a.Addr = c.data
	a.Count = int(c.count)
	a.Type = dtype.Type(c._type)
	if c._type == 0 {
		a.Type = dtype.FromFormat(text(c.format), int(c.itemsize))
	}
	a.Shape = unsafe.Slice((*int64)(unsafe.Pointer(c.shape)), int(c.ndim))
	a.Kind = wire.Kind(c.kind)
}

// borrow takes the lists of a call, and says whether all of them are integers.
func (call *Call) borrow(lists []C.dtl_array) bool {
	for i := range lists {
		if lists[i].given == 0 {
			continue
		}
		var a comm.Array
		describe(&a, &lists[i])
		if a.Type != dtype.Int64 {
			return false
		}
		call.Lists[i] = append([]int64{}, memory.As[int64](a.Span)...) // another thread may change the caller's
	}
	return true
}

// text returns a C string without copying it.
func text(s *C.char) string {
	if s == nil {
		return "B" // PEP 3118: no format means bytes
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return unsafe.String((*byte)(unsafe.Pointer(s)), n)
}

// bridge.h has as many lists as this package, and the numbers of errors: a difference is a constant that does not fit.
const (
	_ = uint(C.DTL_MAX_LISTS-maxLists) + uint(maxLists-C.DTL_MAX_LISTS)
	_ = uint(C.DTL_INVALID_TYPE-status.InvalidType) + uint(status.InvalidType-C.DTL_INVALID_TYPE)
	_ = uint(C.DTL_COMMUNICATION-status.Communication) + uint(status.Communication-C.DTL_COMMUNICATION)
	_ = uint(C.DTL_BACKEND-status.Backend) + uint(status.Backend-C.DTL_BACKEND)
)

// What C asks of each operation, for good: the name of its constant, what users call it, and the parameters of its method.
var keys, names, parameters = func() (keys, names, parameters []*C.char) {
	for _, row := range operations {
		keys = append(keys, C.CString(row.key))
		names = append(names, C.CString(row.name))
		parameters = append(parameters, C.CString(row.takes))
	}
	return keys, names, parameters
}()

// nth returns one of some texts, or nil beyond the last.
func nth(texts []*C.char, i C.int64_t) *C.char {
	if i < 0 || int(i) >= len(texts) {
		return nil
	}
	return texts[i]
}

// dtl_type returns the number of the type of a PEP 3118 format, or 0.
//
//export dtl_type
func dtl_type(format *C.char, itemsize C.int64_t) C.int32_t {
	defer guard(nil)
	return C.int32_t(dtype.FromFormat(text(format), int(itemsize)))
}

// dtl_types returns how many types there are.
//
//export dtl_types
func dtl_types() C.int32_t {
	defer guard(nil)
	return C.int32_t(dtype.N - 1)
}

// dtl_operation returns the name of an operation's constant, or NULL after the last.
//
//export dtl_operation
func dtl_operation(code C.int64_t) *C.char {
	defer guard(nil)
	return nth(keys, code)
}

// constantNames holds the name of each constant for C, for good.
var constantNames = func() (all []*C.char) {
	for _, row := range constants {
		all = append(all, C.CString(row.name))
	}
	return all
}()

// dtl_constant returns the name of a constant and writes its value, or returns NULL after the last.
//
//export dtl_constant
func dtl_constant(i C.int64_t, value *C.int64_t) *C.char {
	defer guard(nil)
	name := nth(constantNames, i)
	if name != nil {
		*value = C.int64_t(constants[i].value)
	}
	return name
}

// dtl_operation_parameters returns the parameters of an operation's method, and nothing if it has none.
//
//export dtl_operation_parameters
func dtl_operation_parameters(code C.int64_t) *C.char {
	defer guard(nil)
	return nth(parameters, code)
}

// dtl_operation_name returns what users call an operation, or NULL after the last.
//
//export dtl_operation_name
func dtl_operation_name(code C.int64_t) *C.char {
	defer guard(nil)
	return nth(names, code)
}

// dtl_returns_view says 1 for an operation whose result is memory that a container goes on using, else 0.
//
//export dtl_returns_view
func dtl_returns_view(code C.int64_t) C.int {
	defer guard(nil)
	if code == C.int64_t(View) || code == C.int64_t(HaloView) {
		return 1
	}
	return 0
}

// dtl_takes_pair says 1 for an operation with two inputs, else 0.
//
//export dtl_takes_pair
func dtl_takes_pair(code C.int64_t) C.int {
	defer guard(nil)
	if Code(code).is(wantsPair) {
		return 1
	}
	return 0
}

// formats holds the format of each type for C, for good.
var formats = func() (all [dtype.N]*C.char) {
	for _, t := range dtype.All() {
		all[t] = C.CString(t.Format())
	}
	return all
}()

// otherFormats has those of opaque elements and of named ones, of the types that there were.
var otherFormats sync.Map

// formatOf returns a type's format, which stays.
func formatOf(t dtype.Type) *C.char {
	if t.Valid() {
		return formats[t]
	}
	if known, ok := otherFormats.Load(t); ok {
		return known.(*C.char)
	}
	made := C.CString(t.Format())
	known, loaded := otherFormats.LoadOrStore(t, made)
	if loaded {
		C.free(unsafe.Pointer(made))
	}
	return known.(*C.char)
}

// giveNumber hands a number to C, as a Python scalar or a NumPy one.
func giveNumber(c *C.dtl_call, n *fold.Number, generic bool) {
	at, size := unsafe.Pointer(&c.inline_data[0]), n.Type.Size()
	copy(unsafe.Slice((*byte)(at), size), n.Bytes())
	c.result = C.dtl_array{
		given: 1, _type: C.int32_t(n.Type), data: at, format: formats[n.Type], itemsize: C.int64_t(size), count: 1,
		kind: C.DTL_PYTHON_SCALAR,
	}
	if generic {
		c.result.kind = C.DTL_NUMPY_SCALAR
	}
}

// handOver hands a result and one use of its storage to C. Where C asked for it, a short one goes without: to drop a
// storage takes a call of its own.
func handOver(c *C.dtl_call, r *comm.Result) {
	for i, d := range r.Shape {
		c.shape[i] = C.int64_t(d)
	}
	c.result = C.dtl_array{
		given:    1,
		_type:    C.int32_t(r.Type),
		data:     r.Addr,
		format:   formatOf(r.Type),
		shape:    &c.shape[0],
		itemsize: C.int64_t(r.Type.Size()),
		count:    C.int64_t(r.Count),
		ndim:     C.int32_t(len(r.Shape)),
		kind:     C.int32_t(r.Kind),
	}
	if c.inline_result != 0 && !r.Type.Named() && r.Queue == nil && r.Strides == nil && r.Bytes() <= len(c.inline_data)*8 {
		c.result.data = unsafe.Pointer(&c.inline_data[0])
		memory.Move(c.result.data, r.Addr, r.Bytes())
		r.Storage.Release()
		return
	}
	if r.Queue != nil {
		c.result.place = C.int32_t(r.Place)
		c.stream = C.uintptr_t(r.Queue.Stream())
		kept := *r
		kept.Shape, kept.Strides = slices.Clone(r.Shape), slices.Clone(r.Strides)
		c.storage = C.uintptr_t(cgo.NewHandle(&kept))
	} else {
		c.storage = C.uintptr_t(cgo.NewHandle(r.Storage))
	}
	if r.Strides != nil {
		for i, n := range r.Strides {
			c.strides[i] = C.int64_t(n)
		}
		c.result.strides = &c.strides[0]
	}
}
