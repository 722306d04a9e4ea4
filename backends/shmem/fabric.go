package shmem

import "unsafe"

// fabric is symmetric memory: as many bytes in each of some processes, which each of them can reach. Places in it are
// offsets, the same in all. Whoever calls has the world's lock.
type fabric interface {
	me() int
	processes() int
	// memory returns the bytes that lie in this process. They start at a multiple of 4096, and never move.
	memory() (start unsafe.Pointer, size int)

	// put writes n bytes from here to there, and returns when from may be used again; get reads, and returns when they
	// have arrived.
	put(there, at int, from unsafe.Pointer, n int)
	get(there, at int, into unsafe.Pointer, n int)
	// begin of a put or get only starts it; quiet returns when everything that was started has happened.
	beginPut(there, at int, from unsafe.Pointer, n int)
	beginGet(there, at int, into unsafe.Pointer, n int)
	quiet()
	// post writes a number that whoever sees it sees everything that was put before to the same process, too.
	post(there, at int, value uint64)

	// The atomic operations are on words of 8 bytes, at a multiple of that, and return what was there.
	fetch(there, at int) uint64
	swap(there, at int, value uint64) uint64
	add(there, at int, value uint64) uint64
	compareSwap(there, at int, cond, value uint64) uint64

	// advance has the library move what others have sent, where it needs that.
	advance()
	// yield lets another process have the processor.
	yield()
}
