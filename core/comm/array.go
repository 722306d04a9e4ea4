package comm

import (
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm/wire"
	"dtl/core/memory"
	"dtl/core/status"
)

// Array is elements with a shape, in C order. It borrows both.
type Array struct {
	memory.Span
	Shape []int64
	Kind  wire.Kind
}

// Result is an array that the callee allocated: the receiver owns one use of Storage and releases it.
// Storage is nil where there is no result, or where it went to memory that the caller gave.
type Result struct {
	Array
	Strides []int64 // in bytes; nil: the elements lie side by side in C order
	Storage *memory.Storage
	// Queue is of what is done with the elements on their device; nil where they are the host's to work on.
	Queue backend.Queue
	// Retained says that another process may write to the caller's memory after the call, which failed: it is to stay as
	// it is for good.
	Retained bool
}

// release drops the result's memory, for error paths.
func (r *Result) release() {
	if r.Storage != nil {
		r.Storage.Release()
		r.Storage = nil
	}
}

func headerOf(a Array) wire.Header { return wire.Header{Kind: a.Kind, Type: a.Type, Shape: a.Shape} }

// newResult allocates memory for an array like h describes.
func newResult(from memory.Allocator, h wire.Header) (Result, error) {
	storage, err := memory.NewStorage(from, h.Bytes(), memory.Alignment)
	if err != nil {
		return Result{}, err
	}
	span := memory.Span{Addr: storage.Addr(), Count: h.Count(), Type: h.Type}
	return Result{Array: Array{Span: span, Shape: h.Shape, Kind: h.Kind}, Storage: storage}, nil
}

// checkType refuses elements without a type: objects, structs, other byte orders.
func checkType(name string, s memory.Span) error {
	if !s.Type.Sent() {
		return status.New(status.InvalidType, "%s has no element type that can be sent", name)
	}
	return nil
}

// checkArray refuses what no header describes.
func checkArray(name string, a *Array) error {
	if len(a.Shape) > wire.MaxDims {
		return status.New(status.InvalidArgument, "%s has %d dimensions; at most %d can be sent", name, len(a.Shape), wire.MaxDims)
	}
	if err := checkType(name, a.Span); err != nil || !a.Type.Named() {
		return err
	}
	if n := headerOf(*a).Size(); n > wire.LongestHeader {
		return status.New(status.InvalidArgument, "%s has a dtype and a shape whose description takes %d bytes; at most %d can be sent",
			name, n, wire.LongestHeader)
	}
	return nil
}

// known returns elements as a backend knows them: those of named types as their bytes.
func known(s memory.Span) memory.Span {
	if s.Type.Named() {
		return s.Raw()
	}
	return s
}

// checkOutput refuses an output whose type or count is not what the operation produces.
func checkOutput(out memory.Span, like memory.Span, count int) error {
	if out.Type != like.Type {
		return status.New(status.InvalidArgument, "out has dtype %s where the result has %s", out.Type, like.Type)
	}
	if out.Count != count {
		return status.New(status.InvalidArgument, "out has %d elements where the result has %d", out.Count, count)
	}
	return nil
}

// overlap reports whether the spans share a byte.
func overlap(a, b memory.Span) bool {
	if a.Bytes() == 0 || b.Bytes() == 0 {
		return false
	}
	x, y := uintptr(a.Addr), uintptr(b.Addr)
	return x < y+uintptr(b.Bytes()) && y < x+uintptr(a.Bytes())
}

// bytesAt is a span of n bytes at an address.
func bytesAt(addr unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(addr), n) }
