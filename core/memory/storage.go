package memory

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/status"
)

// Block is raw memory that an allocator handed out. Its address never moves.
type Block struct {
	Addr  unsafe.Pointer
	Size  int // bytes asked for
	Place Place
	// Shared says of a block that is given back that work on it may be under way which its allocator does not know: see Storage.Share.
	Shared bool
}

// Allocator hands out blocks and takes them back. Allocate returns zeroed memory, or an error that is
// status.OutOfMemory and names the size.
type Allocator interface {
	Allocate(size, alignment int) (Block, error)
	Deallocate(Block)
}

// CheckRequest says what is wrong with a request for memory, whoever the allocator is.
func CheckRequest(size, alignment int) error {
	if size < 0 || alignment < 0 || alignment&(alignment-1) != 0 {
		return status.New(status.InvalidArgument,
			"%d bytes at a multiple of %d: the size must not be negative, and the alignment a power of two", size, alignment)
	}
	return nil
}

// Reuser is an Allocator that can also hand out memory as its last user left it, which is committed already.
type Reuser interface {
	AllocateUsed(size, alignment int) (Block, error)
}

// Meter is an Allocator that knows about how many bytes it could still hand out; 0 where it cannot say.
type Meter interface {
	AvailableMemory() int64
}

// Storage owns a block and counts its users: the container that asked for it and every view that is out.
// The memory goes back when the last user releases it.
type Storage struct {
	block   Block
	from    Allocator
	users   atomic.Int64
	exposed atomic.Int64
	shared  atomic.Bool
	checked interface{ Check(Block) error } // nil: nothing can happen to the memory
}

// Alignment divides the address of memory for elements and for messages: a cache line, and the widest vector register.
const Alignment = 64

// NewStorage allocates size bytes with one user, the caller.
func NewStorage(from Allocator, size, alignment int) (*Storage, error) {
	if err := CheckReserve(); err != nil {
		return nil, status.New(status.OutOfMemory, "%d bytes cannot be allocated: %w", size, err)
	}
	block, err := from.Allocate(size, alignment)
	return own(from, block, err)
}

// NewScratch is NewStorage of memory that holds anything: for what is written before it is read.
func NewScratch(from Allocator, size, alignment int) (*Storage, error) {
	if r, ok := from.(Reuser); ok && CheckReserve() == nil {
		block, err := r.AllocateUsed(size, alignment)
		return own(from, block, err)
	}
	return NewStorage(from, size, alignment)
}

// own makes a storage of what an allocator returned, with one user.
func own(from Allocator, block Block, err error) (*Storage, error) {
	if err != nil {
		return nil, withAvailable(from, err)
	}
	s := &Storage{block: block, from: from}
	s.users.Store(1)
	return s, nil
}

// Adopt returns a storage of a block that is in use already, with one user, the caller. The last one's Release gives it to
// the allocator, which may be another than it is from.
func Adopt(from Allocator, block Block) *Storage {
	s := &Storage{block: block, from: from}
	s.checked, _ = from.(interface{ Check(Block) error })
	s.users.Store(1)
	return s
}

// Check is an error if the memory has lost what it had, as that of a file which somebody truncates.
func (s *Storage) Check() error {
	if s.checked == nil {
		return nil
	}
	return s.checked.Check(s.block)
}

// withAvailable adds to the error of an allocator that has no room how much there is.
func withAvailable(from Allocator, err error) error {
	meter, ok := from.(Meter)
	if !ok || !errors.Is(err, status.OutOfMemory) {
		return err
	}
	n := meter.AvailableMemory()
	if n == 0 {
		return err
	}
	return status.New(status.OutOfMemory, "%w; about %d bytes are available", err, n)
}

// File returns the descriptor of the file whose first byte is the memory's, while the storage is in use; -1: it is of none, or what is
// written to it is not in the file.
func (s *Storage) File() int {
	if from, ok := s.from.(interface{ FileOf(Block) int }); ok {
		return from.FileOf(s.block)
	}
	return -1
}

// Addr returns the first byte's address.
func (s *Storage) Addr() unsafe.Pointer { return s.block.Addr }

// Bytes returns the memory.
func (s *Storage) Bytes() Span {
	return Span{Addr: s.block.Addr, Count: s.block.Size, Type: dtype.Uint8, Place: s.block.Place}
}

// Place returns where the memory is.
func (s *Storage) Place() Place { return s.block.Place }

// Size returns the bytes that were asked for.
func (s *Storage) Size() int { return s.block.Size }

// Share says that from now on others may work on the memory, of which the queue of a device that it was allocated for does not know:
// other libraries, other processes. Whoever gets the memory next waits for these, too.
func (s *Storage) Share() { s.shared.Store(true) }

// Users returns how many hold the storage now.
func (s *Storage) Users() int64 { return s.users.Load() }

// Expose says that other ranks reach the memory without a call of this one, until Conceal is called as often. Who leaves work on it to a
// device waits for that while it is exposed.
func (s *Storage) Expose() {
	s.Share()
	s.exposed.Add(1)
}

// Conceal takes an Expose back.
func (s *Storage) Conceal() { s.exposed.Add(-1) }

// Exposed reports whether other ranks reach the memory.
func (s *Storage) Exposed() bool { return s.exposed.Load() > 0 }

// Retain adds a user. It fails when the last one has gone already.
func (s *Storage) Retain() error {
	for {
		n := s.users.Load()
		if n == 0 {
			return status.New(status.InvalidHandle, "the memory has been released")
		}
		if s.users.CompareAndSwap(n, n+1) {
			return nil
		}
	}
}

// Release drops one user and returns the memory to its allocator with the last.
func (s *Storage) Release() {
	switch n := s.users.Add(-1); {
	case n == 0:
		block := s.block
		block.Shared = s.shared.Load()
		s.from.Deallocate(block)
	case n < 0:
		panic("memory: storage released more often than retained")
	}
}
