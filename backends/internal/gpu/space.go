package gpu

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"dtl/backends/internal/alloc"
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// space is memory that a device reaches: its own, or managed. Blocks that are given back are kept for later, by size, because
// the driver takes long to allocate, and waits for the device to free. It comes from no pool of the driver's, which
// neither other processes nor MPI could be shown.
type space struct {
	on    *device
	place memory.Place

	mu     sync.Mutex
	blocks alloc.Ledger[int] // with the bytes that were taken
	spare  map[int][]spare   // by the bytes that were taken
	kept   int64             // their sum
	given  uint64            // how many blocks were given back
	done   uint64            // how many of these before the device was last waited for
	lent   map[unsafe.Pointer][]byte
}

// spare is a block that nobody has. The device may still work on it.
type spare struct {
	at    unsafe.Pointer
	given uint64
}

var _ backend.DeviceSpace = (*space)(nil)

func newSpace(on *device, place memory.Place) *space {
	return &space{on: on, place: place, blocks: alloc.NewLedger[int](), spare: map[int][]spare{},
		lent: map[unsafe.Pointer][]byte{}}
}

// Name returns "device" or "managed".
func (s *space) Name() string {
	if s.place.OfHost() {
		return "managed"
	}
	return "device"
}

// grain is what every address is a multiple of, as the driver promises.
const grain = 256

// Properties returns those of a device's memory.
func (s *space) Properties() backend.Properties {
	managed := s.place.OfHost()
	return backend.Properties{HostAccessible: managed, DeviceAccessible: true, Unified: managed, Alignment: grain}
}

// InUse returns the bytes asked for and not given back, and the most that ever were.
func (s *space) InUse() (current, peak int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.blocks.InUse()
}

// AvailableMemory returns what the device has left, with what is kept here.
func (s *space) AvailableMemory() int64 {
	left, _, err := s.on.info()
	if err != nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return left + s.kept
}

// Allocate returns zeroed memory.
func (s *space) Allocate(size, alignment int) (memory.Block, error) {
	b, err := s.AllocateUsed(size, alignment)
	if err != nil {
		return b, err
	}
	q, err := s.on.NewQueue()
	if err == nil {
		defer q.Close()
		err = q.Fill(memory.Span{Addr: b.Addr, Count: size, Type: dtype.Uint8, Place: s.place}, []byte{0})
		if err == nil {
			err = q.Synchronize()
		}
	}
	if err != nil {
		s.Deallocate(b)
		return memory.Block{}, err
	}
	return b, nil
}

// AllocateUsed returns memory that holds anything. Nothing that is queued on the device touches it any more.
func (s *space) AllocateUsed(size, alignment int) (memory.Block, error) {
	if err := memory.CheckRequest(size, alignment); err != nil {
		return memory.Block{}, err
	}
	if alignment > grain {
		return memory.Block{}, status.New(status.InvalidArgument, "memory of a GPU starts at multiples of %d, not of %d",
			grain, alignment)
	}
	taken := class(size)
	at, err := s.take(taken)
	if err != nil {
		return memory.Block{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocks.Enter(at, size, taken)
	return memory.Block{Addr: at, Size: size, Place: s.place}, nil
}

// Deallocate keeps a block for later.
func (s *space) Deallocate(b memory.Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken, out := s.blocks.Leave(b.Addr)
	if !out {
		panic("gpu: Deallocate of a block that is not out")
	}
	s.given++
	s.spare[taken] = append(s.spare[taken], spare{b.Addr, s.given})
	s.kept += int64(taken)
}

// class returns how many bytes are taken for a block of a size: at most an eighth more, so that few sizes occur.
func class(size int) int {
	size = max(size, 1)
	step := max(1<<max(bits.Len(uint(size-1))-4, 0), 2*grain)
	return (size + step - 1) / step * step
}

// take returns a block that is kept, or a new one. Where the device is full, what is kept goes first.
func (s *space) take(size int) (unsafe.Pointer, error) {
	at, err := s.reuse(size)
	if at != nil || err != nil {
		return at, err
	}
	at, full, err := s.on.alloc(size, s.place.OfHost())
	if full {
		if _, err = s.on.trim(); err != nil {
			return nil, err
		}
		at, full, err = s.on.alloc(size, s.place.OfHost())
	}
	if full {
		left, total, _ := s.on.info()
		return nil, status.New(status.OutOfMemory, "%d bytes cannot be allocated on GPU %d (%s), which has %d of %d bytes left",
			size, s.on.number, s.on.Name(), left, total)
	}
	return at, err
}

// reuse returns a block that is kept, if there is one of the size, when the device has done what it did with it.
func (s *space) reuse(size int) (unsafe.Pointer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.spare[size]
	if len(list) == 0 {
		return nil, nil
	}
	found := list[0] // the one that was given back first: it is the likeliest that nobody has to wait for
	if found.given > s.done {
		given := s.given
		if err := s.on.synchronize(); err != nil {
			return nil, err
		}
		s.done = given
	}
	s.spare[size] = list[1:]
	s.kept -= int64(size)
	return found.at, nil
}

// lend returns the key of a block, which is never freed from then on: nobody knows whether other processes still reach it. A later
// block in its memory has the same key.
func (s *space) lend(at unsafe.Pointer) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key := s.lent[at]; key != nil {
		return key, nil
	}
	if !s.blocks.Has(at) {
		return nil, status.New(status.InvalidArgument, "the memory on GPU %d is another library's, which may free it", s.on.number)
	}
	key, err := s.on.lend(at)
	if err == nil {
		s.lent[at] = key
	}
	return key, err
}

// trim frees what is kept and not lent, and returns how many bytes that were. What the driver does not free stays.
func (s *space) trim() (freed int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for size, list := range s.spare {
		s.spare[size] = slices.DeleteFunc(list, func(b spare) bool {
			if s.lent[b.at] != nil {
				return false
			}
			failed := s.on.release(b.at)
			err = cmp.Or(failed, err)
			if failed == nil {
				freed += int64(size)
			}
			return failed == nil
		})
	}
	s.kept -= freed
	return freed, err
}
