package cpu

import (
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// helper is a thread of a pool. It sleeps in the kernel until a caller has a loop for it. What the caller does not find begun in the end, it
// takes back: nobody waits for a thread that the kernel has not let run.
type helper struct {
	loop   atomic.Pointer[loop] // that the helper is to take
	posted atomic.Uint32        // grows by 1 for each loop
	state  atomic.Uint32        // idle, or what has become of the loop
	thread atomic.Int64         // its number for the kernel, 0 before it is known
	where  unix.CPUSet          // the processors that the kernel was told to use for it
}

const (
	idle uint32 = iota
	busy
	awaited // the caller sleeps until the helper is idle
)

// newHelper starts a thread.
func newHelper() *helper {
	h := new(helper)
	go h.serve()
	return h
}

// serve takes loops, as long as the process lives.
func (h *helper) serve() {
	runtime.LockOSThread()
	h.thread.Store(int64(unix.Gettid()))
	for {
		seen := h.posted.Load()
		l := h.loop.Swap(nil)
		if l == nil {
			sleepWhile(&h.posted, seen)
			continue
		}
		l.run()
		if h.state.Swap(idle) == awaited {
			wake(&h.state)
		}
	}
}

// begin has the helper take a loop on the processors of a set, if there is any in it. Where a library's thread waits on another processor without
// sleeping, the kernel may wake the helper on the caller's, behind the caller.
func (h *helper) begin(l *loop, where *unix.CPUSet) {
	if thread := int(h.thread.Load()); thread != 0 && h.where != *where && where.Count() > 0 {
		h.where = *where
		_ = unix.SchedSetaffinity(thread, where) // where it refuses, the helper runs where it did
	}
	h.state.Store(busy)
	h.loop.Store(l)
	h.posted.Add(1)
	wake(&h.posted)
}

// end returns when the helper is not at work on what it was to begin.
func (h *helper) end() {
	const looks = 1 << 16 // which take about as long as a piece of a loop
	if h.loop.Swap(nil) != nil {
		h.state.Store(idle)
		return
	}
	for range looks {
		if h.state.Load() == idle {
			return
		}
	}
	if h.state.CompareAndSwap(busy, awaited) {
		for h.state.Load() == awaited {
			sleepWhile(&h.state, awaited)
		}
	}
}

// elsewhere returns the processors that the caller may use without the one on which it runs; none where the kernel does not say.
func elsewhere() (set unix.CPUSet) {
	var here uint32
	if _, _, failed := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0); failed != 0 || unix.SchedGetaffinity(0, &set) != nil {
		return unix.CPUSet{}
	}
	set.Clear(int(here))
	return set
}

// The operations of futex(2) within a process.
const (
	futexWait = 0x80
	futexWake = 0x81
)

// sleepWhile sleeps while a word has a value, until wake; now and then it returns before.
func sleepWhile(word *atomic.Uint32, value uint32) {
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), 0, 0, 0)
}

// wake wakes whoever sleeps because of a word.
func wake(word *atomic.Uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, math.MaxInt32, 0, 0, 0)
}
