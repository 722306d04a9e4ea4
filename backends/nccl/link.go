package nccl

import (
	"time"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// link is a communicator of NCCL's that does not block.
type link struct {
	calls
	rank  int
	queue backend.Queue
	gone  bool
}

// Link begins to make a communicator.
func (n *nccl) Link(key []byte, rank, size int, on backend.Queue) (backend.DeviceLink, error) {
	t, err := n.table()
	if err != nil {
		return nil, err
	}
	l := &link{calls: calls{table: t}, rank: rank, queue: on}
	err = l.within(func() error { return l.init(key, rank, size, on.Stream()) })
	if err != nil {
		l.Abort()
		return nil, err
	}
	return l, nil
}

// within calls f with the device current.
func (l *link) within(f func() error) error {
	if l.gone {
		return status.New(status.InvalidHandle, "NCCL no longer connects these GPUs")
	}
	return l.queue.Device().Within(f)
}

// Combines reports whether NCCL combines elements of a type as the host does.
func (l *link) Combines(t dtype.Type, op kernel.Op) bool {
	_, known := combining(t, op)
	return known
}

// AllReduce queues one.
func (l *link) AllReduce(send, recv memory.Span, op kernel.Op) error {
	n, _ := combining(send.Type, op)
	return l.within(func() error { return l.allReduce(send, recv, n) })
}

// Reduce queues one.
func (l *link) Reduce(send, recv memory.Span, op kernel.Op, root int) error {
	n, _ := combining(send.Type, op)
	return l.within(func() error { return l.reduce(send, recv, n, root) })
}

// ReduceScatter queues one.
func (l *link) ReduceScatter(send, recv memory.Span, op kernel.Op) error {
	n, _ := combining(send.Type, op)
	return l.within(func() error { return l.reduceScatter(send, recv, n) })
}

// Broadcast queues one.
func (l *link) Broadcast(buf memory.Span, root int) error {
	return l.within(func() error { return l.broadcast(buf, root) })
}

// AllGather queues one.
func (l *link) AllGather(send, recv memory.Span) error {
	return l.within(func() error { return l.allGather(send, recv) })
}

// Exchange queues messages to and from all ranks, as one. What is this rank's own is copied.
func (l *link) Exchange(send, recv []memory.Span) error {
	if own := send[l.rank]; own.Count > 0 {
		if err := l.queue.Copy(recv[l.rank], own); err != nil {
			return err
		}
	}
	others := func(spans []memory.Span) []memory.Span {
		kept := append([]memory.Span{}, spans...)
		kept[l.rank].Count = 0
		return kept
	}
	return l.within(func() error { return l.exchange(others(send), others(recv)) })
}

// Settled asks what has become of what was asked.
func (l *link) Settled() (settled bool, err error) {
	err = l.within(func() (err error) {
		settled, err = l.state()
		return err
	})
	return settled, err
}

// Abort ends the communicator, and waits for what is queued: its memory may be another queue's. There is an error to report already.
func (l *link) Abort() {
	if l.gone || l.c.comm == nil {
		return
	}
	if l.within(l.abort) == nil { // else it may never end
		_ = l.queue.Synchronize()
	}
	l.gone = true
}

// orderly is how long Close waits for the other ranks.
const orderly = 2 * time.Second

// Close frees the communicator when the other ranks do so, too, or after a while.
func (l *link) Close() error {
	if l.gone {
		return nil
	}
	err := l.within(l.finalize)
	for begun, settled := time.Now(), false; err == nil && !settled; {
		if settled, err = l.Settled(); !settled && time.Since(begun) > orderly {
			err = status.New(status.Communication, "NCCL: another rank has not closed its communicator in %v", orderly)
		}
	}
	if err == nil {
		err = l.within(l.destroy)
	}
	if err != nil {
		l.Abort() // which frees what it has
	}
	l.gone = true
	return err
}
