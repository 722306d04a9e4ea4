package hashmap

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
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

// ask sends what is for others, and receives what is for this rank, all at once.
func ask(c *comm.Comm, what ...ends) error {
	return trade(c, what, func(e ends) (send, recv []memory.Span) { return e.mine, e.theirs })
}

// answer does the opposite.
func answer(c *comm.Comm, what ...ends) error {
	return trade(c, what, func(e ends) (send, recv []memory.Span) { return e.theirs, e.mine })
}

// trade starts all receives and sends, each of the ends on a lane of its own, and waits for them.
func trade(c *comm.Comm, what []ends, directed func(e ends) (send, recv []memory.Span)) error {
	size, me := c.Size(), c.Rank()
	if size == 1 {
		return nil // both are the same
	}
	under := c.NewBundle()
	for step := 1; step < size; step++ {
		from, to := (me-step+size)%size, (me+step)%size
		for lane, e := range what {
			send, recv := directed(e)
			if recv[from].Count > 0 {
				under.Recv(recv[from], from, lane)
			}
			if send[to].Count > 0 {
				under.Send(send[to], to, lane)
			}
		}
	}
	for _, e := range what {
		send, recv := directed(e)
		memory.Copy(recv[me], send[me])
	}
	return under.Wait()
}

// newRound returns the exchange of a window of this rank's keys.
func (v *passage) newRound(w window, coming []int64) round {
	t := v.m.table
	return round{
		keys:   v.newEnds(w, coming, v.keysOut, v.keysIn, t.key),
		values: v.newEnds(w, coming, v.valuesOut, v.valuesIn, t.value),
		found:  v.newEnds(w, coming, v.foundOut, v.foundIn, 1),
		coming: coming,
	}
}

// newEnds divides what lies in out by owner, and what lies in in by where it comes from.
func (v *passage) newEnds(w window, coming []int64, out, in unsafe.Pointer, width int) ends {
	e := ends{mine: make([]memory.Span, len(coming)), theirs: make([]memory.Span, len(coming))}
	before := 0
	for rank, n := range coming {
		from, to := w.placesOf(rank)
		e.mine[rank] = stretch(out, from-v.at.from, to-from, width)
		e.theirs[rank] = stretch(in, before, int(n), width)
		before += int(n)
	}
	if v.c.Size() == 1 {
		e.theirs = e.mine
	}
	return e
}

// stretch returns n elements from the first on, as bytes; none of an area that the call does not need.
func stretch(area unsafe.Pointer, first, n, width int) memory.Span {
	if n == 0 || area == nil {
		return memory.Span{Addr: area, Type: dtype.Uint8}
	}
	return memory.Span{Addr: unsafe.Add(area, first*width), Count: n * width, Type: dtype.Uint8}
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

// ask brings the keys, and values if they go, to their owners.
func (v *passage) ask(r round) error {
	if v.puts {
		return ask(v.c, r.keys, r.values)
	}
	return ask(v.c, r.keys)
}

// visit makes a round: the owners do the work, and the answers come back.
func (v *passage) visit(w window, coming []int64) error {
	r := v.newRound(w, coming)
	if err := v.ask(r); err != nil {
		return err
	}
	v.m.table.Fetch(w.of, v.plan.ranges, r.total())
	if v.puts {
		return v.put(w, r)
	}
	for rank := range coming {
		_ = v.apply(v.m.table, r.batch(rank), nil) // nothing of it takes memory
	}
	if v.gets {
		return answer(v.c, r.found, r.values)
	}
	return answer(v.c, r.found)
}

// remove makes a round in which the owners erase the keys.
func (v *passage) remove(w window, coming []int64) error {
	r := v.newRound(w, coming)
	if err := v.ask(r); err != nil {
		return err
	}
	for rank := range coming {
		b := r.batch(rank)
		v.m.table.Erase(b.keys, b.n)
	}
	return nil
}
