package board

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/status"
)

// folder is a file system in memory, which all processes of a machine see.
const folder = "/dev/shm"

// NameBytes is how long a board's name is.
const NameBytes = 40

// Create makes the memory for so many ranks and returns the name by which the others open it. Its pages are there from
// then on: a full file system is an error here, not a signal later.
func Create(ranks int) (name string, err error) {
	random := make([]byte, (NameBytes-4)/2)
	_, _ = rand.Read(random) // never fails
	name = "dtl-" + hex.EncodeToString(random)
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", status.New(status.Backend, "no shared memory: %w", err)
	}
	defer file.Close()
	if err := unix.Fallocate(int(file.Fd()), 0, 0, int64(Bytes(ranks))); err != nil {
		Forget(name)
		return "", status.New(status.Backend, "no shared memory of %d bytes: %w", Bytes(ranks), err)
	}
	return name, nil
}

// Forget takes the name away; who has opened the board keeps it.
func Forget(name string) { _ = os.Remove(filepath.Join(folder, name)) }

// Open returns rank's sight of a board. A name of another machine is an error.
func Open(name string, rank, ranks int) (*Board, error) {
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_RDWR, 0)
	if err != nil {
		return nil, status.New(status.Backend, "no shared memory: %w", err)
	}
	defer file.Close()
	memory, err := unix.Mmap(int(file.Fd()), 0, Bytes(ranks), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, status.New(status.Backend, "no shared memory: %w", err)
	}
	return sight(memory, rank, ranks)
}

// Alone returns the board of a rank that has no other beside it.
func Alone() (*Board, error) {
	memory, err := unix.Mmap(-1, 0, Bytes(1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, status.New(status.OutOfMemory, "no memory: %w", err)
	}
	return sight(memory, 0, 1)
}

// sight takes over the memory of a board.
func sight(memory []byte, rank, ranks int) (*Board, error) {
	local, err := newLocal()
	if err != nil {
		_ = unix.Munmap(memory) // of what has just been mapped
		return nil, status.New(status.OutOfMemory, "no memory: %w", err)
	}
	b := &Board{memory: memory, rank: rank, size: ranks, local: local}
	local.describe(b)
	b.slot(rank).presence.introduce(os.Getpid(), local)
	return b, nil
}

// Close gives the memory back, unless offers are open. Nobody may use the board after it, but for Release, Forsake, and
// those whose offers they are.
func (b *Board) Close() error {
	b.Reclaim()
	if b.offering() {
		return nil
	}
	memory := b.memory
	b.memory = nil
	return unix.Munmap(memory)
}

// The entries of a slot are whole cache lines.
const _ = uint(64-unsafe.Sizeof(Entry{})) + uint(unsafe.Sizeof(Entry{})-64)
