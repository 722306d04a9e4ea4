package rma

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/board"
	"dtl/core/comm"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
	"dtl/core/status"
)

// control is what the ranks share of one's part, in a cache line of its own.
type control struct {
	lock  uint64 // see lock.go
	guard uint32 // one more than the rank that combines elements there; 0: none
	_     [52]byte
}

const controlBytes = int(unsafe.Sizeof(control{}))

// near reaches parts on the same machine: those in this process at their addresses, others by the kernel's copying
// between processes, and those on devices by copies of this rank's. What begins is over when the call returns.
type near struct {
	comm     *comm.Comm
	board    *board.Board // nil where no part is in another process
	targets  []Target
	away     []uint64       // the addresses of parts in their own processes; of parts on devices, those that this rank's device knows
	places   []memory.Place // of parts that devices alone reach; else nil
	queue    backend.Queue  // of the device that reaches this rank's part; nil where none does
	controls []control
	sharing  []uint32 // for each rank, a bit for each part that it has locked in shared mode
}

// rowOf returns how many words of sharing a rank has.
func rowOf(ranks int) int { return (ranks + 31) / 32 }

// nearBytes is how much memory the ranks share beside the parts.
func nearBytes(ranks int) int { return ranks * (controlBytes + 4*rowOf(ranks)) }

// openAt finds what the ranks share at an address.
func (n *near) openAt(base unsafe.Pointer, ranks int) {
	n.controls = unsafe.Slice((*control)(base), ranks)
	n.sharing = unsafe.Slice((*uint32)(unsafe.Add(base, ranks*controlBytes)), ranks*rowOf(ranks))
}

var _ backend.Window = (*near)(nil)

// here returns where a target's bytes lie in this process; nil where they do not.
func (n *near) here(target int, offset int64) unsafe.Pointer {
	addr := n.targets[target].addr
	if addr == 0 {
		return nil
	}
	return pointer(addr + uint64(offset))
}

// pointer turns the address of what the Go heap does not hold into a pointer.
func pointer(addr uint64) (p unsafe.Pointer) {
	*(*uint64)(unsafe.Pointer(&p)) = addr
	return p
}

// read copies from a target, and write to it.
func (n *near) read(into memory.Span, target int, offset int64) error {
	if n.places != nil {
		return n.copyThere(into, n.there(into, target, offset))
	}
	if at := n.here(target, offset); at != nil || into.Count == 0 {
		err := n.settle()
		if err == nil {
			memory.Move(into.Addr, at, into.Bytes())
		}
		return err
	}
	return n.board.Read(target, into.Addr, n.away[target]+uint64(offset), into.Bytes())
}

func (n *near) write(from memory.Span, target int, offset int64) error {
	if n.places != nil {
		return n.copyThere(n.there(from, target, offset), from)
	}
	if at := n.here(target, offset); at != nil || from.Count == 0 {
		err := n.settle()
		if err == nil {
			memory.Move(at, from.Addr, from.Bytes())
		}
		return err
	}
	return n.board.Write(target, from.Addr, n.away[target]+uint64(offset), from.Bytes())
}

func (n *near) Put(from memory.Span, target int, offset int64) error {
	return n.write(from, target, offset)
}

func (n *near) Get(into memory.Span, target int, offset int64) error {
	return n.read(into, target, offset)
}

// guarded is how many bytes are combined before others get a turn.
const guarded = 64 << 10

func (n *near) Accumulate(from memory.Span, target int, offset int64, op kernel.Op) error {
	return n.FetchAndOp(from, memory.Span{Type: from.Type}, target, offset, op)
}

// FetchAndOp fetches nothing where into has no elements.
func (n *near) FetchAndOp(from, into memory.Span, target int, offset int64, op kernel.Op) error {
	if !from.Place.OfHost() {
		return n.accumulateThere(from, target, offset, op)
	}
	step := guarded / max(from.Type.Size(), 1)
	var there []byte
	for lo := 0; lo < from.Count; lo += step {
		hi := min(lo+step, from.Count)
		part := from.Slice(lo, hi)
		at := memory.Span{Addr: n.here(target, offset), Count: part.Count, Type: part.Type}
		if at.Addr == nil {
			if there == nil {
				there = make([]byte, part.Bytes())
			}
			at.Addr = unsafe.Pointer(unsafe.SliceData(there))
		}
		var old memory.Span
		if into.Count > 0 {
			old = into.Slice(lo, hi)
		}
		if err := n.combine(at, part, old, target, offset, op); err != nil {
			return err
		}
		offset += int64(part.Bytes())
	}
	return nil
}

// combine combines elements that lie in this process at at, or, where those are in another, come there first.
func (n *near) combine(at, from, old memory.Span, target int, offset int64, op kernel.Op) error {
	if err := n.take(target); err != nil {
		return err
	}
	defer n.release(target)
	away := n.targets[target].addr == 0
	if !away {
		if err := n.settle(); err != nil {
			return err
		}
	}
	if away && (op != kernel.Replace || old.Count > 0) {
		if err := n.read(at, target, offset); err != nil {
			return err
		}
	}
	memory.Copy(old, at)
	switch op {
	case kernel.NoOp:
		return nil
	case kernel.Replace:
		memory.Copy(at, from)
	default:
		if err := reduce.Accumulate(at, from, op); err != nil {
			return err
		}
	}
	if !away {
		return nil
	}
	return n.write(at, target, offset)
}

func (n *near) CompareAndSwap(compare, swap, into memory.Span, target int, offset int64) error {
	if err := n.take(target); err != nil {
		return err
	}
	defer n.release(target)
	there := memory.Scratch(compare)
	if err := n.read(there, target, offset); err != nil {
		return err
	}
	equal := bytes.Equal(memory.As[byte](there.Raw()), memory.As[byte](compare.Raw()))
	memory.Copy(into, there)
	if !equal {
		return nil
	}
	return n.write(swap, target, offset)
}

// take waits for the guard of a target's part, and release gives it back.
func (n *near) take(target int) error {
	const atOnce, looks = 1000, 64
	guard, mine := &n.controls[target].guard, uint32(n.comm.Rank())+1
	for range atOnce {
		if atomic.CompareAndSwapUint32(guard, 0, mine) {
			return nil
		}
		board.Pause()
	}
	holder := func() int { return int(atomic.LoadUint32(guard)) - 1 }
	tries := 0
	return n.comm.Until(func() string {
		return fmt.Sprintf("access to rank %d's part, which rank %d is changing", target, max(holder(), 0))
	}, func() (bool, error) {
		if atomic.CompareAndSwapUint32(guard, 0, mine) {
			return true, nil
		}
		if tries++; tries%looks != 0 {
			return false, nil
		}
		if rank := holder(); rank >= 0 {
			if why := n.ended(rank); why != "" {
				return false, status.New(status.Communication, "rank %d %s while it changed rank %d's part", rank, why, target)
			}
		}
		return false, nil
	})
}

// ended returns how a rank has ended, "has ended its program"; "" if it may go on.
func (n *near) ended(rank int) string {
	if n.board == nil || rank >= len(n.targets) {
		return ""
	}
	if why := n.comm.Left(rank); why != "" || n.board.Alive(rank) {
		return why
	}
	return "has ended"
}

func (n *near) release(target int) { atomic.StoreUint32(&n.controls[target].guard, 0) }

// FlushLocal has nothing to wait for.
func (n *near) FlushLocal(int) error { return nil }

// Flush has nothing to wait for, but for this processor.
func (n *near) Flush(int) error { return n.Sync() }

// Sync has this processor do what it has begun, and this rank's device.
func (n *near) Sync() error {
	var barrier int32
	atomic.AddInt32(&barrier, 1)
	return n.settle()
}

// Close has nothing to give back: the memory is the window's.
func (n *near) Close() error { return nil }

func (n *near) load(target int) (uint64, error) {
	return atomic.LoadUint64(&n.controls[target].lock), nil
}

func (n *near) swap(target int, old, new uint64) (uint64, error) {
	for {
		if atomic.CompareAndSwapUint64(&n.controls[target].lock, old, new) {
			return old, nil
		}
		if seen := atomic.LoadUint64(&n.controls[target].lock); seen != old {
			return seen, nil
		}
	}
}

func (n *near) unlock(target int, claim uint64) error {
	atomic.AddUint64(&n.controls[target].lock, -claim)
	return nil
}

func (n *near) share(target int, yes bool) {
	row := rowOf(len(n.targets))
	at, bit := &n.sharing[n.comm.Rank()*row+target/32], uint32(1)<<(target%32)
	if yes {
		atomic.OrUint32(at, bit)
	} else {
		atomic.AndUint32(at, ^bit)
	}
}

func (n *near) sharers(target int) (ranks []int) {
	row := rowOf(len(n.targets))
	for rank := range n.targets {
		if atomic.LoadUint32(&n.sharing[rank*row+target/32])>>(target%32)&1 != 0 {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

const _ = uint(64-controlBytes) + uint(controlBytes-64)
