package algorithm

import (
	"cmp"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// Elements of several ranks' devices stay there while they are sorted: each device sorts its part, the ranks find out which elements
// belong on which rank, by few of them that the host reads, and each device sorts what came, in the order of the ranks. So of equal
// elements, those of lower ranks come first, as in a merge. On the host is only what goes to another rank, and not even that where the
// devices are connected.

// prepareOnDevice checks the call, and allocates what it takes to have elements from other ranks.
func (s *sorting) prepareOnDevice(c container.Container, p container.Part) (err error) {
	if err = s.checkOnDevice(p); err != nil || s.alone(p) {
		return err
	}
	s.link = container.Linking(c, p)
	if !ranged(p.Layout()) {
		if s.blocks, err = inBlocks(c, p, p.Type()); err != nil {
			return err
		}
	}
	s.arrived, err = s.beside(c, p.Type())
	return err
}

// checkOnDevice refuses what a device does not sort, of a part that it alone reaches.
func (s *sorting) checkOnDevice(p container.Part) error {
	if err := s.check(p); err != nil {
		return err
	}
	if p.Layout().Dims() != 1 {
		return status.New(status.Unsupported, "GPUs do not sort lines; sort a copy on the host")
	}
	return nil
}

// beside makes a container of elements of a type on the device, of which each rank has as many as it has to sort.
func (s *sorting) beside(c container.Container, t dtype.Type) (*container.Array, error) {
	if s.blocks != nil {
		return container.Blank(s.blocks, t)
	}
	return container.Blank(c, t)
}

// sortOnDevice has devices sort a container, of which this rank has a part. Collective.
func (s *sorting) sortOnDevice(over *comm.Comm, c container.Container, p container.Part) error {
	if s.blocks == nil {
		return s.sortThere(over, p)
	}
	err := s.byBlocks(c, func(q container.Part) error { return s.sortThere(over, q) })
	if err != nil {
		return err
	}
	return moveAll(c, s.blocks)
}

// sortThere has the device sort a part that is a range, or all elements. If it fails on a rank, the elements of each rank stay what they
// were, but for their order. Collective.
func (s *sorting) sortThere(over *comm.Comm, p container.Part) error {
	keys, call := radix.KeysOf(p.Type(), s.how.Descending, false), comm.Call{Op: "sort"}
	if err := over.Agree(call, p.Sort(keys)); err != nil || s.alone(p) {
		return err
	}
	return using([]*container.Array{s.arrived}, func(parts []container.Part) error {
		x := crossing{op: "sort", over: over, link: s.link}
		if err := x.plan(&onDevice{p, s.order, keys}, sizes(p.Layout())); err != nil {
			return err
		}
		err := x.cross(parts[0], p, nil)
		if err == nil && !x.stays() {
			err = parts[0].Sort(keys)
		}
		if err = x.settled(err); err == nil && !x.stays() {
			err = p.Copy(p.Elements(0, x.count), parts[0].Elements(0, x.count))
		}
		return x.settled(err)
	})
}

// using calls f with this rank's parts of containers that only this call knows.
func using(all []*container.Array, f func([]container.Part) error) error {
	parts := make([]container.Part, len(all))
	for i, c := range all {
		p, err := container.OnItsDevice(c).Use()
		if err != nil {
			return err
		}
		defer p.Done()
		parts[i] = p
	}
	return f(parts)
}

// onDevice is a sequence that a device alone reaches.
type onDevice struct {
	part  container.Part
	order radix.Order
	keyed radix.Keys // the order, as devices take it
}

func (d *onDevice) length() int { return int(elements(d.part)) }

func (d *onDevice) keys(into []uint64, places []int) error {
	at := make([]int64, 0, len(places))
	for _, place := range places {
		if place >= 0 {
			at = append(at, int64(place))
		}
	}
	found := memory.Of(dtype.Uint64, make([]uint64, len(at)*d.part.Type().Size()/8+1))
	found.Type, found.Count = d.part.Type(), len(at)
	if err := d.part.ReadAt(found, at); err != nil {
		return err
	}
	n := 0
	for i, place := range places {
		into[i] = none
		if place >= 0 {
			into[i] = min(d.order.Key(found, n), d.keyed.Most)
			n++
		}
	}
	return nil
}

func (d *onDevice) search(counts []int64, keys []uint64) error {
	return d.part.Search(counts, keys, d.keyed)
}

// crossing is how elements in order go to the ranks where they belong.
type crossing struct {
	op          string
	over        *comm.Comm
	link        *comm.Devices // what connects the devices, if anything does
	known       bool          // every rank has got the error
	count       int
	sent, comes []int64 // to and from each rank
	own, to     int     // where this rank's own are that stay, and where they go
}

// plan finds which elements of a sorted sequence belong where, each rank keeping as many as it has. Collective.
func (x *crossing) plan(mine sequence, sizes []int64) (err error) {
	x.count = mine.length()
	if x.sent, x.comes, err = shares(x.over, mine, sizes); err != nil {
		return err
	}
	for rank := range x.over.Rank() {
		x.own += int(x.sent[rank])
		x.to += int(x.comes[rank])
	}
	return nil
}

// kept returns how many elements this rank keeps, and stays whether that is all.
func (x *crossing) kept() int   { return int(x.sent[x.over.Rank()]) }
func (x *crossing) stays() bool { return x.kept() == x.count }

// cross writes to a part what belongs there of all ranks' parts, in the order of the ranks, where nothing has failed so far. Where all
// elements of this rank stay, nothing is written. After the exchange, an error is that of this rank alone. Collective.
func (x *crossing) cross(to, from container.Part, failed error) error {
	if x.known {
		return failed
	}
	if x.link != nil {
		return x.crossLinked(to, from, failed)
	}
	t, away := to.Type(), x.count-x.kept()
	storage, err := memory.NewScratch(x.over.Memory(), (2*away+1)*t.Size(), memory.Alignment)
	if err == nil {
		defer storage.Release()
		failed = cmp.Or(failed, x.pack(to, from, storage))
	}
	if err := x.settled(cmp.Or(failed, err)); err != nil {
		return err
	}
	out, in := x.buffers(storage, t)
	if err := x.over.Exchange(divided(out, x.others(x.sent)), divided(in, x.others(x.comes))); err != nil {
		return err
	}
	after := x.to + x.kept()
	err = to.Copy(to.Elements(0, x.to), in.Slice(0, x.to))
	return cmp.Or(err, to.Copy(to.Elements(after, x.count), in.Slice(x.to, away)))
}

// crossLinked is cross where the devices are connected. Then every rank gets each error.
func (x *crossing) crossLinked(to, from container.Part, failed error) error {
	if failed == nil {
		failed = x.keep(to, from)
	}
	send := divided(from.Elements(0, x.count), x.sent)
	recv := divided(to.Elements(0, x.count), x.comes)
	for rank := range send {
		send[rank], recv[rank] = send[rank].Raw(), recv[rank].Raw()
		if rank == x.over.Rank() {
			send[rank], recv[rank] = send[rank].Slice(0, 0), recv[rank].Slice(0, 0)
		}
	}
	err := x.link.Exchange(comm.Call{Op: x.op}, failed, []uintptr{to.Stream()}, send, recv)
	x.known = err != nil
	return err
}

// settled makes an error of a rank one of every rank, unless it is already. Collective.
func (x *crossing) settled(failed error) error {
	if x.known {
		return failed
	}
	err := x.over.Agree(comm.Call{Op: x.op}, failed)
	x.known = err != nil
	return err
}

// keep copies what stays to its place.
func (x *crossing) keep(to, from container.Part) error {
	if x.stays() {
		return nil
	}
	return to.Copy(to.Elements(x.to, x.to+x.kept()), from.Elements(x.own, x.own+x.kept()))
}

// buffers are where what goes and what comes is on the host.
func (x *crossing) buffers(storage *memory.Storage, t dtype.Type) (out, in memory.Span) {
	away := x.count - x.kept()
	both := memory.Span{Addr: storage.Addr(), Count: 2 * away, Type: t}
	return both.Slice(0, away), both.Slice(away, 2*away)
}

// pack copies what goes to other ranks to the host, and what stays to its place.
func (x *crossing) pack(to, from container.Part, storage *memory.Storage) error {
	if x.stays() {
		return nil
	}
	out, _ := x.buffers(storage, to.Type())
	end := x.own + x.kept()
	err := from.Copy(out.Slice(0, x.own), from.Elements(0, x.own))
	err = cmp.Or(err, from.Copy(out.Slice(x.own, out.Count), from.Elements(end, x.count)))
	return cmp.Or(err, x.keep(to, from))
}

// others returns counts of which this rank's own is 0.
func (x *crossing) others(counts []int64) []int64 {
	all := append([]int64{}, counts...)
	all[x.over.Rank()] = 0
	return all
}

// prepareOnDevice checks the call, and makes the result, and what it takes to have elements and indices from other ranks.
func (s *argsorting) prepareOnDevice(c container.Container, p container.Part) (err error) {
	if err = s.sorting.prepareOnDevice(c, p); err != nil {
		return err
	}
	if s.result, err = container.Blank(c, dtype.Int64); err != nil || s.alone(p) {
		return err
	}
	if s.blocks != nil {
		if s.indices, err = s.beside(c, dtype.Int64); err != nil {
			return err
		}
	}
	for _, t := range []dtype.Type{dtype.Int64, dtype.Int64, p.Type()} {
		made, err := s.beside(c, t)
		if err != nil {
			return err
		}
		s.more = append(s.more, made)
	}
	return nil
}

// argsortOnDevice has devices write the indices that sort a container, of which this rank has a part. Collective.
func (s *argsorting) argsortOnDevice(over *comm.Comm, c container.Container, p container.Part) error {
	switch {
	case s.alone(p):
		return using([]*container.Array{s.result}, func(parts []container.Part) error {
			return over.Agree(comm.Call{Op: "argsort"}, parts[0].Argsort(p, radix.KeysOf(p.Type(), s.how.Descending, true)))
		})
	case s.blocks == nil:
		return s.argsortThere(over, p, s.result)
	}
	if err := s.byBlocks(c, func(q container.Part) error { return s.argsortThere(over, q, s.indices) }); err != nil {
		return err
	}
	return moveAll(s.result, s.indices)
}

// argsortThere has the device write the indices that sort the ranks' parts, each of which is a range. The indices of a part go along with
// its elements, and those of what came are ordered as that is. Collective.
func (s *argsorting) argsortThere(over *comm.Comm, p container.Part, result *container.Array) error {
	all := []*container.Array{result, s.more[0], s.more[1], s.more[2], s.arrived}
	return using(all, func(parts []container.Part) error {
		indices, came, order, sorted, arrived := parts[0], parts[1], parts[2], parts[3], parts[4]
		keys, call := radix.KeysOf(p.Type(), s.how.Descending, true), comm.Call{Op: "argsort"}
		err := indices.Argsort(p, keys)
		if err == nil {
			err = sorted.Take(p, indices)
		}
		if err == nil {
			err = indices.Add(p.Offset(0))
		}
		if err := over.Agree(call, err); err != nil {
			return err
		}
		x := crossing{op: "argsort", over: over, link: s.link}
		if err := x.plan(&onDevice{sorted, s.order, keys}, sizes(p.Layout())); err != nil {
			return err
		}
		err = x.cross(came, indices, x.cross(arrived, sorted, nil))
		if err == nil && !x.stays() {
			if err = order.Argsort(arrived, keys); err == nil {
				err = indices.Take(came, order)
			}
		}
		return x.settled(err)
	})
}
