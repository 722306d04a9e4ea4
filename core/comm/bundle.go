package comm

import (
	"errors"

	"dtl/core/backend"
	"dtl/core/memory"
)

// Bundle is bare messages on lanes that are under way together.
type Bundle struct {
	comm    *Comm
	pending []backend.Request
	failed  error
}

// NewBundle returns one of no messages.
func (c *Comm) NewBundle() *Bundle { return &Bundle{comm: c} }

// Recv starts receiving into a span, as StartRecv does.
func (b *Bundle) Recv(into memory.Span, source, lane int) {
	b.add(b.comm.StartRecv(into, source, lane))
}

// Send starts sending a span, as StartSend does.
func (b *Bundle) Send(from memory.Span, dest, lane int) { b.add(b.comm.StartSend(from, dest, lane)) }

func (b *Bundle) add(r backend.Request, err error) {
	if err != nil {
		b.failed = errors.Join(b.failed, err)
	} else {
		b.pending = append(b.pending, r)
	}
}

// Wait waits for every message, and returns the errors of those that failed or have not started.
func (b *Bundle) Wait() error {
	for _, r := range b.pending {
		if _, err := b.comm.Await(r); err != nil {
			b.failed = errors.Join(b.failed, err)
		}
	}
	b.pending = nil
	return b.failed
}
