package shmem

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// world is the engine of one process: what it sends to the others and receives from them goes through its links. It
// moves only while somebody calls, as with MPI, whichever request that waits for.
type world struct {
	fabric
	over atomic.Bool // the library ends

	mu       sync.Mutex
	mail     mailboxes
	links    []link            // by process
	inboxes  map[uint32]*inbox // by channel
	sends    map[uint64]*request
	receives map[uint64]*request
	orders   map[uint64]*pending
	windows  map[uint32]*window
	lastID   uint64 // of sends, receives and orders
	nextComm uint32 // the least number of a communicator that is free here
	stage    []byte // where a short record is put together

	space *Space
}

// newWorld divides symmetric memory: mailboxes, whose size is the same in all processes, and a heap.
func newWorld(f fabric) *world {
	w := &world{
		fabric: f, mail: layout(f.processes()), links: make([]link, f.processes()), inboxes: map[uint32]*inbox{},
		sends: map[uint64]*request{}, receives: map[uint64]*request{},
		orders: map[uint64]*pending{}, windows: map[uint32]*window{}, nextComm: 1, stage: make([]byte, staged),
	}
	start, size := f.memory()
	w.space = newSpace(unsafe.Add(start, w.mail.bytes()), size-w.mail.bytes(), w.mail.bytes())
	return w
}

// prepare clears the mailboxes; nobody sends before all processes have.
func (w *world) prepare() {
	start, _ := w.memory()
	clear(unsafe.Slice((*byte)(start), w.mail.bytes()))
}

// comm returns the communicator of all processes.
func (w *world) comm() *Comm {
	all := make([]int, w.processes())
	for i := range all {
		all[i] = i
	}
	return newComm(w, all, 0)
}

// inbox returns that of a channel. Messages may come before this process has the communicator. The caller holds the lock.
func (w *world) inbox(channel uint32) *inbox {
	in := w.inboxes[channel]
	if in == nil {
		in = &inbox{}
		w.inboxes[channel] = in
	}
	return in
}

// number returns a new number for a send or receive. The caller holds the lock.
func (w *world) number() uint64 {
	w.lastID++
	return w.lastID
}

// lock takes the lock for calls of the library, and never returns once that ends: a call that nobody waits for any more,
// such as a collective that other ranks never start, may still be under way in a goroutine.
func (w *world) lock() {
	w.mu.Lock()
	if w.over.Load() {
		w.mu.Unlock()
		select {}
	}
}

// end returns when no call of the library is under way, and none will be; or after a second, for one that does not return
// may be what ends the process.
func (w *world) end() {
	w.over.Store(true)
	for until := time.Now().Add(time.Second); !w.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return
		}
	}
	w.mu.Unlock()
}

// turn moves what can be moved. The caller holds the lock.
func (w *world) turn() {
	for from := range w.links {
		w.drain(from)
	}
	for to := range w.links {
		w.flush(to)
	}
}

const (
	// eager is how many looks a wait takes before it lets time pass.
	eager = 4000
	// nap is how long that is.
	nap = 50 * time.Microsecond
)

// pause passes a moment between two looks.
func (w *world) pause(look int) {
	switch {
	case look > eager:
		time.Sleep(nap)
	default:
		w.yield()
	}
	if look%16 == 15 {
		w.lock()
		w.advance()
		w.mu.Unlock()
	}
}
