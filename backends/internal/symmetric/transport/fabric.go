package transport

import "unsafe"

// Fabric is symmetric memory: as many bytes in each of some processes, which each of them can reach. Places in it are
// offsets, the same in all. The engine's lock is held during every call.
type Fabric interface {
	Me() int
	Processes() int
	// Memory returns the bytes that lie in this process. They start at a multiple of 4096, and never move.
	Memory() (start unsafe.Pointer, size int)
	// Native says how C writes to the memory of processes. It is asked once.
	Native() Native

	// Put writes n bytes from here to there, and returns when from may be used again; Get reads, and returns when they
	// have arrived.
	Put(there, at int, from unsafe.Pointer, n int)
	Get(there, at int, into unsafe.Pointer, n int)
	// BeginPut and BeginGet only start it; Quiet returns when everything that was started has happened.
	BeginPut(there, at int, from unsafe.Pointer, n int)
	BeginGet(there, at int, into unsafe.Pointer, n int)
	Quiet()

	// The atomic operations are on words of 8 bytes, at a multiple of that, and return what was there.
	Fetch(there, at int) uint64
	Swap(there, at int, value uint64) uint64
	Add(there, at int, value uint64) uint64
	CompareSwap(there, at int, cond, value uint64) uint64

	// Advance has the library move what others have sent, where it needs that.
	Advance()
}

// Native is how C reaches the memory of processes: where it is mapped here, or by C functions whose signatures ring.h states.
type Native struct {
	Parts              []unsafe.Pointer // of each process, mapped here; nil: by the functions
	Put, Post, Advance unsafe.Pointer   // Advance: nil where nothing needs that
	// IDs are the system's numbers of the processes, which copy from each other's memory, wherever that lies, where the
	// system lets them: then long messages are copied once. nil: they do not.
	IDs []int64
}
