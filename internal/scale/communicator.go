package scale

import (
	"sync"
	"time"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
)

// communicator is a backend's, whose messages are counted. Nobody counts what it does itself to make another.
type communicator struct {
	backend.AsyncCommunicator
	group *group
	me    *meter

	mu    sync.Mutex
	calls [2]uint64 // collectives that block, and others
}

var _ backend.AsyncCommunicator = (*communicator)(nil)

// group is what the ranks of a communicator share.
type group struct {
	number int64
	ranks  []int // in the world

	mu      sync.Mutex
	entered [2]map[uint64]*entry
}

// entry is a collective call.
type entry struct {
	latest instant // at which a rank came to it
	ranks  int     // that have not left it
}

// newGroup adds a group to the world.
func (w *world) newGroup(ranks []int) *group {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := &group{number: int64(len(w.groups)), ranks: ranks}
	for i := range g.entered {
		g.entered[i] = map[uint64]*entry{}
	}
	w.groups[g.number] = g
	return g
}

// join makes the group of a new communicator. Collective.
func (c *communicator) join(made backend.ReducingCommunicator, err error) (backend.ReducingCommunicator, error) {
	if err != nil || made == nil {
		return nil, err
	}
	mine, number := []int64{int64(c.me.rank)}, make([]int64, 1)
	all := make([]int64, made.Size())
	if err := made.Gather(memory.Of(dtype.Int64, mine), memory.Of(dtype.Int64, all), 0); err != nil {
		return nil, err
	}
	w := c.me.world
	if made.Rank() == 0 {
		ranks := make([]int, len(all))
		for i, rank := range all {
			ranks[i] = int(rank)
		}
		number[0] = w.newGroup(ranks).number
	}
	if err := made.Broadcast(memory.Of(dtype.Int64, number), 0); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return &communicator{AsyncCommunicator: made.(backend.AsyncCommunicator), group: w.groups[number[0]], me: c.me}, nil
}

// numberBytes is how many bytes a rank sends about itself where a communicator is made.
const numberBytes = 8

// Dup is a reduction in a library: the ranks find a number that none of them uses.
func (c *communicator) Dup() (d backend.ReducingCommunicator, err error) {
	err = c.collective(c.me.world.network.toAll(c.group.ranks, numberBytes), func() error {
		d, err = c.join(c.AsyncCommunicator.Dup())
		return err
	})
	return d, err
}

// Split is an allgather in a library, of every rank's color and key.
func (c *communicator) Split(color, key int) (d backend.ReducingCommunicator, err error) {
	err = c.collective(c.me.world.network.gather(c.group.ranks, numberBytes), func() error {
		d, err = c.join(c.AsyncCommunicator.Split(color, key))
		return err
	})
	return d, err
}

// SplitByNode is a Split.
func (c *communicator) SplitByNode() (backend.ReducingCommunicator, error) {
	return c.Split(c.me.rank/c.me.world.network.PerNode, c.Rank())
}

// rank returns another rank's account.
func (c *communicator) rank(n int) *meter { return c.me.world.meters[c.group.ranks[n]] }

func (c *communicator) sending(buf memory.Span, dest, tag int) {
	if dest != backend.ProcNull {
		c.me.send(c.rank(dest), c.group.number, tag, int64(buf.Bytes()))
	}
}

func (c *communicator) received(st backend.Status) {
	if st.Source != backend.ProcNull && !st.Cancelled {
		c.me.receive(c.rank(st.Source), c.group.number, st.Tag, int64(st.Bytes))
	}
}

// SendFor counts a message.
func (c *communicator) SendFor(buf memory.Span, dest, tag int, patience time.Duration) (backend.Request, error) {
	c.sending(buf, dest, tag)
	return c.AsyncCommunicator.SendFor(buf, dest, tag, patience)
}

// Isend counts a message.
func (c *communicator) Isend(buf memory.Span, dest, tag int) (backend.Request, error) {
	c.sending(buf, dest, tag)
	return c.AsyncCommunicator.Isend(buf, dest, tag)
}

// RecvFor counts the message when it has come.
func (c *communicator) RecvFor(buf memory.Span, source, tag int, patience time.Duration) (backend.Status, backend.Request, error) {
	st, r, err := c.AsyncCommunicator.RecvFor(buf, source, tag, patience)
	if r != nil {
		return st, &request{Request: r, over: c.received}, err
	}
	if err == nil {
		c.received(st)
	}
	return st, nil, err
}

// Irecv counts the message when it has come.
func (c *communicator) Irecv(buf memory.Span, source, tag int) (backend.Request, error) {
	r, err := c.AsyncCommunicator.Irecv(buf, source, tag)
	if err != nil {
		return r, err
	}
	return &request{Request: r, over: c.received}, nil
}

// TryRecv counts the message if it is there.
func (c *communicator) TryRecv(buf memory.Span, source, tag int) (backend.Status, bool, error) {
	st, there, err := c.AsyncCommunicator.TryRecv(buf, source, tag)
	if there && err == nil {
		c.received(st)
	}
	return st, there, err
}

// Exchange counts a message for each span with elements.
func (c *communicator) Exchange(send, recv []memory.Span, tag int) error {
	size, me := c.Size(), c.Rank()
	for step := 1; step < size; step++ {
		if to := (me + step) % size; send[to].Bytes() > 0 {
			c.sending(send[to], to, tag)
		}
	}
	if err := c.AsyncCommunicator.Exchange(send, recv, tag); err != nil {
		return err
	}
	for step := 1; step < size; step++ {
		if from := (me - step + size) % size; recv[from].Bytes() > 0 {
			c.received(backend.Status{Source: from, Tag: tag, Bytes: recv[from].Bytes()})
		}
	}
	return nil
}

// request is an operation that is accounted for when it is over.
type request struct {
	backend.Request
	once sync.Once
	over func(st backend.Status)
}

// Wait waits.
func (r *request) Wait() (backend.Status, error) {
	st, err := r.Request.Wait()
	r.once.Do(func() { r.over(st) })
	return st, err
}

// WaitFor waits for so long.
func (r *request) WaitFor(d time.Duration) (backend.Status, bool, error) {
	st, done, err := r.Request.WaitFor(d)
	if done {
		r.once.Do(func() { r.over(st) })
	}
	return st, done, err
}

// Test looks.
func (r *request) Test() (backend.Status, bool, error) {
	st, done, err := r.Request.Test()
	if done {
		r.once.Do(func() { r.over(st) })
	}
	return st, done, err
}

// The collectives that block and those that do not are numbered apart.
const (
	blocking = iota
	starting
)

// enter comes to the next collective of a kind, and returns what leaves it, which says when the last rank came. The backend
// has all ranks come before any is through.
func (c *communicator) enter(kind int) (leave func() instant) {
	c.mu.Lock()
	number := c.calls[kind]
	c.calls[kind]++
	c.mu.Unlock()
	g := c.group
	g.mu.Lock()
	defer g.mu.Unlock()
	e := g.entered[kind][number]
	if e == nil {
		e = &entry{ranks: len(g.ranks)}
		g.entered[kind][number] = e
	}
	e.latest.atLeast(c.me.clock())
	return func() instant {
		g.mu.Lock()
		defer g.mu.Unlock()
		if e.ranks--; e.ranks == 0 {
			delete(g.entered[kind], number)
		}
		return e.latest
	}
}

// collective counts one that blocks.
func (c *communicator) collective(of cost, call func() error) error {
	leave := c.enter(blocking)
	err := call()
	c.me.charge(of)
	c.me.pass(of, leave())
	return err
}

// start counts one that does not.
func (c *communicator) start(of cost, call func() (backend.Request, error)) (backend.Request, error) {
	leave := c.enter(starting)
	r, err := call()
	if err != nil {
		return r, err
	}
	c.me.charge(of)
	return &request{Request: r, over: func(backend.Status) { c.me.pass(of, leave()) }}, nil
}

func (c *communicator) network() (Network, []int) { return c.me.world.network, c.group.ranks }

// Barrier is counted.
func (c *communicator) Barrier() error {
	n, ranks := c.network()
	return c.collective(n.barrier(ranks), c.AsyncCommunicator.Barrier)
}

// Broadcast is counted.
func (c *communicator) Broadcast(buf memory.Span, root int) error {
	n, ranks := c.network()
	return c.collective(n.toAll(ranks, int64(buf.Bytes())), func() error { return c.AsyncCommunicator.Broadcast(buf, root) })
}

// Gather is counted.
func (c *communicator) Gather(send, recv memory.Span, root int) error {
	n, ranks := c.network()
	return c.collective(n.gather(ranks, int64(send.Bytes())), func() error { return c.AsyncCommunicator.Gather(send, recv, root) })
}

// Scatter is counted.
func (c *communicator) Scatter(send, recv memory.Span, root int) error {
	n, ranks := c.network()
	return c.collective(n.gather(ranks, int64(recv.Bytes())), func() error { return c.AsyncCommunicator.Scatter(send, recv, root) })
}

// Allgather is counted.
func (c *communicator) Allgather(send, recv memory.Span) error {
	n, ranks := c.network()
	return c.collective(n.gather(ranks, int64(send.Bytes())), func() error { return c.AsyncCommunicator.Allgather(send, recv) })
}

// Alltoall is counted.
func (c *communicator) Alltoall(send, recv memory.Span) error {
	n, ranks := c.network()
	each := int64(send.Bytes() / len(ranks))
	return c.collective(n.alltoall(ranks, each), func() error { return c.AsyncCommunicator.Alltoall(send, recv) })
}

// Reduce is counted.
func (c *communicator) Reduce(send, recv memory.Span, op kernel.Op, root int) error {
	n, ranks := c.network()
	return c.collective(n.toAll(ranks, int64(send.Bytes())), func() error { return c.AsyncCommunicator.Reduce(send, recv, op, root) })
}

// Allreduce is counted.
func (c *communicator) Allreduce(send, recv memory.Span, op kernel.Op) error {
	n, ranks := c.network()
	return c.collective(n.toAll(ranks, int64(send.Bytes())), func() error { return c.AsyncCommunicator.Allreduce(send, recv, op) })
}

// Scan is counted.
func (c *communicator) Scan(send, recv memory.Span, op kernel.Op) error {
	n, ranks := c.network()
	return c.collective(n.same(ranks, int64(send.Bytes())), func() error { return c.AsyncCommunicator.Scan(send, recv, op) })
}

// Exscan is counted.
func (c *communicator) Exscan(send, recv memory.Span, op kernel.Op) error {
	n, ranks := c.network()
	return c.collective(n.same(ranks, int64(send.Bytes())), func() error { return c.AsyncCommunicator.Exscan(send, recv, op) })
}

// ReduceScatter is counted.
func (c *communicator) ReduceScatter(send, recv memory.Span, op kernel.Op) error {
	n, ranks := c.network()
	return c.collective(n.shares(ranks, int64(send.Bytes())), func() error { return c.AsyncCommunicator.ReduceScatter(send, recv, op) })
}

// Ibarrier is counted.
func (c *communicator) Ibarrier() (backend.Request, error) {
	n, ranks := c.network()
	return c.start(n.barrier(ranks), c.AsyncCommunicator.Ibarrier)
}

// Ibroadcast is counted.
func (c *communicator) Ibroadcast(buf memory.Span, root int) (backend.Request, error) {
	n, ranks := c.network()
	return c.start(n.toAll(ranks, int64(buf.Bytes())), func() (backend.Request, error) { return c.AsyncCommunicator.Ibroadcast(buf, root) })
}

// Igather is counted.
func (c *communicator) Igather(send, recv memory.Span, root int) (backend.Request, error) {
	n, ranks := c.network()
	return c.start(n.gather(ranks, int64(send.Bytes())), func() (backend.Request, error) { return c.AsyncCommunicator.Igather(send, recv, root) })
}

// Iallgather is counted.
func (c *communicator) Iallgather(send, recv memory.Span) (backend.Request, error) {
	n, ranks := c.network()
	return c.start(n.gather(ranks, int64(send.Bytes())), func() (backend.Request, error) { return c.AsyncCommunicator.Iallgather(send, recv) })
}

// Iallreduce is counted.
func (c *communicator) Iallreduce(send, recv memory.Span, op kernel.Op) (backend.Request, error) {
	n, ranks := c.network()
	return c.start(n.toAll(ranks, int64(send.Bytes())), func() (backend.Request, error) { return c.AsyncCommunicator.Iallreduce(send, recv, op) })
}
