package comm

import (
	"dtl/core/backend"
	"dtl/core/comm/wire"
)

// Barrier returns when every rank has called it. Collective.
func (c *Comm) Barrier() error {
	return c.inTurn("barrier", func() error {
		if c.skipsMeeting() {
			return c.blocking(c.main.Barrier)
		}
		return c.meet(wire.Signature{Op: "barrier"}, nil)
	})
}

// Ibarrier starts what Barrier does. Collective.
func (c *Comm) Ibarrier() (*Request, error) {
	return c.startCollective(wire.Signature{Op: "ibarrier"}, nil, backend.AsyncCommunicator.Ibarrier)
}
