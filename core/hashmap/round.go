package hashmap

import (
	"cmp"
	"unsafe"

	"dtl/core/comm"
	"dtl/core/memory"
)

// round is one exchange: some keys of one range, from each rank to each.
type round struct {
	keys, values, found ends
	coming              []int64 // how many keys come from each rank
}

// ends are where something comes from or goes to: mine is what this rank's list has for each rank, theirs what each
// rank's list has for it.
type ends struct{ mine, theirs []memory.Span }

// toOwners sends what is for others, and receives what is for this rank, all at once.
func toOwners(c *comm.Comm, what ...ends) error {
	return exchangeAll(c, what, func(e ends) (send, recv []memory.Span) { return e.mine, e.theirs })
}

// fromOwners does the opposite.
func fromOwners(c *comm.Comm, what ...ends) error {
	return exchangeAll(c, what, func(e ends) (send, recv []memory.Span) { return e.theirs, e.mine })
}

// exchangeAll starts all receives and sends, each of the ends on a channel of its own, and waits for them.
func exchangeAll(c *comm.Comm, what []ends, directed func(e ends) (send, recv []memory.Span)) error {
	size, me := c.Size(), c.Rank()
	if size == 1 {
		return nil // both are the same
	}
	under := c.NewBundle()
	for step := 1; step < size; step++ {
		from, to := (me-step+size)%size, (me+step)%size
		for channel, e := range what {
			send, recv := directed(e)
			if recv[from].Count > 0 {
				under.Recv(recv[from], from, channel)
			}
			if send[to].Count > 0 {
				under.Send(send[to], to, channel)
			}
		}
	}
	for _, e := range what {
		send, recv := directed(e)
		memory.Copy(recv[me], send[me])
	}
	return under.Wait()
}

// newRound returns the exchange of a portion of this rank's keys.
func (x *exchange) newRound(w portion, coming []int64) round {
	t := x.m.table
	return round{
		keys:   x.newEnds(w, coming, x.keysOut, x.keysIn, t.key),
		values: x.newEnds(w, coming, x.valuesOut, x.valuesIn, x.m.value.Size()),
		found:  x.newEnds(w, coming, x.foundOut, x.foundIn, 1),
		coming: coming,
	}
}

// newEnds divides what lies in out by owner, and what lies in in by where it comes from.
func (x *exchange) newEnds(w portion, coming []int64, out, in unsafe.Pointer, width int) ends {
	e := ends{mine: make([]memory.Span, len(coming)), theirs: make([]memory.Span, len(coming))}
	before := 0
	for rank, n := range coming {
		from, to := w.placesOf(rank)
		e.mine[rank] = stretch(out, from-x.at.from, to-from, width)
		e.theirs[rank] = stretch(in, before, int(n), width)
		before += int(n)
	}
	if x.c.Size() == 1 {
		e.theirs = e.mine
	}
	return e
}

// stretch returns n elements from the first on, as bytes; none of an area that the call does not need.
func stretch(area unsafe.Pointer, first, n, width int) memory.Span {
	if n == 0 || area == nil {
		return bytesOf(area, 0)
	}
	return bytesOf(unsafe.Add(area, first*width), n*width)
}

// total returns how many keys come from all ranks.
func (r round) total() (n int) {
	for _, from := range r.coming {
		n += int(from)
	}
	return n
}

// batch returns what came from a rank.
func (r round) batch(rank int) batch {
	return batch{
		keys: r.keys.theirs[rank].Addr, values: r.values.theirs[rank].Addr,
		found: memory.As[uint8](r.found.theirs[rank]), n: int(r.coming[rank]),
	}
}

// whole returns what came from all ranks, whose keys lie one after the other.
func (r round) whole() batch {
	n := r.total()
	b := batch{keys: r.keys.theirs[0].Addr, values: r.values.theirs[0].Addr, n: n}
	if found := r.found.theirs[0].Addr; found != nil {
		b.found = unsafe.Slice((*uint8)(found), n)
	}
	return b
}

// sendKeys brings the keys, and values if they go, to their owners.
func (x *exchange) sendKeys(r round) error {
	if x.puts {
		return toOwners(x.c, r.keys, r.values)
	}
	return toOwners(x.c, r.keys)
}

// answerRound makes a round: the owners do the work, and the answers come back.
func (x *exchange) answerRound(w portion, coming []int64) error {
	r := x.newRound(w, coming)
	if err := x.sendKeys(r); err != nil {
		return err
	}
	x.m.table.Prefetch(w.of, x.plan.ranges, r.total())
	if x.puts {
		return x.putRound(w, r)
	}
	if x.gets && x.m.cells != nil {
		x.failed = cmp.Or(x.failed, x.getFromDevice(r.whole()))
	} else {
		for rank := range coming {
			_ = x.apply(x.m.table, r.batch(rank), nil) // nothing of it takes memory
		}
	}
	if x.gets {
		return fromOwners(x.c, r.found, r.values)
	}
	return fromOwners(x.c, r.found)
}

// eraseRound makes a round in which the owners erase the keys.
func (x *exchange) eraseRound(w portion, coming []int64) error {
	r := x.newRound(w, coming)
	if err := x.sendKeys(r); err != nil {
		return err
	}
	for rank := range coming {
		b := r.batch(rank)
		x.m.table.Erase(b.keys, b.n)
	}
	return nil
}
