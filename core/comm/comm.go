package comm

import (
	"errors"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// Comm is a communicator as the layers above see it. Descriptions, small messages and collectives travel on
// one backend communicator; large payloads on a duplicate, where no wildcard receive can meet them.
type Comm struct {
	main    backend.ReducingCommunicator
	payload backend.ReducingCommunicator
	memory  memory.Allocator
	scratch scratch
	parked  parked
	seq     atomic.Uint32
}

// New makes a Comm of a backend communicator, which it owns from then on, also when it fails. Results are
// allocated from mem. Collective.
func New(main backend.ReducingCommunicator, mem memory.Allocator) (*Comm, error) {
	payload, err := main.Dup()
	if err != nil {
		_ = main.Close() // the first error is the one to report
		return nil, err
	}
	return &Comm{main: main, payload: payload, memory: mem, scratch: scratch{from: mem}}, nil
}

// Rank returns the caller's rank.
func (c *Comm) Rank() int { return c.main.Rank() }

// Size returns the number of ranks.
func (c *Comm) Size() int { return c.main.Size() }

// Dup returns a Comm of the same ranks whose traffic never meets this one's. Collective.
func (c *Comm) Dup() (*Comm, error) {
	main, err := c.main.Dup()
	if err != nil {
		return nil, status.In("dup", err)
	}
	d, err := New(main, c.memory)
	return d, status.In("dup", err)
}

// Split returns a Comm of the ranks that gave the same color, ordered by key and then by rank; nil for
// Undefined. Collective.
func (c *Comm) Split(color, key int) (*Comm, error) {
	if color < Undefined || color > maxColor || key < -maxColor || key > maxColor {
		return nil, status.In("split", status.New(status.InvalidArgument,
			"color %d, key %d: color must lie in [0, %d], key in [-%d, %d]", color, key, maxColor, maxColor, maxColor))
	}
	main, err := c.main.Split(color, key)
	if err != nil || main == nil {
		return nil, status.In("split", err)
	}
	d, err := New(main, c.memory)
	return d, status.In("split", err)
}

// SplitByNode returns a Comm of the ranks that share memory with this one, in their order. Collective.
func (c *Comm) SplitByNode() (*Comm, error) {
	const op = "split_by_node"
	if err := c.meet(form{op: op}, nil); err != nil {
		return nil, status.In(op, err)
	}
	main, err := c.main.SplitByNode()
	if err != nil {
		return nil, status.In(op, err)
	}
	d, err := New(main, c.memory)
	return d, status.In(op, err)
}

// Export returns the native handle of a duplicate, which is the caller's to free; an error where ranks are connected by
// what has none. Collective.
func (c *Comm) Export() (uintptr, error) {
	const op = "to_mpi4py"
	native, ok := c.main.(backend.NativeCommunicator)
	if !ok {
		return 0, status.In(op, status.New(status.Unsupported, "the context's ranks are not connected by MPI"))
	}
	if err := c.meet(form{op: op}, nil); err != nil {
		return 0, status.In(op, err)
	}
	handle, err := native.Export()
	return handle, status.In(op, err)
}

const (
	// Undefined is the color of a rank that joins no part.
	Undefined = -1
	maxColor  = 1<<31 - 1
)

// Close frees the communicators. Collective. Messages that were parked are dropped.
func (c *Comm) Close() error {
	c.parked.close()
	c.scratch.close()
	return status.In("close", errors.Join(c.payload.Close(), c.main.Close()))
}

// checkRank refuses a rank outside the communicator.
func (c *Comm) checkRank(name string, rank int64) error {
	if rank < 0 || rank >= int64(c.Size()) {
		return status.New(status.OutOfBounds, "%s %d outside [0, %d)", name, rank, c.Size())
	}
	return nil
}
