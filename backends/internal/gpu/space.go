package gpu

import (
	"cmp"
	"math/bits"
	"slices"
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

	alloc.Space[class]
	spare  map[class][]spare // the one that was given back last at the end
	kept   int64             // the sum of their bytes
	given  uint64            // how many blocks were given back
	idle   uint64            // how many of these before the device was last waited for
	givers []stream          // of all classes that there are
	fences map[stream]*fence
	lent   map[unsafe.Pointer][]byte
}

// class is of which blocks one is: those that take as many bytes, and whose work is queued on one stream alone, or on anyStream.
type class struct {
	bytes int
	in    stream
}

// anyStream stands for whichever streams other libraries, processes and devices use.
const anyStream stream = 0

// spare is a block that nobody has. The device may still work on it.
type spare struct {
	at    unsafe.Pointer
	given uint64
}

var _ backend.DeviceSpace = (*space)(nil)

func newSpace(on *device, place memory.Place) *space {
	managed := place.OfHost()
	can := backend.Properties{HostAccessible: managed, DeviceAccessible: true, Unified: managed, Alignment: grain}
	return &space{on: on, place: place, Space: alloc.NewSpace[class](can), spare: map[class][]spare{},
		fences: map[stream]*fence{}, lent: map[unsafe.Pointer][]byte{}}
}

// Name returns "device" or "managed".
func (s *space) Name() string {
	if s.place.OfHost() {
		return "managed"
	}
	return "device"
}

// grain divides every address of memory that the driver allocates, as it promises.
const grain = 256

// AvailableMemory returns what the device has left, with what is kept here.
func (s *space) AvailableMemory() int64 {
	left, _, err := s.on.info()
	if err != nil {
		return 0
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return left + s.kept
}

// Allocate returns zeroed memory.
func (s *space) Allocate(size, alignment int) (memory.Block, error) {
	q, err := s.on.NewQueue()
	if err != nil {
		return memory.Block{}, err
	}
	defer q.Close()
	b, err := s.zeroed(q, anyStream, size, alignment)
	if err != nil {
		return b, err
	}
	if err = q.Synchronize(); err != nil {
		s.Deallocate(b)
		return memory.Block{}, err
	}
	return b, nil
}

// zeroed returns memory that a queue fills with zeros.
func (s *space) zeroed(q backend.Queue, in stream, size, alignment int) (memory.Block, error) {
	b, err := s.allocate(size, alignment, in)
	if err != nil {
		return b, err
	}
	if err = q.Fill(memory.Span{Addr: b.Addr, Count: size, Type: dtype.Uint8, Place: s.place}, []byte{0}); err != nil {
		s.Deallocate(b)
		return memory.Block{}, err
	}
	return b, nil
}

// AllocateUsed returns memory that holds anything. Nothing that is queued on the device touches it any more.
func (s *space) AllocateUsed(size, alignment int) (memory.Block, error) {
	return s.allocate(size, alignment, anyStream)
}

// allocate returns memory that holds anything, for work that is queued on a stream: only what is queued there may still touch it.
func (s *space) allocate(size, alignment int, in stream) (memory.Block, error) {
	if err := memory.CheckRequest(size, alignment); err != nil {
		return memory.Block{}, err
	}
	if alignment > grain {
		return memory.Block{}, status.New(status.InvalidArgument, "memory of a GPU starts at multiples of %d, not of %d",
			grain, alignment)
	}
	of := class{taken(size), in}
	at, err := s.take(of)
	if err != nil {
		return memory.Block{}, err
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Blocks.Enter(at, size, of)
	return memory.Block{Addr: at, Size: size, Place: s.place}, nil
}

// Deallocate keeps a block for later.
func (s *space) Deallocate(b memory.Block) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	of, out := s.Blocks.Leave(b.Addr)
	if !out {
		panic("gpu: Deallocate of a block that is not out")
	}
	if b.Shared {
		of.in = anyStream
	}
	if !slices.Contains(s.givers, of.in) {
		s.givers = append(s.givers, of.in)
	}
	s.given++
	s.spare[of] = append(s.spare[of], spare{b.Addr, s.given})
	s.kept += int64(of.bytes)
}

// taken returns how many bytes are taken for a block of a size: at most an eighth more, so that few sizes occur.
func taken(size int) int {
	size = max(size, 1)
	step := max(1<<max(bits.Len(uint(size-1))-4, 0), 2*grain)
	return (size + step - 1) / step * step
}

// take returns a block that is kept, or a new one. Where the device is full, what is kept is waited for, or else goes first.
func (s *space) take(of class) (unsafe.Pointer, error) {
	at, err := s.reuse(of)
	if at != nil || err != nil {
		return at, err
	}
	at, full, err := s.on.alloc(of.bytes, s.place.OfHost())
	if !full {
		return at, err
	}
	if at, err = s.waitFor(of.bytes); at != nil || err != nil {
		return at, err
	}
	if _, err = s.on.trim(); err != nil {
		return nil, err
	}
	if at, full, err = s.on.alloc(of.bytes, s.place.OfHost()); full {
		left, total, _ := s.on.info()
		return nil, status.New(status.OutOfMemory, "%d bytes cannot be allocated on GPU %d (%s), which has %d of %d bytes left",
			of.bytes, s.on.number, s.on.Name(), left, total)
	}
	return at, err
}

// lend returns the key of a block, which is never freed from then on: nobody knows whether other processes still reach it. A later
// block in its memory has the same key.
func (s *space) lend(at unsafe.Pointer) ([]byte, error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if key := s.lent[at]; key != nil {
		return key, nil
	}
	if !s.Blocks.Has(at) {
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
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for of, list := range s.spare {
		s.spare[of] = slices.DeleteFunc(list, func(b spare) bool {
			if s.lent[b.at] != nil {
				return false
			}
			failed := s.on.release(b.at)
			err = cmp.Or(failed, err)
			if failed == nil {
				freed += int64(of.bytes)
			}
			return failed == nil
		})
		if len(s.spare[of]) == 0 {
			delete(s.spare, of)
		}
	}
	s.kept -= freed
	return freed, cmp.Or(err, s.dropFences())
}
