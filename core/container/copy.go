package container

import (
	"dtl/core/backend"
	"dtl/core/kernel/move"
	"dtl/core/status"
)

// PermutePart copies this rank's part of a container to that of another one, whose dimension d is the dimension order[d] of the first. The
// host reaches both. Local.
func PermutePart(to, from Container, order []int64) error {
	p, err := to.Use()
	if err != nil {
		return err
	}
	defer p.Done()
	q, err := from.Use()
	if err != nil {
		return err
	}
	defer q.Done()
	strides, fits := make([]int64, len(order)), len(order) == len(p.shape) && len(order) == len(q.shape) && p.typ == q.typ
	for d, of := range order {
		if fits = fits && of >= 0 && of < int64(len(q.shape)) && q.shape[of] == p.shape[d]; fits {
			strides[d] = q.strides[of]
		}
	}
	if !fits || p.storage == q.storage {
		return status.New(status.InvalidArgument, "a part of shape %s, %s, cannot take that of shape %s, %s, by axes %s",
			tuple(p.shape), p.typ, tuple(q.shape), q.typ, tuple(order))
	}
	move.CopyBox(p.addr, p.strides, q.addr, strides, p.shape, p.typ.Size())
	return nil
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
