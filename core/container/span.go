package container

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Span is a range of an array's first dimension. It owns nothing: it shares the array's memory, is of no use once
// that is closed, and stale once its structure changes.
type Span struct {
	context *runtime.Context
	of      *Array
	changes int // of the array's structure that the span knows
	now     state
}

var _ Container = (*Span)(nil)

// NewSpan returns the indices [offset, offset+count) of a container's first dimension; all of it for a negative
// count. Local.
func NewSpan(of Container, offset, count int64) (*Span, error) {
	p, err := of.Look()
	if err != nil {
		return nil, err
	}
	defer p.Done()
	n := p.layout.Dim(0).GlobalSize()
	if count < 0 {
		offset, count = 0, n
	}
	if offset < 0 || offset > n || count > n-offset {
		return nil, status.New(status.OutOfBounds, "offset %d and count %d reach outside [0, %d]", offset, count, n)
	}
	s := &Span{context: of.Context(), now: *p.state}
	if alias, ok := of.(*StreamAlias); ok {
		of = alias.of
	}
	switch of := of.(type) {
	case *Array:
		s.of, s.changes = of, p.changes
	case *Span:
		s.of, s.changes = of.of, of.changes
	}
	s.now.narrow(offset, count)
	return s, nil
}

// narrow leaves the indices [offset, offset+count) of the first dimension.
func (s *state) narrow(offset, count int64) {
	dim, at := s.layout.Dim(0), s.layout.Coordinate(s.rank, 0)
	skipped := dim.Before(at, offset)
	s.layout = s.layout.Sub(offset, count)
	s.print = s.layout.Fingerprint() ^ offset // where nothing tells ranges of one length apart, the offset does
	s.shape = append([]int64{s.layout.Dim(0).LocalSize(at)}, s.shape[1:]...)
	if product(s.shape) > 0 {
		s.addr = unsafe.Add(s.addr, skipped*s.strides[0])
	}
}

// Context returns the ranks.
func (s *Span) Context() *runtime.Context { return s.context }

// Use returns the span's part, or an error if the array is closed or its structure has changed.
func (s *Span) Use() (Part, error) { return ofHost(s.Look()) }

// Look returns the span's part wherever it is.
func (s *Span) Look() (Part, error) {
	p, err := s.of.Look()
	if err != nil {
		return Part{}, status.New(status.InvalidHandle, "the span's container is closed")
	}
	if p.changes != s.changes {
		p.Done()
		return Part{}, status.New(status.InvalidHandle,
			"the span is stale: its container was resized, redistributed or given a halo since")
	}
	return Part{state: &s.now, lock: p.lock, sequential: p.sequential}, nil
}

// View returns the part with one more use of the array's memory.
func (s *Span) View() (comm.Result, error) {
	p, err := s.Look()
	if err != nil {
		return comm.Result{}, err
	}
	defer p.Done()
	return p.viewOfHost()
}

// Close does nothing: the memory is the array's.
func (s *Span) Close() error { return nil }
