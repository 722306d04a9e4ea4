package container

import (
	"dtl/core/comm"
	"dtl/core/runtime"
	"dtl/core/status"
)

// Guest is a container on another context of the same ranks: what is done with it travels there, and so in no order with
// what is done with the container itself. Its elements and its structure are the container's.
type Guest struct {
	of      Container
	context *runtime.Context
}

var _ Container = (*Guest)(nil)

// On returns a container as a guest of another context, which has the same ranks. Local.
func On(of Container, context *runtime.Context) (*Guest, error) {
	if g, ok := of.(*Guest); ok {
		of = g.of
	}
	p, err := of.Use()
	if err != nil {
		return nil, err
	}
	defer p.Done()
	if own := of.Context(); own.Size() != context.Size() || own.Rank() != context.Rank() {
		return nil, status.New(status.InvalidArgument, "a container of rank %d of %d is no guest of rank %d of %d",
			own.Rank(), own.Size(), context.Rank(), context.Size())
	}
	return &Guest{of, context}, nil
}

// Inner says that programs know nothing of it. It implements handle.Insider.
func (g *Guest) Inner() bool { return true }

// Context returns the context that it is a guest of.
func (g *Guest) Context() *runtime.Context { return g.context }

// Use returns the container's part, which does not change until the caller calls Done.
func (g *Guest) Use() (Part, error) { return g.of.Use() }

// View returns the container's part with one more use of its memory.
func (g *Guest) View() (comm.Result, error) { return g.of.View() }

// Redistribute is that of the container. Collective on the context that it is a guest of.
func (g *Guest) Redistribute(v Division, limit int64) error {
	a, ok := g.of.(*Array)
	if !ok {
		return status.New(status.Unsupported, "a span's structure is its container's")
	}
	return a.redistribute(g.context, v, limit)
}

// Close does nothing: the container is its owner's.
func (g *Guest) Close() error { return nil }

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
