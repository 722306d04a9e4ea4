package scale

import (
	"math/rand/v2"
	"unsafe"

	"dtl/core/algorithm"
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/halo"
	"dtl/core/hashmap"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/runtime"
)

const (
	// long is how many bytes a long collective moves.
	long = 64 << 10
	// Elements is how many of eight bytes each rank has of a container.
	Elements = 10_000
	// Keys is how many keys each rank passes to a map.
	Keys = 1000
)

// Operations returns all that are counted.
func Operations() []Operation {
	return []Operation{
		opening(), derived("dup", func(c *comm.Comm) (*comm.Comm, error) { return c.Dup() }),
		derived("split", func(c *comm.Comm) (*comm.Comm, error) { return c.Split(c.Rank()%2, 0) }),
		closing(),
		collective("barrier", 0, func(c *comm.Comm, _, _ memory.Span) error { return c.Barrier() }),
		broadcast("broadcast 8 B", 8), broadcast("broadcast 64 KiB", long),
		allreduce("allreduce 8 B", 8), allreduce("allreduce 64 KiB", long),
		collective("reduce 8 B", 8, func(c *comm.Comm, send, recv memory.Span) error { return c.Reduce(send, recv, kernel.Sum, 0) }),
		collective("scan 8 B", 8, func(c *comm.Comm, send, recv memory.Span) error {
			_, err := c.Scan(&comm.Array{Span: send, Shape: []int64{1}, Kind: wire.NDArray}, &comm.Array{Span: recv, Shape: []int64{1}, Kind: wire.NDArray}, kernel.Sum)
			return err
		}),
		spread("gather 8 B", 1, 8, func(c *comm.Comm, send, recv memory.Span) error { return c.Gather(send, recv, 0) }),
		spread("allgather 8 B", 1, 8, func(c *comm.Comm, send, recv memory.Span) error { return c.Allgather(send, recv) }),
		spread("alltoall 8 KiB", 0, 8<<10, func(c *comm.Comm, send, recv memory.Span) error {
			shape := []int64{int64(c.Size()), int64(send.Count / c.Size())}
			return c.Alltoall(comm.Array{Span: send, Shape: shape, Kind: wire.NDArray}, recv)
		}),
		started(), creation(), halos(), redistribution(), shift(), Sorting(Elements), mapRound(), mapLookup(),
	}
}

// with opens a context for an operation.
func (r *Rank) with() (*runtime.Context, error) {
	main, err := r.main.Dup()
	if err != nil {
		return nil, err
	}
	return runtime.New(backend.Local, main, r.host, runtime.NoDevice)
}

// on is an operation that prepare makes of a context.
func on(name string, prepare func(on *runtime.Context, c *comm.Comm) (call, end func() error, err error)) Operation {
	return Operation{Name: name, Prepare: func(r *Rank) (call, end func() error, err error) {
		over, err := r.with()
		if err != nil {
			return nil, nil, err
		}
		c, err := over.Comm()
		if err != nil {
			return nil, nil, err
		}
		call, done, err := prepare(over, c)
		return call, func() error {
			if done != nil {
				if err := done(); err != nil {
					return err
				}
			}
			return over.Close()
		}, err
	}}
}

func opening() Operation {
	return Operation{Name: "opening a context", Prepare: func(r *Rank) (call, end func() error, err error) {
		var made *runtime.Context
		main, err := r.main.Dup()
		return func() (err error) {
			made, err = runtime.New(backend.Local, main, r.host, runtime.NoDevice)
			return err
		}, func() error { return made.Close() }, err
	}}
}

func closing() Operation {
	return Operation{Name: "closing a context", Prepare: func(r *Rank) (call, end func() error, err error) {
		over, err := r.with()
		return func() error { return over.Close() }, func() error { return nil }, err
	}}
}

func derived(name string, derive func(c *comm.Comm) (*comm.Comm, error)) Operation {
	return on(name, func(_ *runtime.Context, c *comm.Comm) (call, end func() error, err error) {
		var made *comm.Comm
		return func() (err error) {
			made, err = derive(c)
			return err
		}, func() error { return made.Close() }, nil
	})
}

// elements returns n zeros of eight bytes.
func elements(n int) memory.Span { return memory.Of(dtype.Int64, make([]int64, n)) }

// collective is one of so many bytes on each rank.
func collective(name string, bytes int, call func(c *comm.Comm, send, recv memory.Span) error) Operation {
	return on(name, func(_ *runtime.Context, c *comm.Comm) (func() error, func() error, error) {
		send, recv := elements(bytes/8), elements(bytes/8)
		return func() error { return call(c, send, recv) }, nil, nil
	})
}

// spread is one whose output, or input and output, have so many bytes a rank.
func spread(name string, once, bytes int, call func(c *comm.Comm, send, recv memory.Span) error) Operation {
	return on(name, func(_ *runtime.Context, c *comm.Comm) (func() error, func() error, error) {
		send, recv := elements(c.Size()*bytes/8), elements(c.Size()*bytes/8)
		if once == 1 {
			send = elements(bytes / 8)
		}
		return func() error { return call(c, send, recv) }, nil, nil
	})
}

func broadcast(name string, bytes int) Operation {
	return collective(name, bytes, func(c *comm.Comm, send, recv memory.Span) error {
		of := func(s memory.Span) *comm.Array {
			return &comm.Array{Span: s, Shape: []int64{int64(s.Count)}, Kind: wire.NDArray}
		}
		out := of(recv)
		if c.Rank() == 0 {
			out = nil
		}
		_, err := c.Broadcast(of(send), out, 0)
		return err
	})
}

func allreduce(name string, bytes int) Operation {
	return collective(name, bytes, func(c *comm.Comm, send, recv memory.Span) error { return c.Allreduce(send, recv, kernel.Sum) })
}

// started is a collective that does not block.
func started() Operation {
	return collective("iallreduce 8 B", 8, func(c *comm.Comm, send, recv memory.Span) error {
		r, err := c.Iallreduce(send, recv, kernel.Sum)
		if err != nil {
			return err
		}
		_, err = r.Wait()
		return err
	})
}

// vector describes one of n elements a rank, by blocks.
func vector(c *comm.Comm, n int) container.Spec {
	return container.Spec{Family: "vector", Shape: []int64{int64(n * c.Size())}, Type: dtype.Int64}
}

func creation() Operation {
	return on("creating a vector", func(over *runtime.Context, c *comm.Comm) (call, end func() error, err error) {
		var made *container.Array
		return func() (err error) {
			made, err = container.New(over, vector(c, Elements))
			return err
		}, func() error { return made.Close() }, nil
	})
}

// filled is an operation on a vector of n random elements a rank.
func filled(name string, n int, change func(a *container.Array) error) Operation {
	return on(name, func(over *runtime.Context, c *comm.Comm) (call, end func() error, err error) {
		a, err := container.New(over, vector(c, n))
		if err != nil {
			return nil, nil, err
		}
		view, err := a.View()
		if err != nil {
			return nil, nil, err
		}
		random := rand.New(rand.NewPCG(1, uint64(c.Rank())))
		for i := range view.Count {
			*(*int64)(unsafe.Add(view.Addr, 8*i)) = random.Int64()
		}
		view.Storage.Release()
		return func() error { return change(a) }, a.Close, nil
	})
}

func halos() Operation {
	return on("halo exchange", func(over *runtime.Context, c *comm.Comm) (call, end func() error, err error) {
		a, err := container.New(over, vector(c, Elements))
		if err != nil {
			return nil, nil, err
		}
		h, err := container.NewHalo(a, []halo.Margin{{Before: 1, After: 1, Mode: halo.Wrap}})
		if err != nil {
			return nil, nil, err
		}
		return h.Exchange, func() error {
			if err := h.Close(); err != nil {
				return err
			}
			return a.Close()
		}, nil
	})
}

// redistribution has every rank send to every other.
func redistribution() Operation {
	return filled("redistribution, all to all", Elements, func(a *container.Array) error {
		return a.Redistribute(container.Division{Kind: partition.KindCyclic}, 0)
	})
}

// shift has every rank send to the next.
func shift() Operation {
	return filled("redistribution, to neighbours", Elements, func(a *container.Array) error {
		sizes := make([]int64, a.Context().Size())
		for rank := range sizes {
			sizes[rank] = Elements
		}
		sizes[0] += Elements / 2
		sizes[len(sizes)-1] -= Elements / 2
		return a.Redistribute(container.Division{Kind: partition.KindExplicit, Sizes: sizes}, 0)
	})
}

// Sorting sorts so many elements on each rank.
func Sorting(n int) Operation {
	return filled("sort", n, func(a *container.Array) error { return algorithm.Sort(a, algorithm.Sorting{}) })
}

// keyed is a call with Keys random keys on each rank.
func keyed(name string, call func(m *hashmap.Map, keys, values memory.Span) error) Operation {
	return on(name, func(over *runtime.Context, c *comm.Comm) (func() error, func() error, error) {
		m, err := hashmap.New(over, hashmap.Key{Type: dtype.Int64, Bytes: 8}, dtype.Int64, container.OnHost)
		if err != nil {
			return nil, nil, err
		}
		keys, random := make([]int64, Keys), rand.New(rand.NewPCG(2, uint64(c.Rank())))
		for i := range keys {
			keys[i] = random.Int64()
		}
		return func() error { return call(m, memory.Of(dtype.Int64, keys), elements(Keys)) }, m.Close, nil
	})
}

func mapRound() Operation {
	return keyed("map, insert 1000 keys", (*hashmap.Map).InsertMany)
}

func mapLookup() Operation {
	return keyed("map, find 1000 keys", func(m *hashmap.Map, keys, values memory.Span) error {
		return m.FindMany(keys, values, memory.Of(dtype.Bool, make([]bool, Keys)))
	})
}
