package pydtl

import (
	"golang.org/x/sys/unix"

	"dtl/core/handle"
	"dtl/core/runtime"
	"dtl/core/status"
)

// context puts a new context in the table; there may be none.
func context(c *runtime.Context, err error) (int64, error) {
	if err != nil || c == nil {
		return 0, err
	}
	return int64(runtime.Contexts.Put(c)), nil
}

// on calls f with the context that a handle names.
func on[T any](h int64, f func(*runtime.Context) (T, error)) (T, error) {
	return using(runtime.Contexts, h, f)
}

// ContextWorld returns a context of all processes started together. device is a number, or as the constants of package runtime have
// it. Collective.
func ContextWorld(device int64) (h int64, err error) {
	defer guard(&err)
	return context(runtime.World(int(device)))
}

// ContextOn returns a context of all processes started together, connected by the named backend. Collective.
func ContextOn(backend string, device int64) (h int64, err error) {
	defer guard(&err)
	return context(runtime.On(backend, int(device)))
}

// ContextSelf returns a context of this process alone.
func ContextSelf() (h int64, err error) {
	defer guard(&err)
	return context(runtime.Self())
}

// ContextAdopt returns a context over a duplicate of an MPI communicator, given its native handle. Collective.
func ContextAdopt(communicator uintptr, device int64) (h int64, err error) {
	defer guard(&err)
	return context(runtime.Adopt("mpi", communicator, int(device)))
}

// ContextSize returns the number of ranks.
func ContextSize(ctx int64) (size int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) { return int64(c.Size()), nil })
}

// ContextDevice returns the number of the context's GPU, or -1.
func ContextDevice(ctx int64) (device int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) { return int64(c.Device()), nil })
}

// ContextBackend returns the name of the backend that connects the ranks.
func ContextBackend(ctx int64) (name string, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (string, error) { return c.Backend(), nil })
}

// ContextSetScratch names the folder of the context's containers on disk, before there are any.
func ContextSetScratch(ctx int64, folder string) (ok bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		c.SetScratch(folder)
		return true, nil
	})
}

// ContextScratch returns the folder of the context's containers on disk.
func ContextScratch(ctx int64) (folder string, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (string, error) { return c.Scratch(), nil })
}

// ContextScratchFile returns the descriptor of a file without a name in the scratch folder, which is the caller's. Local.
func ContextScratchFile(ctx int64) (descriptor int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) {
		files, err := c.Files()
		if err != nil {
			return 0, err
		}
		file, err := files.Open()
		if err != nil {
			return 0, err
		}
		defer file.Close()
		number, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		return int64(number), err
	})
}

// ContextScratchInMemory reports whether the scratch folder is in memory itself. Local.
func ContextScratchInMemory(ctx int64) (is bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		files, err := c.Files()
		return err == nil && files.InMemory(), err
	})
}

// ContextWithDevice returns a context of the same ranks with a GPU and a communicator of its own. Collective.
func ContextWithDevice(ctx, device int64) (h int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) { return context(c.WithDevice(int(device))) })
}

// ContextFence orders this process's memory accesses before it against those after it. Local.
func ContextFence(ctx int64) (ok bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) { return true, c.Fence() })
}

// ContextDup returns a context of the same ranks with a communicator of its own. Collective.
func ContextDup(ctx int64) (h int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) { return context(c.Dup()) })
}

// ContextDupFor is ContextDup for calls that op stands for, as other calls' errors name it. Collective.
func ContextDupFor(ctx int64, op string) (h int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) { return context(c.DupFor(op)) })
}

// ContextDefer tells the other ranks of a call that is to run later, and returns its number; 0 where nobody is told.
func ContextDefer(ctx int64, call, place string) (seq int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) {
		over, err := c.Comm()
		if err != nil {
			return 0, err
		}
		n, err := over.Defer(call, place)
		return int64(n), status.In(call, err)
	})
}

// ContextServe says that what a context does from now on is the deferred call of another that has a number; 0: none.
func ContextServe(ctx, of, seq int64) (ok bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		return on(of, func(from *runtime.Context) (bool, error) {
			to, err := c.Comm()
			if err != nil {
				return false, err
			}
			asked, err := from.Comm()
			if err != nil {
				return false, err
			}
			to.Serve(asked, uint64(seq))
			return true, nil
		})
	})
}

// ContextSplit returns a context of the ranks that gave the same color, ordered by key and then by rank; 0 for
// color -1. Collective.
func ContextSplit(ctx, color, key int64) (h int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) { return context(c.Split(int(color), int(key))) })
}

// ContextSplitByNode returns a context of the ranks that share memory with this one. Collective.
func ContextSplitByNode(ctx int64) (h int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) { return context(c.SplitByNode()) })
}

// ContextExport returns the native handle of a duplicate of an MPI communicator, which is the caller's to free. Collective.
func ContextExport(ctx int64) (communicator int64, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (int64, error) {
		native, err := c.Export()
		return int64(native), err
	})
}

// ContextSettle waits until no request on a context is active.
func ContextSettle(ctx int64) (ok bool, err error) {
	defer guard(&err)
	return true, runtime.Settle(handle.Handle(ctx))
}

// ContextClose closes a context, unless requests on it are active. Its handle is invalid from then on. Collective.
func ContextClose(ctx int64) (ok bool, err error) {
	defer guard(&err)
	return true, runtime.Shut(handle.Handle(ctx))
}

// ContextGiveUp has this rank make no more calls on a context, and tells the others why. Nothing is freed. Local.
func ContextGiveUp(ctx int64, why string) (ok bool, err error) {
	defer guard(&err)
	return true, runtime.GiveUp(handle.Handle(ctx), why)
}
