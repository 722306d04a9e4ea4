package rma

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Part is what one rank brings to a window: memory of its own, which stays where it is until the window is closed, or
// bytes to allocate.
type Part struct {
	Base     memory.Span
	Bytes    int64
	Allocate bool
}

// made is how many windows this process has made; ranks that share a process share it, too.
var made atomic.Int64

// What ranks share when they make a window.
const (
	sharedBytes = iota
	sharedAddress
	sharedMade
)

// New makes a window of the parts of all ranks, which all allocate, or all bring memory. What it needs beyond them comes
// from mem. Collective.
func New(c *comm.Comm, mem memory.Allocator, part Part) (*Window, error) {
	const op = "window"
	var mine error
	if part.Allocate && (part.Bytes < 0 || part.Bytes > 1<<48) {
		mine = status.New(status.InvalidArgument, "size %d outside [0, 2**48]", part.Bytes)
	}
	if !part.Allocate {
		part.Bytes = int64(part.Base.Bytes())
	}
	how, same := "base", int64(0)
	if part.Allocate {
		how, same = "size", 1
	}
	call := comm.Call{Op: op, Same: []int64{same}, Text: func() string { return how }}
	all := make([]comm.Shared, c.Size())
	said := comm.Shared{part.Bytes, int64(uintptr(part.Base.Addr)), made.Load()}
	if err := c.AgreeSharing(call, mine, said, all); err != nil {
		return nil, err
	}
	w := &Window{comm: c, id: number(all)}
	err := w.prepare(mem, part, all)
	if err == nil && w.isNear(part) {
		err = w.openNear(part, all)
	} else if err == nil {
		err = w.openFar(mem, part, all)
	}
	if err != nil {
		w.giveUp()
		return nil, status.In(op, err)
	}
	atomic.StoreInt32(&w.local.open, 1)
	w.forget = c.OnClose(w.unfinished, w.end)
	return w, nil
}

// number returns the same number on every rank, which told each other how many windows they have made.
func number(all []comm.Shared) int64 {
	n := int64(0)
	for _, said := range all {
		n = max(n, said[sharedMade]+1)
	}
	for now := made.Load(); now < n && !made.CompareAndSwap(now, n); now = made.Load() {
	}
	return n
}

// prepare allocates what this rank alone looks at. All ranks fail if one does. Collective.
func (w *Window) prepare(mem memory.Allocator, part Part, all []comm.Shared) (err error) {
	if w.local, err = locals.Get(); err == nil {
		w.table, err = memory.NewStorage(mem, len(all)*int(unsafe.Sizeof(Target{})), 64)
	}
	if err := w.comm.Agree(comm.Call{Op: "window"}, err); err != nil {
		return err
	}
	w.targets = unsafe.Slice((*Target)(w.table.Addr()), len(all))
	for rank, said := range all {
		w.targets[rank].bytes = said[sharedBytes]
	}
	w.local.prepare(w.comm.Rank(), len(all), uint64(uintptr(w.table.Addr())))
	return nil
}

// isNear reports whether all parts are reached without the backend. All ranks say the same.
func (w *Window) isNear(part Part) bool {
	b := w.comm.Board()
	if w.comm.OneProcess() {
		return true
	}
	if b == nil || part.Allocate {
		return b != nil
	}
	for rank := range w.targets {
		if !b.Reads(rank) {
			return false
		}
	}
	return true
}

// mapping is the allocator of mapped memory, which it gives back.
type mapping []byte

// Allocate returns the whole mapping.
func (m mapping) Allocate(int, int) (memory.Block, error) {
	return memory.Block{Addr: unsafe.Pointer(unsafe.SliceData(m)), Size: len(m)}, nil
}

// Deallocate unmaps it.
func (m mapping) Deallocate(memory.Block) { _ = unix.Munmap(m) } // only of memory that is not mapped

// openNear maps what the ranks share, and finds out where the parts are. Collective.
func (w *Window) openNear(part Part, all []comm.Shared) error {
	const page = 4096
	total := (nearBytes(len(all)) + page - 1) &^ (page - 1)
	starts := make([]int, len(all))
	for rank, said := range all {
		if starts[rank] = total; part.Allocate {
			total += (int(said[sharedBytes]) + page - 1) &^ (page - 1)
		}
	}
	mapped, err := w.comm.Segment("window", total)
	if err != nil {
		return err
	}
	if w.segment, err = memory.NewStorage(mapping(mapped), total, page); err != nil {
		return err
	}
	base := w.segment.Addr()
	n := &near{comm: w.comm, board: w.comm.Board(), targets: w.targets, away: make([]uint64, len(all))}
	n.openAt(base, len(all))
	w.local.direct = 1
	for rank := range all {
		t := &w.targets[rank]
		t.guard = uint64(uintptr(unsafe.Pointer(&n.controls[rank].guard)))
		switch n.away[rank] = uint64(all[rank][sharedAddress]); {
		case part.Allocate:
			t.addr = uint64(uintptr(unsafe.Add(base, starts[rank])))
		case w.comm.OneProcess() || rank == w.comm.Rank():
			t.addr = n.away[rank]
		default:
			w.local.direct = 0
		}
	}
	if w.reach, w.words = n, n; part.Allocate {
		w.storage = w.segment
	}
	return nil
}

// openFar has the backend open this rank's part, and its lock. Collective.
func (w *Window) openFar(mem memory.Allocator, part Part, all []comm.Shared) (err error) {
	if part.Allocate {
		if w.storage, err = memory.NewStorage(mem, int(max(part.Bytes, 1)), 4096); err == nil {
			part.Base = memory.Span{Addr: w.storage.Addr(), Count: int(part.Bytes), Type: dtype.Uint8}
		}
	}
	if err == nil {
		w.segment, err = memory.NewStorage(mem, farWordsBytes, 64)
	}
	said := comm.Shared{sharedAddress: int64(uintptr(part.Base.Addr))}
	if err := w.comm.AgreeSharing(comm.Call{Op: "window"}, err, said, all); err != nil {
		return err
	}
	w.targets[w.comm.Rank()].addr = uint64(uintptr(part.Base.Addr))
	exposed, err := w.comm.Expose("window", "part", part.Base.Raw())
	if err != nil {
		return err
	}
	w.reach = newFar(exposed, w.comm, w.targets, all)
	locks, err := newFarWords(w.comm, w.segment.Addr())
	w.control, w.words = locks.Window, locks
	return err
}

// giveUp lets go of a window that is not made.
func (w *Window) giveUp() {
	if w.reach != nil {
		_ = w.reach.Close() // the first error is the one to report
	}
	w.release()
	if w.local != nil {
		locals.Put(w.local)
	}
}
