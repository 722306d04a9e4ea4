package container

import (
	"unsafe"

	"dtl/core/backend"
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

// sideBySide reports whether the part's elements follow each other in C order.
func (s *state) sideBySide() bool {
	next := int64(s.typ.Size())
	for d := len(s.shape) - 1; d >= 0; d-- {
		if s.shape[d] == 0 {
			return true
		}
		if s.shape[d] > 1 && s.strides[d] != next {
			return false
		}
		next *= s.shape[d]
	}
	return true
}

// copyParts has a queue copy the elements of a part to those of another, whatever lies around them. On the host, they lie side by side.
func copyParts(q backend.Queue, to, from *state) error {
	if to.sideBySide() && from.sideBySide() {
		return q.Copy(to.span(), from.span())
	}
	return q.Runs(to.span().Raw(), from.span().Raw(), backend.BoxRuns(to.shape, to.strides, from.strides, to.typ.Size()))
}

// duplicateThere returns a copy of a part on a device, side by side in memory there.
func (s *state) duplicateThere() (*state, error) {
	storage, err := s.home.blank(int(product(s.shape)) * s.typ.Size())
	if err != nil {
		return nil, err
	}
	twin := *s
	twin.storage, twin.addr, twin.strides, twin.padding = storage, storage.Addr(), cOrder(s.shape, s.typ.Size()), nil
	if err = copyParts(s.home.queue, &twin, s); err != nil {
		storage.Release()
		return nil, err
	}
	return &twin, nil
}

// readable returns a part on a device with its elements side by side: itself, or, where a halo is between them, a copy. done lets
// that go.
func (s *state) readable() (flat *state, done func(), err error) {
	if s.sideBySide() {
		return s, func() {}, nil
	}
	twin, err := s.duplicateThere()
	return twin, twin.release, err
}

// flat calls f with the part on a device where its elements lie side by side, as readable has it, and copies them back where f writes.
func (s *state) flat(writes bool, f func(*state) error) error {
	flat, done, err := s.readable()
	if err != nil {
		return err
	}
	defer done()
	if err = f(flat); err != nil || !writes || flat == s {
		return err
	}
	return copyParts(s.home.queue, s, flat)
}
