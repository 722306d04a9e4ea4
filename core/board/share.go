package board

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/board/cma"
	"dtl/core/status"
)

// Create makes the memory for so many ranks, whose name the others open.
func Create(ranks int) (*Segment, error) { return createSegment(Bytes(ranks), extensionBytes(ranks)) }

// CreateBeside is Create with so many bytes more, which Beside returns.
func CreateBeside(ranks, more int) (*Segment, error) { return CreateSegment(Bytes(ranks) + more) }

// Open returns rank's view of a board that OpenSegment opens.
func Open(name string, rank, ranks int) (*Board, error) {
	memory, extension, err := openSegment(name, Bytes(ranks), extensionBytes(ranks))
	if err != nil {
		return nil, err
	}
	b, err := view(memory, rank, ranks)
	if err == nil {
		b.extension = extension
	} else if extension != nil {
		_ = unix.Munmap(extension) // of what has just been mapped
	}
	return b, err
}

// OpenBeside is Open of what CreateBeside has made.
func OpenBeside(name string, rank, ranks, more int) (*Board, error) {
	memory, err := OpenSegment(name, Bytes(ranks)+more)
	if err != nil {
		return nil, err
	}
	return view(memory, rank, ranks)
}

// Alone returns the board of a rank that has no other beside it.
func Alone() (*Board, error) {
	memory, err := PrivateSegment(Bytes(1))
	if err != nil {
		return nil, err
	}
	return view(memory, 0, 1)
}

// view takes over the memory of a board.
func view(memory []byte, rank, ranks int) (*Board, error) {
	local, err := locals.Get()
	if err != nil {
		_ = unix.Munmap(memory) // of what has just been mapped
		return nil, status.New(status.OutOfMemory, "no memory: %w", err)
	}
	b := &Board{memory: memory, rank: rank, size: ranks, local: local}
	b.Presences = cma.At(&b.slot(0).presence, slotBytes, rank, ranks)
	local.describe(b)
	b.slot(rank).presence.Introduce(os.Getpid(), &local.key)
	return b, nil
}

// Beside returns the address of the memory behind the slots.
func (b *Board) Beside() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.memory)), Bytes(b.size))
}

// Close gives the memory back, unless offers are open. Nobody uses the board after it, but for Turn, Recycle, and those
// whose offers they are; so the fast path is closed.
func (b *Board) Close() error {
	if b.Offering() {
		return nil
	}
	memory, extension := b.memory, b.extension
	b.memory, b.extension = nil, nil
	err := unix.Munmap(memory)
	if extension != nil {
		err = errors.Join(err, unix.Munmap(extension))
	}
	return err
}

// The entries of a slot are whole cache lines.
const _ = uint(64-unsafe.Sizeof(Entry{})) + uint(unsafe.Sizeof(Entry{})-64)
