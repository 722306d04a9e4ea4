//go:build cpython

package numpybridge

/*
#include "bridge.h"
*/
import "C"

import (
	"cmp"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/runtime"
	"dtl/core/status"
)

// ofStorage returns the elements of a device that a call returned.
func ofStorage(storage C.uintptr_t) *comm.Result { return onDevice(int64(storage)) }

// failure returns an error as C takes it, or nil.
func failure(op string, err error) *C.char {
	if err == nil {
		return nil
	}
	return C.CString(status.Encode(status.In(op, err)))
}

// dtl_device_read copies the elements of a box of those that a storage stands for to memory of the host, after what is queued on them.
//
//export dtl_device_read
func dtl_device_read(storage C.uintptr_t, to unsafe.Pointer, which *C.dtl_box) (failed *C.char) {
	defer guard(&failed)
	r := boxOf(ofStorage(storage), which)
	bytes := r.Raw()
	return failure("to_numpy", copyBetween(r.Queue, memory.Span{Addr: to, Count: bytes.Count, Type: dtype.Uint8}, bytes, nil, r))
}

// dtl_device_write is dtl_device_read the other way round.
//
//export dtl_device_write
func dtl_device_write(storage C.uintptr_t, from unsafe.Pointer, which *C.dtl_box) (failed *C.char) {
	defer guard(&failed)
	r := boxOf(ofStorage(storage), which)
	bytes := r.Raw()
	err := copyBetween(r.Queue, bytes, memory.Span{Addr: from, Count: bytes.Count, Type: dtype.Uint8}, r, nil)
	if err != nil {
		_ = r.Queue.Synchronize() // another library may have the memory, and let it go; the error to report is the first
	}
	return failure("out", err)
}

// boxOf returns the elements of a box: all of a result's, or rows from an index of its leading dimensions on. The caller has compared it with
// the shape.
func boxOf(r *comm.Result, which *C.dtl_box) *comm.Result {
	n := int(which.ndim)
	if n == 0 {
		return r
	}
	box, strides := *r, r.Strides
	if strides == nil {
		strides = denseStrides(r.Shape, r.Type.Size())
	}
	first := int64(0)
	for d := range n {
		first += int64(which.at[d]) * strides[d]
	}
	box.Shape = append([]int64{int64(which.rows)}, r.Shape[n:]...)
	box.Strides, box.Addr, box.Count = strides[n-1:], unsafe.Add(r.Addr, first), 1
	for _, extent := range box.Shape {
		box.Count *= int(extent)
	}
	return &box
}

// copyBetween copies bytes, of which those of a result lie as its strides say, and others side by side.
func copyBetween(q backend.Queue, to, from memory.Span, target, source *comm.Result) error {
	strides := [2][]int64{apart(target), apart(source)}
	known := target
	switch {
	case strides[0] == nil && strides[1] == nil:
		return q.Copy(to, from)
	case target != nil && source != nil && target.Queue.Device() != source.Queue.Device():
		return status.New(status.Unsupported, "elements that do not lie side by side, because of a halo, go to no other GPU")
	case strides[0] == nil:
		known = source
	}
	item := known.Type.Size()
	for i := range strides {
		if strides[i] == nil {
			strides[i] = denseStrides(known.Shape, item)
		}
	}
	return q.Runs(to, from, backend.BoxRuns(known.Shape, strides[0], strides[1], item))
}

// apart returns the strides of a result whose elements do not lie side by side, else nil.
func apart(r *comm.Result) []int64 {
	if r == nil || r.Count == 0 || r.Strides == nil {
		return nil
	}
	for d, n := range denseStrides(r.Shape, r.Type.Size()) {
		if r.Shape[d] > 1 && r.Strides[d] != n {
			return r.Strides
		}
	}
	return nil
}

// denseStrides returns the strides of elements that lie side by side in C order.
func denseStrides(shape []int64, item int) []int64 {
	strides, next := make([]int64, len(shape)), int64(item)
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d], next = next, next*shape[d]
	}
	return strides
}

// dtl_device_order makes a stream of the driver wait until all is done that is queued on the elements, or, if back is
// 1, the reverse.
//
//export dtl_device_order
func dtl_device_order(storage, stream C.uintptr_t, back C.int) (failed *C.char) {
	defer guard(&failed)
	r := ofStorage(storage)
	before, after := r.Queue.Stream(), uintptr(stream)
	if back == 1 {
		before, after = after, before
	}
	return failure("device_view", r.Queue.Device().Order(before, after))
}

// dtl_device_share says that other libraries get the elements, and may queue work on them of which nothing is told.
//
//export dtl_device_share
func dtl_device_share(storage C.uintptr_t) (failed *C.char) {
	defer guard(&failed)
	ofStorage(storage).Storage.Share()
	return nil
}

// dtl_device_wait returns when all is done that is queued on the elements.
//
//export dtl_device_wait
func dtl_device_wait(storage C.uintptr_t) (failed *C.char) {
	defer guard(&failed)
	return failure("synchronize", ofStorage(storage).Queue.Synchronize())
}

// lent is memory of another library, which stays as long as the object that Python holds for it.
type lent struct{ memory.Block }

// Allocate returns the memory.
func (l lent) Allocate(int, int) (memory.Block, error) { return l.Block, nil }

// Deallocate does nothing: the memory goes with its owner.
func (lent) Deallocate(memory.Block) {}

// dtl_device_lend returns a storage of memory that another library holds on a device, and what else a DeviceMemory says of it. The
// call's result has the shape, and strides in elements where the elements are not in C order.
//
//export dtl_device_lend
func dtl_device_lend(at C.uintptr_t, kind C.int, call *C.dtl_call) (failed *C.char) {
	defer guard(&failed)
	return failure("from_dlpack", lend(uintptr(at), dtype.FromNumber(int64(kind)), call))
}

func lend(at uintptr, t dtype.Type, call *C.dtl_call) error {
	shape, strides := lentShape(call, int64(t.Size()))
	all := wire.Header{Type: t, Shape: shape}
	if err := lendable(at, all); err != nil {
		return err
	}
	if all.Bytes() == 0 {
		at = 0
	}
	place, err := runtime.Located(at)
	if err != nil {
		return err
	}
	q, err := runtime.OthersQueue(place.Device())
	if err != nil {
		return err
	}
	addr := *(*unsafe.Pointer)(unsafe.Pointer(&at)) // it is not Go's, and never followed
	storage, err := memory.NewStorage(lent{memory.Block{Addr: addr, Size: all.Bytes(), Place: place}}, all.Bytes(), 1)
	if err != nil {
		return err
	}
	span := memory.Span{Addr: addr, Count: all.Count(), Type: t, Place: place}
	handOver(call, &comm.Result{Array: comm.Array{Span: span, Shape: shape}, Strides: strides, Storage: storage, Queue: q})
	return nil
}

// lendable refuses what no array is: a negative extent, elements at address 0, and numbers where a GPU cannot read them.
func lendable(at uintptr, all wire.Header) error {
	for _, extent := range all.Shape {
		if extent < 0 {
			return status.New(status.InvalidArgument, "x has the shape %v, of which %d is negative", all.Shape, extent)
		}
	}
	if all.Bytes() == 0 {
		return nil
	}
	if at == 0 {
		return status.New(status.InvalidArgument, "address 0 is in no memory of a GPU")
	}
	step := all.Type.Size()
	if all.Type.Complex() {
		step /= 2
	}
	if all.Type.Valid() && at%uintptr(step) != 0 {
		return status.New(status.InvalidArgument, "address %#x is no multiple of %d, where a GPU reads %s", at, step, all.Type)
	}
	return nil
}

// lentShape returns the shape and the strides in bytes that C has for memory of another library.
func lentShape(call *C.dtl_call, item int64) (shape, strides []int64) {
	for i := range int(call.result.ndim) {
		shape = append(shape, int64(call.shape[i]))
		if call.result.strides != nil {
			strides = append(strides, int64(call.strides[i])*item)
		}
	}
	return shape, strides
}

// dtl_device_stream returns the stream of what is done with other libraries' memory on a device.
//
//export dtl_device_stream
func dtl_device_stream(device C.int, stream *C.uintptr_t) (failed *C.char) {
	defer guard(&failed)
	q, err := runtime.OthersQueue(int(device))
	if err == nil {
		*stream = C.uintptr_t(q.Stream())
	}
	return failure("from_dlpack", err)
}

// dtl_device_copy copies all elements of one storage to another, on whichever devices these are, and returns when that is done. If wait is
// 0, it is only queued: after what is queued on either, and before what is queued later.
//
//export dtl_device_copy
func dtl_device_copy(to, from C.uintptr_t, wait C.int) (failed *C.char) {
	defer guard(&failed)
	target, source := ofStorage(to), ofStorage(from)
	if wait == 0 && target.Queue.Device() == source.Queue.Device() {
		return failure("copy", queueCopy(target, source))
	}
	err := source.Queue.Synchronize()
	if err == nil {
		err = cmp.Or(copyBetween(target.Queue, target.Raw(), source.Raw(), target, source), target.Queue.Synchronize())
	}
	return failure("copy", err)
}

// queueCopy has the queue of some elements copy those of another queue of the device to them.
func queueCopy(target, source *comm.Result) error {
	return backend.InOrder(target.Queue, []backend.Queue{source.Queue}, func() error {
		return copyBetween(target.Queue, target.Raw(), source.Raw(), target, source)
	})
}
