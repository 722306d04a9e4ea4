// Package runtime has what a program opens first: the environment, and contexts, which say which ranks work together.
package runtime

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/status"
	"dtl/core/topology"
)

// Context is a group of ranks and the memory they use. Containers keep a reference to theirs: a closed
// Context still answers Rank and Size, but communicates no more.
type Context struct {
	comm    *comm.Comm
	memory  backend.MemorySpace
	backend string // name of the one that connects the ranks
	device  int    // NoDevice, UsualDevice, or its number
	inner   bool   // what DTL does by itself runs here
	closed  atomic.Bool
	fences  atomic.Uint64
	work    work
	places  atomic.Pointer[[]topology.Place] // where the ranks are, as they last told each other; nil: nobody asked
	cpus    []int                            // of one rank, those that it could run on when the context was made
	linked  *comm.Devices                    // nil: no library connects the ranks' devices
	scratch string                           // the folder of containers on disk
}

// World returns a context of all processes that were started together, or of this process alone where no
// launcher started it. Collective.
func World(device int) (*Context, error) {
	for _, name := range backend.Names() {
		b, err := backend.Lookup(name)
		if err != nil {
			return nil, err
		}
		if p, ok := b.(backend.CommunicatorProvider); ok && p.Active() {
			return world(name, device)
		}
	}
	return world(backend.Local, device)
}

// On is World with the backend that connects the ranks, whether or not a launcher of its own started them. Collective.
func On(name string, device int) (*Context, error) {
	var connecting []string
	for _, known := range backend.Names() {
		b, err := backend.Lookup(known)
		if err != nil {
			return nil, err
		}
		if _, ok := b.(backend.CommunicatorProvider); ok {
			connecting = append(connecting, known)
		}
	}
	if !slices.Contains(connecting, name) {
		return nil, status.In("context", status.New(status.InvalidArgument, "backend %q is none that connects ranks; those are %s",
			name, strings.Join(connecting, ", ")))
	}
	return world(name, device)
}

// Self returns a context of this process alone.
func Self() (*Context, error) { return world(backend.Local, NoDevice) }

// What stands for a device in place of its number.
const (
	NoDevice    = -1            // none: the context is for the host alone
	UsualDevice = math.MinInt64 // the one that this process usually takes, where a container is to be on one
)

func world(name string, device int) (*Context, error) {
	p, err := backend.As[backend.CommunicatorProvider](name)
	if err != nil {
		return nil, status.In("context", err)
	}
	c, why, err := open(p, device, p.World)
	switch {
	case err != nil:
		return nil, err
	case name == backend.Local:
		return c.located("context", why)
	}
	return c.met(why)
}

// Adopt returns a context over a duplicate of the named backend's native communicator. The original stays
// its owner's. Collective over the original.
func Adopt(name string, native uintptr, device int) (*Context, error) {
	p, err := backend.As[backend.CommunicatorProvider](name)
	if err != nil {
		return nil, status.In("context", err)
	}
	c, why, err := open(p, device, func() (backend.ReducingCommunicator, error) { return p.Adopt(native) })
	if err != nil {
		return nil, err
	}
	return c.located("context", why)
}

// open connects the ranks. A device that this rank does not have is no reason to keep the others waiting: why is to be told to them.
func open(on backend.Backend, device int, connect func() (backend.ReducingCommunicator, error)) (c *Context, why, err error) {
	if err := comm.Confirm(0); err != nil {
		return nil, nil, status.In("context", err)
	}
	host, err := backend.As[backend.MemoryProvider](backend.Local)
	if err != nil {
		return nil, nil, status.In("context", err)
	}
	why = checkDevice(device)
	main, err := connect()
	if err != nil {
		return nil, nil, status.In("context", err)
	}
	mem := host.Memory()
	if own, ok := on.(backend.MemoryProvider); ok && on.Name() != backend.Local {
		mem = backend.Overflow(own.Memory(), mem) // what its windows reach at once, as far as that goes
	}
	c, err = New(on.Name(), main, mem, device)
	return c, why, err
}

// New makes a context of a backend's communicator, which it owns from then on. Collective.
func New(name string, main backend.ReducingCommunicator, mem backend.MemorySpace, device int) (*Context, error) {
	c, err := comm.New(main, mem)
	if err != nil {
		return nil, status.In("context", err)
	}
	return &Context{comm: c, memory: mem, backend: name, device: device}, nil
}

// Rank returns the caller's rank.
func (c *Context) Rank() int { return c.comm.Rank() }

// Size returns the number of ranks.
func (c *Context) Size() int { return c.comm.Size() }

// Device returns the GPU's number; NoDevice if the program has chosen none.
func (c *Context) Device() int { return max(c.device, NoDevice) }

// Backend returns the name of the backend that connects the ranks.
func (c *Context) Backend() string { return c.backend }

// Memory returns the memory space of the context's containers.
func (c *Context) Memory() backend.MemorySpace { return c.memory }

// SetScratch names the folder of the context's containers on disk, before there are any.
func (c *Context) SetScratch(folder string) { c.scratch = folder }

// Scratch returns the folder of the context's containers on disk.
func (c *Context) Scratch() string { return c.scratch }

// Files returns the memory space of the context's containers on disk.
func (c *Context) Files() (backend.FileSpace, error) {
	p, err := backend.As[backend.FileProvider](backend.Local)
	if err != nil {
		return nil, err
	}
	if c.scratch == "" {
		return nil, status.New(status.InvalidArgument, "the context has no scratch folder")
	}
	return p.Files(c.scratch), nil
}

// Comm returns the communicator, or an error if the context is closed.
func (c *Context) Comm() (*comm.Comm, error) {
	if c.closed.Load() {
		return nil, status.New(status.InvalidHandle, "the context is closed")
	}
	return c.comm, nil
}

// Dup returns a context of the same ranks whose traffic never meets this one's. Collective.
func (c *Context) Dup() (*Context, error) {
	return c.derive("dup", c.device, nil, (*comm.Comm).Dup)
}

// DupFor is Dup for calls that op stands for, which is what ranks that do not make the same call are told. Collective.
func (c *Context) DupFor(op string) (*Context, error) {
	from, err := c.Comm()
	if err != nil {
		return nil, err
	}
	to, err := from.DupFor(op)
	if err != nil {
		return nil, err
	}
	return &Context{comm: to, memory: c.memory, backend: c.backend, device: c.device, inner: true, scratch: c.scratch}, nil
}

// Inner says that programs know nothing of the context. It implements handle.Insider.
func (c *Context) Inner() bool { return c.inner }

// WithDevice is Dup with a GPU. Collective.
func (c *Context) WithDevice(device int) (*Context, error) {
	why := checkDevice(device)
	if device < 0 {
		why = status.New(status.OutOfBounds, "device %d is negative", device)
	}
	return c.derive("with_cuda", device, why, (*comm.Comm).Dup)
}

// Fence orders the caller's memory accesses before it against those after it. Local.
func (c *Context) Fence() error {
	c.fences.Add(1) // an atomic read-modify-write is a full barrier
	return nil
}

// Split returns a context of the ranks that gave the same color, ordered by key and then by rank; nil for
// comm.Undefined. Collective.
func (c *Context) Split(color, key int) (*Context, error) {
	return c.derive("split", c.device, nil, func(from *comm.Comm) (*comm.Comm, error) { return from.Split(color, key) })
}

// SplitByNode returns a context of the ranks that share memory with this one, in their order. Collective.
func (c *Context) SplitByNode() (*Context, error) {
	return c.derive("split_by_node", c.device, nil, (*comm.Comm).SplitByNode)
}

// Export returns the native handle of a duplicate of the communicator, which is the caller's to free. Collective.
func (c *Context) Export() (uintptr, error) {
	from, err := c.Comm()
	if err != nil {
		return 0, err
	}
	return from.Export()
}

// derive returns a context of what f makes of the communicator, with a device; nil where that is nil. why is what keeps this rank
// from it, of which all hear. Collective.
func (c *Context) derive(op string, device int, why error, f func(*comm.Comm) (*comm.Comm, error)) (*Context, error) {
	from, err := c.Comm()
	if err != nil {
		return nil, err
	}
	to, err := f(from)
	if err != nil || to == nil {
		return nil, err
	}
	return (&Context{comm: to, memory: c.memory, backend: c.backend, device: device, scratch: c.scratch}).located(op, why)
}

// Close frees the communicator. Containers stay, their communication raises. A second Close does nothing.
// Collective.
func (c *Context) Close() error {
	if c.closed.Swap(true) {
		return nil
	}
	c.work.end()
	if c.linked != nil {
		return errors.Join(c.linked.Close(), c.comm.Close())
	}
	return c.comm.Close()
}
