package rma

import (
	"cmp"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Part is what one rank brings to a window: memory of its own, which stays where it is until the window is closed, or
// bytes to allocate. Of memory that a device reaches, Storage has it, and Queue works on it.
type Part struct {
	Base     memory.Span
	Bytes    int64
	Allocate bool
	Storage  *memory.Storage
	Queue    backend.Queue

	key []byte // by which other processes reach it
}

// made is how many windows this process has made; ranks that share a process share it, too.
var made atomic.Int64

// What ranks share when they make a window.
const (
	sharedBytes   = iota
	sharedAddress // of a part that is lent to other processes, how far it is from the first byte
	sharedMade
	sharedPlace
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
	switch {
	case part.Allocate:
		how, same = "size", 1
	case !part.Base.Place.OfHost():
		how, same = "elements on GPUs", 2
	}
	call := comm.Call{Op: op, Same: []int64{same}, Text: func() string { return how }}
	all := make([]comm.Shared, c.Size())
	said := comm.Shared{part.Bytes, int64(uintptr(part.Base.Addr)), made.Load(), int64(part.Base.Place)}
	if !part.Base.Place.OfHost() {
		var offset int64
		if part.key, offset, mine = part.lend(); !c.OneProcess() {
			said[sharedAddress] = offset
		}
	}
	if part.Queue != nil { // others may look at what is queued on the part as soon as there is a window
		mine = cmp.Or(mine, part.Queue.Synchronize())
	}
	if err := c.AgreeSharing(call, mine, said, all); err != nil {
		return nil, err
	}
	w := &Window{comm: c, id: number(all)}
	if err := w.open(mem, part, all); err != nil {
		w.giveUp()
		return nil, status.In(op, err)
	}
	atomic.StoreInt32(&w.local.open, 1)
	w.forget = c.OnClose(w.unfinished, w.end)
	return w, nil
}

// open finds out how to reach the parts. Collective.
func (w *Window) open(mem memory.Allocator, part Part, all []comm.Shared) error {
	if err := w.prepare(mem, part, all); err != nil {
		return err
	}
	w.base = uint64(uintptr(part.Base.Addr))
	if part.Storage != nil {
		if !part.Base.Place.OfHost() { // other memory its owner keeps
			if err := part.Storage.Retain(); err != nil {
				return err
			}
		}
		w.lent = part
		part.Storage.Expose()
	}
	if err := w.checkNear(part); err != nil {
		return err
	}
	if w.isNear(part) {
		return w.openNear(part, all)
	}
	return w.openFar(mem, part, all)
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
	if b == nil || part.Allocate || !part.Base.Place.OfHost() {
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
	total := inPages(int64(nearBytes(len(all))))
	starts := make([]int, len(all))
	for rank, said := range all {
		if starts[rank] = total; part.Allocate {
			total += inPages(said[sharedBytes])
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
	n.queue = part.Queue
	for rank := range all {
		w.targets[rank].guard = uint64(uintptr(unsafe.Pointer(&n.controls[rank].guard)))
	}
	if w.reach, w.words = n, n; !part.Base.Place.OfHost() {
		return n.reachDevices(part, all)
	}
	w.local.direct = n.find(base, part, starts, all)
	if part.Allocate {
		w.storage = w.segment
	}
	return nil
}

// find notes where the host finds the parts, and returns 1 if others may go there by themselves, without this package.
func (n *near) find(base unsafe.Pointer, part Part, starts []int, all []comm.Shared) int32 {
	direct := int32(1)
	if n.queue != nil { // who reaches a part waits for the device
		direct = 0
	}
	for rank := range all {
		t := &n.targets[rank]
		switch n.away[rank] = uint64(all[rank][sharedAddress]); {
		case part.Allocate:
			t.addr = uint64(uintptr(unsafe.Add(base, starts[rank])))
		case n.comm.OneProcess() || rank == n.comm.Rank():
			t.addr = n.away[rank]
		default:
			direct = 0
		}
	}
	return direct
}

// openFar has the backend open this rank's part, and its lock. Collective.
func (w *Window) openFar(mem memory.Allocator, part Part, all []comm.Shared) (err error) {
	exposed, err := w.allocate(part, all)
	if err != nil {
		return err
	}
	if exposed != nil {
		w.reach = exposed // which is closed if the window is not made
	}
	if part.Allocate && w.storage == nil {
		w.storage, err = memory.NewStorage(mem, int(max(part.Bytes, 1)), page)
	}
	if w.storage != nil {
		part.Base = memory.Span{Addr: w.storage.Addr(), Count: int(part.Bytes), Type: dtype.Uint8}
	}
	if err == nil {
		w.segment, err = memory.NewStorage(mem, farWordsBytes, 64)
	}
	said := comm.Shared{sharedAddress: int64(uintptr(part.Base.Addr))}
	if err := w.comm.AgreeSharing(comm.Call{Op: "window"}, err, said, all); err != nil {
		return err
	}
	w.targets[w.comm.Rank()].addr = uint64(uintptr(part.Base.Addr))
	if exposed == nil {
		if exposed, err = w.comm.Expose("window", "part", part.Base.Raw()); err != nil {
			return err
		}
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
