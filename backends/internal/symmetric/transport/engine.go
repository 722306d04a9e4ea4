// Package transport moves messages through symmetric memory. It has rings of records between processes (ring.h), the
// matching of messages with receives, and the progress of both (message.h). These are written in C, so that code
// outside Go sends and receives with the same functions. The Go files are what the rest of Go sees of them.
package transport

/*
#cgo nocallback dtl_group_free
#cgo nocallback dtl_group_new
#include <stdlib.h>
#include "message.h"
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// CacheLine is how many bytes apart two processes write, so that they do not share a line of the cache.
const CacheLine = C.DTL_CACHE_LINE

// Rings say where they lie in the symmetric memory.
type Rings C.struct_dtl_rings

// Layout chooses the size of the rings.
func Layout(processes int) Rings { return Rings(C.dtl_rings_of(C.int64_t(processes))) }

// Bytes returns how much memory they take, from the start of the symmetric memory on.
func (r Rings) Bytes() int { return int(C.dtl_rings_bytes(C.struct_dtl_rings(r))) }

// Piece is the length of the longest record, apart from its header.
func (r Rings) Piece() int { return int(C.dtl_rings_piece(C.struct_dtl_rings(r))) }

// Where the counters and the rings lie, and how large those are.
const leastRing, mostRing, allRings = C.DTL_LEAST_RING, C.DTL_MOST_RING, C.DTL_ALL_RINGS

func (r Rings) credit(of int) int { return int(C.dtl_ring_credit(C.int64_t(of))) }
func (r Rings) records(of int) int {
	return int(C.dtl_ring_records(C.struct_dtl_rings(r), C.int64_t(of)))
}

// Kind says what a record is.
type Kind uint32

// The kinds of records that are not the engine's own.
const (
	ActiveRequest Kind = C.DTL_ACTIVE_REQUEST // of a window, as package window says
	ActiveReply   Kind = C.DTL_ACTIVE_REPLY   // to an active request: ID is the request's
)

// Header starts each record; Size bytes follow.
type Header struct {
	Kind    Kind
	Channel uint32
	Tag     int32
	Size    uint32
	Bytes   uint64
	ID      uint64
}

// It is C's: a difference is a constant that does not fit.
const (
	_ = -(unsafe.Sizeof(Header{}) ^ unsafe.Sizeof(C.struct_dtl_record{}))
	_ = -(unsafe.Offsetof(Header{}.Size) ^ unsafe.Offsetof(C.struct_dtl_record{}.size))
	_ = -(unsafe.Offsetof(Header{}.ID) ^ unsafe.Offsetof(C.struct_dtl_record{}.id))
)

// Engine is the progress engine of one process: what it sends to the others and receives from them goes through its links.
// It moves only while somebody calls, as with MPI, whichever request that waits for.
type Engine struct {
	Fabric
	c          *C.struct_dtl_engine
	lock, over *uint32 // C's, too
	rings      Rings
	lastID     uint64 // of active requests
	handlers   [ActiveReply + 1]Handler

	mu   sync.Mutex
	left map[*Request]bool // requests that were handed out under way: their buffers stay where nobody waits any more
}

// Handler carries out what a record of another process asks for. It is called with the engine's lock held.
type Handler func(from int, h Header, data unsafe.Pointer)

// NewEngine returns the engine of a process, whose rings are at the start of the symmetric memory.
func NewEngine(f Fabric) *Engine {
	e := &Engine{Fabric: f, rings: Layout(f.Processes()), left: map[*Request]bool{}}
	n, start := f.Native(), unsafe.Pointer(nil)
	start, _ = f.Memory()
	c := C.struct_dtl_fabric{me: C.int(f.Me()), processes: C.int(f.Processes()), own: (*C.char)(start)}
	if n.Parts != nil {
		c.parts = (**C.char)(kept(unsafe.Pointer(unsafe.SliceData(n.Parts)), len(n.Parts)))
	}
	*(*unsafe.Pointer)(unsafe.Pointer(&c.put)) = n.Put
	*(*unsafe.Pointer)(unsafe.Pointer(&c.post)) = n.Post
	*(*unsafe.Pointer)(unsafe.Pointer(&c.advance)) = n.Advance
	var ids *C.int64_t
	if n.IDs != nil {
		ids = (*C.int64_t)(kept(unsafe.Pointer(unsafe.SliceData(n.IDs)), len(n.IDs)))
	}
	e.c = C.dtl_engine_new(c, ids, C.uintptr_t(cgo.NewHandle(e)), C.int(runtime.NumCPU()))
	if e.c == nil {
		panic("out of memory")
	}
	e.lock, e.over = (*uint32)(C.dtl_engine_lock(e.c)), (*uint32)(C.dtl_engine_over(e.c))
	return e
}

// kept returns a copy of some words that is C's, and stays.
func kept(words unsafe.Pointer, n int) unsafe.Pointer {
	to := C.malloc(C.size_t(8 * n))
	copy(unsafe.Slice((*uint64)(to), n), unsafe.Slice((*uint64)(words), n))
	return to
}

//export dtl_active
func dtl_active(name C.uintptr_t, from C.int, h *C.struct_dtl_record, data unsafe.Pointer) {
	header := *(*Header)(unsafe.Pointer(h))
	cgo.Handle(name).Value().(*Engine).handlers[header.Kind](int(from), header, data)
}

// Handle sets what is done with records of a kind, before any comes.
func (e *Engine) Handle(kind Kind, f Handler) { e.handlers[kind] = f }

// Rings returns how the symmetric memory is divided.
func (e *Engine) Rings() Rings { return e.rings }

// Clear empties the rings; nobody sends before all processes have.
func (e *Engine) Clear() {
	start, _ := e.Memory()
	clear(unsafe.Slice((*byte)(start), e.rings.Bytes()))
}

// Number returns a new number for an active request. The caller holds the lock.
func (e *Engine) Number() uint64 {
	e.lastID++
	return e.lastID
}

// SendRecord has a record written after all that waits already. The caller holds the lock.
func (e *Engine) SendRecord(to int, h Header, data unsafe.Pointer) {
	if C.dtl_record_send(e.c, C.int(to), (*C.struct_dtl_record)(unsafe.Pointer(&h)), data) == 0 {
		panic("out of memory")
	}
}

// hold takes the lock, which C takes in the same way.
func (e *Engine) hold() {
	const yields, nap = 1000, 50 * time.Microsecond
	for tries := 0; !atomic.CompareAndSwapUint32(e.lock, 0, 1); tries++ {
		if tries < yields {
			runtime.Gosched()
		} else {
			time.Sleep(nap)
		}
	}
}

// Lock takes the lock for calls of the library, and never returns once that ends: a call that nobody waits for any more,
// such as a collective that other ranks never start, may still be under way in a goroutine.
func (e *Engine) Lock() {
	e.hold()
	if atomic.LoadUint32(e.over) != 0 {
		e.Unlock()
		select {}
	}
}

// Guard calls f, which calls nothing of the library, under the lock: also once the library ends.
func (e *Engine) Guard(f func()) {
	e.hold()
	defer e.Unlock()
	f()
}

// Unlock gives the lock back.
func (e *Engine) Unlock() { atomic.StoreUint32(e.lock, 0) }

// End returns when no call of the library is under way, and none will be; or after a second, for one that does not return
// may be what ends the process.
func (e *Engine) End() {
	atomic.StoreUint32(e.over, 1)
	for until := time.Now().Add(time.Second); !atomic.CompareAndSwapUint32(e.lock, 0, 1); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return
		}
	}
	e.Unlock()
}

// Progress moves what can be moved. The caller holds the lock.
func (e *Engine) Progress() { C.dtl_progress(e.c) }

// Pause passes a moment between two looks.
func (e *Engine) Pause(look int) { C.dtl_rest(e.c, C.int(look)) }

// Group is some of the processes, in an order, with channels for their messages.
type Group struct {
	engine *Engine
	c      *C.struct_dtl_group
}

// Channel is one of a group, whose traffic never meets that of the others.
type Channel int

// The channels of a group.
const (
	Messages    Channel = C.DTL_MESSAGES    // of a program
	Collectives Channel = C.DTL_COLLECTIVES // of collectives that block
	Background  Channel = C.DTL_BACKGROUND  // of those that do not
	Channels    Channel = C.DTL_CHANNELS    // how many there are
)

// NewGroup returns a group of the processes of each rank, by a number that no other group has that shares a process with it.
// Messages may have come to it already.
func (e *Engine) NewGroup(processes []int, number uint32) *Group {
	of := make([]C.int, len(processes))
	for rank, process := range processes {
		of[rank] = C.int(process)
	}
	g := C.dtl_group_new(e.c, unsafe.SliceData(of), C.int(len(of)), C.uint32_t(number)*C.uint32_t(Channels))
	if g == nil {
		panic("out of memory")
	}
	return &Group{e, g}
}

// Close drops what came to the group. It calls nothing of the library.
func (g *Group) Close() { C.dtl_group_free(g.c) }
