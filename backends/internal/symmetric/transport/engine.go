// Package transport moves messages through symmetric memory: rings of records between processes (ring.go), the matching
// of messages with receives (matching.go), and the engine that progresses both (engine.go).
package transport

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Engine is the progress engine of one process: what it sends to the others and receives from them goes through its links.
// It moves only while somebody calls, as with MPI, whichever request that waits for.
type Engine struct {
	Fabric
	over atomic.Bool // the library ends

	mu       sync.Mutex
	rings    Rings
	links    []link               // by process
	channels map[uint32]*matching // by channel
	sends    map[uint64]*Request
	receives map[uint64]*Request
	copies   []*Request // receives that copy from other processes
	lastID   uint64     // of sends, receives and active requests
	stage    []byte     // where a short record is put together
	handlers [kinds]Handler
	reader   Reader // the fabric, where it is one
	patient  int    // looks at which a wait gives no processor to others
}

// Handler does what a record asks for. It holds the engine's lock.
type Handler func(from int, h Header, data unsafe.Pointer)

// NewEngine returns the engine of a process, whose rings are at the start of the symmetric memory.
func NewEngine(f Fabric) *Engine {
	e := &Engine{
		Fabric: f, rings: Layout(f.Processes()), links: make([]link, f.Processes()), channels: map[uint32]*matching{},
		sends: map[uint64]*Request{}, receives: map[uint64]*Request{}, stage: make([]byte, staged),
	}
	e.handlers = [kinds]Handler{
		eager: e.onMessage, readyToSend: e.onMessage, clearToSend: e.onClearToSend, fragment: e.onFragment, copied: e.onCopied,
	}
	e.reader, _ = f.(Reader)
	if runtime.NumCPU() >= f.Processes() {
		e.patient = brief
	}
	return e
}

// copyStep is how many bytes a process copies before it looks at what else there is.
const copyStep = 1 << 20

// copy goes on with what this process copies from others. The caller holds the lock.
func (e *Engine) copy() {
	kept := e.copies[:0]
	for _, r := range e.copies {
		if !e.copySome(r) {
			kept = append(kept, r)
		}
	}
	clear(e.copies[len(kept):])
	e.copies = kept
}

// copySome copies a part of a message, and reports whether nothing is left to copy. Where that cannot be done, the sender
// sends the message.
func (e *Engine) copySome(r *Request) bool {
	n := min(copyStep, min(r.status.Bytes, r.buf.Bytes())-r.filled)
	if n > 0 && !e.reader.Read(r.process, r.address+uint64(r.filled), unsafe.Add(r.buf.Addr, r.filled), n) {
		r.filled = 0
		e.demand(r)
		return true
	}
	r.filled += n
	if r.filled < min(r.status.Bytes, r.buf.Bytes()) {
		return false
	}
	r.filled = r.status.Bytes
	r.finish()
	e.SendRecord(r.process, Header{Kind: copied, ID: r.id}, nil)
	return true
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

// matching returns that of a channel. Messages may come before this process has the communicator. The caller holds the
// lock.
func (e *Engine) matching(channel uint32) *matching {
	q := e.channels[channel]
	if q == nil {
		q = &matching{}
		e.channels[channel] = q
	}
	return q
}

// Forget drops what came on some channels. It calls nothing of the library.
func (e *Engine) Forget(channels ...uint32) {
	e.Guard(func() {
		for _, channel := range channels {
			delete(e.channels, channel)
		}
	})
}

// Number returns a new number for a send, a receive, or an active request. The caller holds the lock.
func (e *Engine) Number() uint64 {
	e.lastID++
	return e.lastID
}

// Lock takes the lock for calls of the library, and never returns once that ends: a call that nobody waits for any more,
// such as a collective that other ranks never start, may still be under way in a goroutine.
func (e *Engine) Lock() {
	e.mu.Lock()
	if e.over.Load() {
		e.mu.Unlock()
		select {}
	}
}

// Guard calls f, which calls nothing of the library, under the lock: also once the library ends.
func (e *Engine) Guard(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// Unlock gives the lock back.
func (e *Engine) Unlock() { e.mu.Unlock() }

// End returns when no call of the library is under way, and none will be; or after a second, for one that does not return
// may be what ends the process.
func (e *Engine) End() {
	e.over.Store(true)
	for until := time.Now().Add(time.Second); !e.mu.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return
		}
	}
	e.mu.Unlock()
}

// Progress moves what can be moved. The caller holds the lock.
func (e *Engine) Progress() {
	for from := range e.links {
		e.drain(from)
	}
	for to := range e.links {
		e.flush(to)
	}
	e.copy()
}

const (
	// brief is how many looks a wait takes before it gives the processor to others, where each process has one.
	brief = 20
	// spins is how many looks a wait takes before it lets time pass.
	spins = 4000
	// nap is how long that is.
	nap = 50 * time.Microsecond
)

// Pause passes a moment between two looks.
func (e *Engine) Pause(look int) {
	switch {
	case look > spins:
		time.Sleep(nap)
	case look > e.patient:
		e.Yield()
	}
	if look%16 == 15 {
		e.Lock()
		e.Advance()
		e.Unlock()
	}
}
