package runtime

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
	"dtl/core/topology"
)

// first is where the ranks of the first world were when they opened it.
var first struct {
	mu     sync.Mutex
	rank   atomic.Int64 // this process's
	places atomic.Pointer[[]topology.Place]
}

// met returns a context of the world whose ranks know where they are. why is what keeps this rank from it, of which all hear. Collective.
func (c *Context) met(why error) (*Context, error) {
	first.mu.Lock()
	defer first.mu.Unlock()
	if c.Size() == 1 || first.places.Load() != nil { // of one rank, its place is asked for where it is wanted
		return c.located("context", why)
	}
	places, err := gather("context", c.comm, topology.Here(c.device), why)
	if err != nil {
		_ = c.Close() // the first error is the one to report
		return nil, status.In("context", err)
	}
	first.rank.Store(int64(c.Rank()))
	first.places.Store(&places)
	c.places.Store(&places)
	return c, nil
}

// located returns a context whose ranks know where they are as it is made. What they told each other when the world was
// opened is not told again, unless one of them has been bound to other CPUs since. why is as in met. Collective.
func (c *Context) located(op string, why error) (*Context, error) {
	if c.Size() == 1 && why == nil {
		c.cpus, _ = topology.Mask()
		return c, nil
	}
	places, err := c.known(op, why)
	if err == nil && places == nil {
		places, err = gather(op, c.comm, topology.Here(c.device), nil)
	}
	if err != nil {
		_ = c.Close() // the first error is the one to report
		return nil, status.In(op, err)
	}
	c.places.Store(&places)
	return c, nil
}

// known returns where the ranks are by what they told each other when the world was opened; nil if that was not so, or one
// of them is elsewhere by now. Collective.
func (c *Context) known(op string, why error) ([]topology.Place, error) {
	world, mine := first.places.Load(), comm.Shared{-1, int64(c.device)}
	if world != nil {
		place := (*world)[first.rank.Load()]
		if cpus, err := topology.Mask(); err != nil || slices.Equal(cpus, place.CPUs) {
			mine[0] = first.rank.Load()
		}
	}
	all := make([]comm.Shared, c.Size())
	if err := c.comm.AgreeSharing(comm.Call{Op: op}, why, mine, all); err != nil {
		return nil, err
	}
	places := make([]topology.Place, len(all))
	for rank, said := range all {
		if said[0] < 0 || world == nil {
			return nil, nil
		}
		places[rank] = (*world)[said[0]]
		places[rank].Device = int(said[1])
	}
	return places, nil
}

// WorldPlaces returns where the ranks of the world are, as they told each other when they first opened it; of a process
// alone, or without a world, this process's. Local.
func WorldPlaces() []topology.Place {
	if places := first.places.Load(); places != nil {
		return *places
	}
	return []topology.Place{topology.Here(NoDevice)}
}

// Places returns where the ranks were when the context was made, or last found it out. Local.
func (c *Context) Places() []topology.Place {
	if places := c.places.Load(); places != nil {
		return *places
	}
	here := topology.Here(c.device) // of one rank, or of goroutines of this process
	if c.cpus != nil {
		here.CPUs = c.cpus
	}
	places := slices.Repeat([]topology.Place{here}, c.Size())
	c.places.Store(&places)
	return places
}

// FindPlaces returns where the ranks are now, and the GPUs that their drivers see. Collective.
func (c *Context) FindPlaces() ([]topology.Place, error) {
	on, err := c.Comm()
	if err != nil {
		return nil, err
	}
	here := topology.Here(c.device)
	here.GPUs = DeviceCount()
	places, err := Gather(on, here)
	if err == nil {
		c.places.Store(&places)
	}
	return places, err
}

// DeviceCount returns how many GPUs this process sees, of all backends that have some. The first call starts their
// drivers. Local.
func DeviceCount() (n int) {
	for _, name := range backend.Names() {
		if b, err := backend.Lookup(name); err == nil {
			if p, ok := b.(backend.DeviceProvider); ok {
				n += p.DeviceCount()
			}
		}
	}
	return n
}

// Gather returns the place of each rank. Collective.
func Gather(on *comm.Comm, mine topology.Place) ([]topology.Place, error) {
	return gather("topology", on, mine, nil)
}

func gather(op string, on *comm.Comm, mine topology.Place, why error) ([]topology.Place, error) {
	line := mine.String()
	all := make([]comm.Shared, on.Size())
	if err := on.AgreeSharing(comm.Call{Op: op}, why, comm.Shared{int64(len(line))}, all); err != nil {
		return nil, err
	}
	longest := 0
	for _, s := range all {
		longest = max(longest, int(s[0]))
	}
	storage, err := memory.NewStorage(on.Memory(), longest*(on.Size()+1), 1)
	if err != nil {
		return nil, status.In(op, err)
	}
	defer storage.Release()
	both := memory.Span{Addr: storage.Addr(), Count: longest * (on.Size() + 1), Type: dtype.Uint8}
	text := memory.As[uint8](both)
	clear(text[copy(text, line):longest])
	if err := on.Allgather(both.Slice(0, longest), both.Slice(longest, both.Count)); err != nil {
		return nil, status.In(op, err)
	}
	places := make([]topology.Place, 0, on.Size())
	for line := range slices.Chunk(text[longest:], longest) {
		place, err := topology.Parse(string(bytes.TrimRight(line, "\x00")))
		if err != nil {
			return nil, status.In(op, err)
		}
		places = append(places, place)
	}
	return places, nil
}
