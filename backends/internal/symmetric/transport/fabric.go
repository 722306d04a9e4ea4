package transport

import "unsafe"

// Fabric is symmetric memory: as many bytes in each of some processes, which each of them can reach. Places in it are
// offsets, the same in all. The engine's lock is held during every call.
type Fabric interface {
	Me() int
	Processes() int
	// Memory returns the bytes that lie in this process. They start at a multiple of 4096, and never move.
	Memory() (start unsafe.Pointer, size int)

	// Put writes n bytes from here to there, and returns when from may be used again; Get reads, and returns when they
	// have arrived.
	Put(there, at int, from unsafe.Pointer, n int)
	Get(there, at int, into unsafe.Pointer, n int)
	// BeginPut and BeginGet only start it; Quiet returns when everything that was started has happened.
	BeginPut(there, at int, from unsafe.Pointer, n int)
	BeginGet(there, at int, into unsafe.Pointer, n int)
	Quiet()
	// Post writes a number that whoever sees it sees everything that was put before to the same process, too.
	Post(there, at int, value uint64)

	// The atomic operations are on words of 8 bytes, at a multiple of that, and return what was there.
	Fetch(there, at int) uint64
	Swap(there, at int, value uint64) uint64
	Add(there, at int, value uint64) uint64
	CompareSwap(there, at int, cond, value uint64) uint64

	// Advance has the library move what others have sent, where it needs that.
	Advance()
	// Yield lets another process have the processor.
	Yield()
}

// Reader is a Fabric whose processes copy from each other's memory, wherever that lies, where the system lets them. Then long
// messages are copied once.
type Reader interface {
	Fabric
	// Read copies n bytes from an address in another process, and reports whether it could.
	Read(there int, from uint64, into unsafe.Pointer, n int) bool
}
