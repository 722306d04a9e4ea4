package rma

import (
	"cmp"
	"errors"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// lend returns what the other ranks need to reach this rank's part on a device, and how far from the first byte of the memory it lies.
func (p Part) lend() (key []byte, offset int64, err error) {
	if p.Base.Count == 0 {
		return nil, 0, nil
	}
	key, err = p.Queue.Device().Lend(p.Storage.Addr())
	if err != nil {
		return nil, 0, status.New(status.CodeOf(err), "other ranks cannot reach this part, which is %s: %w; copy the elements to a container",
			p.Base.Place, err)
	}
	return key, int64(uintptr(p.Base.Addr) - uintptr(p.Storage.Addr())), nil
}

// checkNear refuses parts on devices where ranks share no memory, on all ranks.
func (w *Window) checkNear(part Part) error {
	if part.Base.Place.OfHost() || w.isNear(part) {
		return nil
	}
	return status.New(status.BackendUnavailable, "parts on GPUs are reached by ranks of one machine that share memory, which these do "+
		"not; copy the elements to a container on the host, and make the window of that")
}

// reachDevices finds out where this rank's device finds the parts, which are all on devices. Collective.
func (n *near) reachDevices(part Part, all []comm.Shared) error {
	n.places = make([]memory.Place, len(all))
	others := make([]unsafe.Pointer, len(all))
	if !n.comm.OneProcess() {
		var err error
		if others, err = n.comm.Borrow("window", part.Queue.Device(), part.key); err != nil {
			return err
		}
	}
	for rank, said := range all {
		switch n.places[rank] = part.Base.Place; {
		case n.comm.OneProcess():
			n.away[rank], n.places[rank] = uint64(said[sharedAddress]), memory.Place(said[sharedPlace])
		case rank == n.comm.Rank():
			n.away[rank] = uint64(uintptr(part.Base.Addr))
		default:
			n.away[rank] = uint64(uintptr(others[rank])) + uint64(said[sharedAddress])
		}
	}
	return nil
}

// there returns elements of a target's part, as many and of the type as some others, which this rank's device reaches.
func (n *near) there(like memory.Span, target int, offset int64) memory.Span {
	like.Addr, like.Place = pointer(n.away[target]+uint64(offset)), n.places[target]
	return like
}

// copyThere has this rank's device copy elements, and waits for it.
func (n *near) copyThere(dst, src memory.Span) error {
	if src.Count == 0 {
		return nil
	}
	return cmp.Or(n.queue.Copy(dst, src), n.queue.Synchronize())
}

// settle waits until this rank's device has done what is queued on its part, which others are to see, or the host is to touch.
func (n *near) settle() error {
	switch {
	case n.queue == nil:
		return nil
	case n.places == nil:
		return n.queue.Device().Settle()
	}
	return n.queue.Synchronize()
}

// guardedThere is how many bytes a device combines before others get a turn.
const guardedThere = 16 << 20

// accumulateThere combines elements of a target's part with those of from, where both are on devices. Nothing goes through the host but
// what no kernel combines.
func (n *near) accumulateThere(from memory.Span, target int, offset int64, op kernel.Op) error {
	step := guardedThere / from.Type.Size()
	for lo := 0; lo < from.Count; lo += step {
		part := from.Slice(lo, min(lo+step, from.Count))
		at := offset + int64(lo*from.Type.Size())
		err := n.combineThere(part, target, at, op)
		if errors.Is(err, status.Unsupported) {
			copied := memory.Scratch(part)
			if err = n.copyThere(copied, part); err == nil {
				err = n.FetchAndOp(copied, memory.Span{Type: part.Type}, target, at, op)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *near) combineThere(from memory.Span, target int, offset int64, op kernel.Op) error {
	if err := n.take(target); err != nil {
		return err
	}
	defer n.release(target)
	at, size := n.there(from, target, offset), uintptr(from.Type.Size())
	switch name := comm.Elementwise(op); {
	case op == kernel.NoOp:
		return nil
	case op == kernel.Replace:
		return n.copyThere(at, from)
	case name == "" || uintptr(at.Addr)%size != 0 || uintptr(from.Addr)%size != 0: // kernels take elements at multiples of their size
		return status.New(status.Unsupported, "no kernel does %s of such elements", op)
	default:
		return cmp.Or(n.queue.Elementwise(name, at, from.Type, nil, [3]backend.Operand{{Span: at}, {Span: from}}), n.queue.Synchronize())
	}
}
