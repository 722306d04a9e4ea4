package comm

import (
	"cmp"
	"slices"
	"sync"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// Exchanger has the devices of all ranks exchange elements without the host.
type Exchanger interface {
	// Ready reports whether the devices can, which all ranks know then. Collective.
	Ready() (bool, error)
	// Exchange sends send[r], which is on this rank's device, to each rank r, and has recv[r] hold what that sends here; spans
	// without elements are not sent, and both ends of each have the same number of bytes. It comes after what is queued on streams of the
	// driver's by now. If a rank cannot go on, which mine says, every rank gets an error. Collective.
	Exchange(call Call, mine error, streams []uintptr, send, recv []memory.Span) error
}

// readiness is whether the devices of all ranks can exchange elements, which the ranks find out once.
type readiness struct{ asked, works bool }

// find finds out, by what here says of this rank. Collective.
func (r *readiness) find(on *Comm, op string, here func() (bool, error)) (bool, error) {
	err := on.inTurn(op, func() error {
		if r.asked {
			return nil
		}
		can, err := here()
		if err != nil {
			return err
		}
		shares := make([]Shared, on.size)
		if err := on.agree(Call{Op: op}, nil, Shared{int64(truth(can))}, shares); err != nil {
			return err
		}
		r.asked, r.works = true, !slices.Contains(shares, Shared{})
		return nil
	})
	return r.works, err
}

// follow has a queue go on after what is queued on streams by now.
func follow(q backend.Queue, streams []uintptr) error {
	for _, before := range streams {
		if before == q.Stream() {
			continue
		}
		if err := q.Device().Order(before, q.Stream()); err != nil {
			return err
		}
	}
	return nil
}

// IPCExchanger is the Exchanger of processes of one machine. Each lends the others some memory of its device, where it puts what they
// copy to their own.
type IPCExchanger struct {
	on    *Comm
	begin func() (backend.Queue, error)

	readiness
	queue  backend.Queue
	lent   *window
	others []unsafe.Pointer // where this rank's device finds what the others lend
}

// windowBytes is how much memory a rank lends the others of a communicator.
const windowBytes = 8 << 20

// window is memory of a device that is lent, or kept for a later communicator: it cannot be freed while other processes reach it.
type window struct {
	memory.Span
	key []byte
}

// loan is memory that another process lends a device of this one.
type loan struct {
	device int
	key    [backend.LentKey]byte
	by     uint64 // the process
}

var (
	ipc      sync.Mutex
	windows  = map[int][]*window{} // by device, those that no communicator has
	borrowed = map[loan]unsafe.Pointer{}
)

// NewIPCExchanger returns the one of a communicator whose ranks are processes of one machine, which share memory; nil of others, on all
// ranks. begin returns the queue of this rank's device.
func NewIPCExchanger(on *Comm, begin func() (backend.Queue, error)) *IPCExchanger {
	if on.size == 1 || on.board == nil || on.oneProcess {
		return nil
	}
	return &IPCExchanger{on: on, begin: begin}
}

// newWindow returns memory of a device that is lent.
func newWindow(on backend.Device) (*window, error) {
	ipc.Lock()
	defer ipc.Unlock()
	if kept := windows[on.Number()]; len(kept) > 0 {
		windows[on.Number()] = kept[1:]
		return kept[0], nil
	}
	storage, err := memory.NewScratch(on.Memory(), windowBytes, memory.Alignment)
	if err != nil {
		return nil, err
	}
	key, err := on.Lend(storage.Addr())
	if err != nil {
		storage.Release()
		return nil, err
	}
	return &window{Span: storage.Bytes(), key: key}, nil
}

// borrow returns where a device finds memory that another process lends.
func borrow(on backend.Device, key []byte, by uint64) (unsafe.Pointer, error) {
	ipc.Lock()
	defer ipc.Unlock()
	of := loan{on.Number(), [backend.LentKey]byte(key), by}
	if at := borrowed[of]; at != nil {
		return at, nil
	}
	at, err := on.Borrow(key)
	if err == nil {
		borrowed[of] = at
	}
	return at, err
}

// Ready implements Exchanger. In the first call all ranks lend each other memory; if one cannot, none does.
func (l *IPCExchanger) Ready() (bool, error) {
	return l.find(l.on, "lending memory of GPUs", func() (bool, error) {
		queue, failed := l.begin()
		if l.queue = queue; failed == nil {
			l.lent, failed = newWindow(queue.Device())
		}
		var key []byte
		var on backend.Device
		if failed == nil {
			key, on = l.lent.key, queue.Device()
		}
		others, missed, err := l.on.borrowAll(on, key)
		for rank := range others {
			if rank != l.on.rank && others[rank] == nil && missed == nil {
				missed = status.New(status.Unsupported, "rank %d lends nothing", rank)
			}
		}
		l.others = others
		return failed == nil && missed == nil, err
	})
}

// borrowAll tells the other ranks, which are processes of one machine, the key of memory that this rank lends, which may be nil, and
// returns where its device finds what they lend; nil of those that lend nothing, and of itself. failed says what it could not reach.
// Collective.
func (c *Comm) borrowAll(on backend.Device, key []byte) (others []unsafe.Pointer, failed, err error) {
	told := make([]uint8, backend.LentKey+16)
	copy(told, key)
	told[backend.LentKey] = truth(key != nil)
	copy(told[backend.LentKey+8:], thisProcess())
	all := make([]uint8, c.size*len(told))
	if err := c.Allgather(memory.Of(dtype.Uint8, told), memory.Of(dtype.Uint8, all)); err != nil {
		return nil, nil, err
	}
	others = make([]unsafe.Pointer, c.size)
	for rank := range others {
		of := all[rank*len(told):][:len(told)]
		if rank == c.rank || of[backend.LentKey] == 0 || on == nil || failed != nil {
			continue
		}
		others[rank], failed = borrow(on, of[:backend.LentKey], *(*uint64)(unsafe.Pointer(&of[backend.LentKey+8])))
	}
	return others, failed, nil
}

// Borrow has the ranks, which are processes of one machine, reach memory that they lend each other: a rank passes its device and the
// key of its own, or nil, and gets where the device finds that of each other rank. Collective.
func (c *Comm) Borrow(op string, on backend.Device, key []byte) (others []unsafe.Pointer, err error) {
	err = c.inTurn(op, func() error {
		var failed error
		if others, failed, err = c.borrowAll(on, key); err != nil {
			return err
		}
		return c.agree(Call{Op: op + " of memory on GPUs"}, failed, Shared{}, nil)
	})
	return others, err
}

// slot is how many bytes a window has for each rank.
func (l *IPCExchanger) slot() int { return windowBytes / l.on.size &^ (memory.Alignment - 1) }

// Exchange implements Exchanger. It moves the elements in as many pieces as the longest message of all ranks has.
func (l *IPCExchanger) Exchange(call Call, mine error, streams []uintptr, send, recv []memory.Span) error {
	return l.on.inTurn(call.Op, func() error {
		if mine == nil {
			mine = follow(l.queue, streams)
		}
		longest := int64(0)
		for rank := range send {
			longest = max(longest, int64(send[rank].Bytes()))
		}
		all := make([]Shared, l.on.size)
		if err := l.on.agree(call, mine, Shared{longest}, all); err != nil {
			return err
		}
		for _, share := range all {
			longest = max(longest, share[0])
		}
		for done := 0; done < int(longest); done += l.slot() {
			if err := l.piece(call.Op, done, send, recv); err != nil {
				return err
			}
		}
		return nil
	})
}

// piece exchanges a slot's bytes of each message, after those that are done.
func (l *IPCExchanger) piece(op string, done int, send, recv []memory.Span) error {
	err := l.copy(send, done, func(rank int, part memory.Span) error {
		return l.queue.Copy(l.lent.Slice(rank*l.slot(), rank*l.slot()+part.Count), part)
	})
	if err = l.on.agree(Call{Op: op + " is there"}, err, Shared{}, nil); err != nil {
		return err
	}
	err = l.copy(recv, done, func(rank int, part memory.Span) error {
		from := part
		from.Addr = unsafe.Add(l.others[rank], l.on.rank*l.slot())
		return l.queue.Copy(part, from)
	})
	return l.on.agree(Call{Op: op + " is copied"}, err, Shared{}, nil)
}

// copy makes copies of parts of spans, and waits for them.
func (l *IPCExchanger) copy(spans []memory.Span, done int, each func(rank int, part memory.Span) error) (err error) {
	for rank, s := range spans {
		if rank == l.on.rank || s.Count <= done || err != nil {
			continue
		}
		err = each(rank, s.Slice(done, min(done+l.slot(), s.Count)))
	}
	return cmp.Or(err, l.queue.Synchronize())
}

// Close keeps the memory for another communicator. The other ranks have copied what was there, unless a call has failed. Local.
func (l *IPCExchanger) Close() {
	if l.lent == nil || l.on.broken() != nil {
		return
	}
	ipc.Lock()
	defer ipc.Unlock()
	device := l.queue.Device().Number()
	windows[device] = append(windows[device], l.lent)
	l.lent = nil
}
