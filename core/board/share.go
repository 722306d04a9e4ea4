package board

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// Create makes the memory for so many ranks and returns the name by which the others open it.
func Create(ranks int) (name string, err error) { return CreateSegment(Bytes(ranks)) }

// Open returns rank's sight of a board. A name of another machine is an error.
func Open(name string, rank, ranks int) (*Board, error) {
	memory, err := OpenSegment(name, Bytes(ranks))
	if err != nil {
		return nil, err
	}
	return sight(memory, rank, ranks)
}

// Alone returns the board of a rank that has no other beside it.
func Alone() (*Board, error) {
	memory, err := PrivateSegment(Bytes(1))
	if err != nil {
		return nil, err
	}
	return sight(memory, 0, 1)
}

// sight takes over the memory of a board.
func sight(memory []byte, rank, ranks int) (*Board, error) {
	local, err := locals.Get()
	if err != nil {
		_ = unix.Munmap(memory) // of what has just been mapped
		return nil, status.New(status.OutOfMemory, "no memory: %w", err)
	}
	b := &Board{memory: memory, rank: rank, size: ranks, local: local}
	local.describe(b)
	b.slot(rank).presence.introduce(os.Getpid(), local)
	return b, nil
}

// Close gives the memory back, unless offers are open. Nobody uses the board after it, but for Turn, Forsake, and those
// whose offers they are; so nobody has it who was lent it.
func (b *Board) Close() error {
	if b.offering() {
		return nil
	}
	memory := b.memory
	b.memory = nil
	return unix.Munmap(memory)
}

// The entries of a slot are whole cache lines.
const _ = uint(64-unsafe.Sizeof(Entry{})) + uint(unsafe.Sizeof(Entry{})-64)
