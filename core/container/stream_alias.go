package container

import (
	"dtl/core/comm"
	"dtl/core/runtime"
	"dtl/core/status"
)

// StreamAlias is a container under the name of another context of the same ranks, a stream's: what is done with it is sent
// there, and so in no order with what is done with the container itself. It has the container's elements and structure.
type StreamAlias struct {
	of      Container
	context *runtime.Context
}

var _ Container = (*StreamAlias)(nil)

// On returns the alias of a container on another context, which has the same ranks. Local.
func On(of Container, context *runtime.Context) (*StreamAlias, error) {
	if alias, ok := of.(*StreamAlias); ok {
		of = alias.of
	}
	p, err := of.Look()
	if err != nil {
		return nil, err
	}
	defer p.Done()
	if own := of.Context(); own.Size() != context.Size() || own.Rank() != context.Rank() {
		return nil, status.New(status.InvalidArgument, "a container of rank %d of %d has no alias on rank %d of %d",
			own.Rank(), own.Size(), context.Rank(), context.Size())
	}
	return &StreamAlias{of, context}, nil
}

// Inner says that programs know nothing of it. It implements handle.Insider.
func (s *StreamAlias) Inner() bool { return true }

// Context returns the context that it stands for the container on.
func (s *StreamAlias) Context() *runtime.Context { return s.context }

// Use returns the container's part, which does not change until the caller calls Done.
func (s *StreamAlias) Use() (Part, error) { return s.of.Use() }

// Look returns the container's part wherever it is.
func (s *StreamAlias) Look() (Part, error) { return s.of.Look() }

// View returns the container's part with one more use of its memory.
func (s *StreamAlias) View() (comm.Result, error) { return s.of.View() }

// Redistribute divides the container anew, as Array.Redistribute does. Collective on the alias's context.
func (s *StreamAlias) Redistribute(v Division, limit int64) error {
	a, ok := s.of.(*Array)
	if !ok {
		return status.New(status.Unsupported, "a span's structure is its container's")
	}
	return a.redistribute(s.context, v, limit)
}

// Close does nothing: the container is its owner's.
func (s *StreamAlias) Close() error { return nil }

// Settle moves what was made on another context of the same ranks to one, for good. Nobody else uses it yet. Local.
func Settle(c Container, context *runtime.Context) error {
	a, ok := c.(*Array)
	if !ok {
		return status.New(status.Unsupported, "what owns no elements stays on its context")
	}
	if a.context.Size() != context.Size() || a.context.Rank() != context.Rank() {
		return status.New(status.InvalidArgument, "a container of rank %d of %d cannot move to rank %d of %d",
			a.context.Rank(), a.context.Size(), context.Rank(), context.Size())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.context = context
	return nil
}
