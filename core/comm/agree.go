package comm

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// agreed is from how many bytes on ranks make sure that all of them have room. Below, the agreement would cost more
// than it is worth: a process that cannot get so little has no way on.
const agreed = 1 << 20

// agree returns nil if every rank that is to take what h describes says nil. Else nothing must be sent, for not all
// would receive it: each rank gets an error, those that failed their own. Collective; mine alone where h is short.
func (c *Comm) agree(h header, mine error) error {
	if h.bytes() < agreed || c.Size() == 1 {
		return mine
	}
	b, err := c.scratch.get()
	if err != nil {
		return err
	}
	defer c.scratch.put(b)
	flags := bytesAt(b.Addr(), 2)
	flags[0] = 1
	if mine != nil {
		flags[0] = 0
	}
	both := memory.Span{Addr: b.Addr(), Count: 2, Type: dtype.Uint8}
	if err := c.main.Allreduce(both.Slice(0, 1), both.Slice(1, 2), kernel.Min); err != nil {
		return err
	}
	if mine == nil && flags[1] == 0 {
		return status.New(status.OutOfMemory, "another rank has no room for %d elements of %s", h.count(), h.typ)
	}
	return mine
}
