package container

import (
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// copyPart copies an n-dimensional part between memories of different strides.
func copyPart(dst, src unsafe.Pointer, shape, dstStrides, srcStrides []int64, itemSize int) {
	if product(shape) == 0 {
		return
	}
	if len(shape) == 1 {
		memory.Move(dst, src, int(shape[0])*itemSize) // neighbours in the last dimension lie side by side
		return
	}
	for i := range shape[0] {
		copyPart(unsafe.Add(dst, i*dstStrides[0]), unsafe.Add(src, i*srcStrides[0]), shape[1:], dstStrides[1:], srcStrides[1:], itemSize)
	}
}

// copyParts has a device copy the elements of a part to those of another on it, whatever lies around them, in the order of the queue
// of the one that is written.
func copyParts(to, from *state) error {
	bytes := memory.Span{Count: int(product(to.shape)) * to.typ.Size(), Type: dtype.Uint8, Place: to.storage.Place()}
	dst, src := bytes, bytes
	dst.Addr, src.Addr = to.addr, from.addr
	return to.home.queue.Runs(dst, src, runsOf(to.shape, to.strides, from.strides, to.typ.Size()))
}

// runsOf returns the runs that copy an n-dimensional box between memories of different strides.
func runsOf(shape, dst, src []int64, itemSize int) []backend.Run {
	r := backend.Run{Unit: int64(itemSize), Count: 1}
	last := len(shape) - 1
	for ; last >= 0 && (shape[last] == 1 || dst[last] == r.Unit && src[last] == r.Unit); last-- {
		r.Unit *= shape[last]
	}
	if product(shape) == 0 {
		return nil
	}
	if last >= 0 {
		r.Count, r.ToStep, r.FromStep = shape[last], dst[last], src[last]
	}
	all := []backend.Run{r}
	for d := last - 1; d >= 0; d-- {
		inner := all
		all = make([]backend.Run, 0, int(shape[d])*len(inner))
		for i := range shape[d] {
			for _, r := range inner {
				r.To, r.From = r.To+i*dst[d], r.From+i*src[d]
				all = append(all, r)
			}
		}
	}
	return all
}
