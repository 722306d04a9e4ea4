package hashmap

import (
	"math"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// cells are memory of a device for values, each of which lies in one. The table has for each key a cell in place of its value.
//
// A call that puts values takes cells that are free. Those that hold the values of before are given back when all ranks know that
// nothing has failed, so until then the values of before are there.
type cells struct {
	queue  backend.Queue
	space  memory.Allocator // of the device
	host   memory.Allocator
	size   int             // bytes of a value
	values *memory.Storage // nil: there are no cells
	list   *memory.Storage // of the host: numbers of cells, uint32: first the free ones, then those that were taken
	free   int             // how many are
	taken  int             // how many the call under way has taken
}

// cell is what the table has of a value on a device: its cell, and which of the values of the round that took the cell it is.
type cell struct{ at, entry uint32 }

const (
	cellBytes = int(unsafe.Sizeof(cell{}))
	// leastCells is how many the first ones are.
	leastCells = 64
)

func newCells(queue backend.Queue, space, host memory.Allocator, size int) *cells {
	return &cells{queue: queue, space: space, host: host, size: size}
}

// count returns how many cells there are.
func (c *cells) count() int {
	if c.values == nil {
		return 0
	}
	return c.values.Size() / c.size
}

// numbers returns the list of cells.
func numbers(list *memory.Storage) []uint32 {
	return unsafe.Slice((*uint32)(list.Addr()), list.Size()/4)
}

// reserve makes sure that n cells are free. On an error nothing is changed.
func (c *cells) reserve(n int) error {
	had := c.count()
	if n <= c.free {
		return nil
	}
	more := max(n-c.free, had/2, leastCells)
	if had+more > math.MaxUint32 {
		return status.New(status.OutOfMemory, "%d values are more than a rank has on a GPU: %d", had+more, uint32(math.MaxUint32))
	}
	list, err := memory.NewScratch(c.host, 4*(had+more), memory.Alignment)
	if err != nil {
		return err
	}
	values, err := c.copied((had + more) * c.size)
	if err != nil {
		list.Release()
		return err
	}
	to := numbers(list)
	for i := range more {
		to[i] = uint32(had + more - 1 - i)
	}
	if had > 0 {
		copy(to[more:], numbers(c.list)[:c.free+c.taken])
	}
	c.release()
	c.values, c.list, c.free = values, list, c.free+more
	return nil
}

// copied returns memory of so many bytes that begins with the values. They are there when it returns: the former ones are given back.
func (c *cells) copied(bytes int) (*memory.Storage, error) {
	values, err := memory.NewScratch(c.space, bytes, memory.Alignment)
	if err != nil || c.values == nil {
		return values, err
	}
	if err = c.queue.Copy(values.Bytes(), c.values.Bytes()); err == nil {
		err = c.queue.Synchronize()
	}
	if err != nil {
		values.Release()
		return nil, err
	}
	return values, nil
}

// take returns a free cell, which there is.
func (c *cells) take() uint32 {
	c.free--
	c.taken++
	return numbers(c.list)[c.free]
}

// give makes a cell free.
func (c *cells) give(at uint32) {
	numbers(c.list)[c.free] = at
	c.free++
}

// commit ends a call that put values: those that a log has are nobody's.
func (c *cells) commit(j *UndoLog) {
	c.taken = 0
	for i := range j.n {
		if j.state[i] == entryReplaced {
			c.give((*cell)(unsafe.Add(j.old, i*cellBytes)).at)
		}
	}
}

// undo ends a call whose cells nobody has.
func (c *cells) undo() { c.free, c.taken = c.free+c.taken, 0 }

// close gives the memory back. There are no cells then.
func (c *cells) close() {
	c.release()
	c.values, c.list, c.free, c.taken = nil, nil, 0, 0
}

func (c *cells) release() {
	if c.values != nil {
		c.values.Release()
		c.list.Release()
	}
}

// read copies the values of n cells, whose numbers are int64 on the host, to where they lie side by side, on the host or the device.
func (c *cells) read(to memory.Span, places unsafe.Pointer, n int) error {
	if c.values == nil || n == 0 {
		return nil
	}
	return c.queue.Take(to, c.values.Bytes(), c.places(places, n))
}

// write copies n values, which lie side by side on the host, to cells, none of which occurs twice. They are there when it returns.
func (c *cells) write(places, values unsafe.Pointer, n int) error {
	if err := c.queue.Put(c.values.Bytes(), bytesOf(values, n*c.size), c.places(places, n)); err != nil {
		return err
	}
	return c.queue.Synchronize()
}

func (c *cells) places(at unsafe.Pointer, n int) backend.Places {
	return backend.Places{At: int64sOf(at, n), Size: c.size, Scale: c.size}
}
