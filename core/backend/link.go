package backend

import (
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// DeviceLinker is a Backend whose library has the devices of several ranks exchange elements by themselves.
type DeviceLinker interface {
	Backend
	// Version is the library's, as in "2.27.3".
	Version() (string, error)
	// SharesDevices reports whether several ranks of a link may be on one device.
	SharesDevices() bool
	// NewKey returns what all ranks of a new link need: LinkKey bytes.
	NewKey() ([]byte, error)
	// Link begins to link the device of a queue with those of other ranks, which all have the key. It does not wait for them:
	// Settled says when all are there. The caller closes or aborts the link, also when Settled has an error.
	Link(key []byte, rank, size int, on Queue) (DeviceLink, error)
}

// LinkKey is how many bytes the key of a link has.
const LinkKey = 128

// DeviceLink is one rank's part of a link. What is asked of it is queued, when Settled says so, on the queue of the link, in an
// order that all ranks have in common; and nothing else is asked before. All spans are on its device. An error of any method
// is the end of the link, which is aborted then.
type DeviceLink interface {
	// Combines reports whether the library combines elements of a type as reduce.Accumulate does: no NaN is lost.
	Combines(t dtype.Type, op kernel.Op) bool
	// AllReduce, Reduce and ReduceScatter are as those of a ReducingCommunicator; recv may be send.
	AllReduce(send, recv memory.Span, op kernel.Op) error
	Reduce(send, recv memory.Span, op kernel.Op, root int) error
	ReduceScatter(send, recv memory.Span, op kernel.Op) error
	// Broadcast copies root's buf to every other rank's.
	Broadcast(buf memory.Span, root int) error
	// AllGather concatenates every rank's send, in rank order; send may be where it goes.
	AllGather(send, recv memory.Span) error
	// Exchange sends send[r] to each rank r, and fills recv[r] with what it sends here. Spans without elements are not sent.
	Exchange(send, recv []memory.Span) error
	// Settled reports whether all that was asked is queued. It does not wait. The error may also be of what was queued before.
	Settled() (bool, error)
	// Abort ends the link, and what is queued, whatever other ranks do: nothing works on the spans when it returns. Local.
	Abort()
	// Close ends the link when nothing is queued any more. All ranks close it.
	Close() error
}
