package progress

import (
	"sync/atomic"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/status"
)

// callers says which threads may make calls, if a communicator of this process is of a library that not all threads may call
// at once. A call of another thread is refused and does not wait, because waiting could make other ranks wait forever.
var callers struct {
	limit atomic.Pointer[backend.ThreadLimit] // nil: all
	owner atomic.Int64                        // the thread that is in a call
	depth int                                 // how often it has entered
}

// Heed makes all calls from now on respect the limit of a backend's library.
func Heed(main backend.Communicator) error {
	l, ok := main.(backend.ThreadLimited)
	if !ok {
		return nil
	}
	limit, err := l.ThreadLimit()
	if err == nil && limit != nil {
		callers.limit.Store(limit)
	}
	return err
}

// Limited reports whether not every thread may make calls at any time.
func Limited() bool { return callers.limit.Load() != nil }

// Enter is called before each call from a program, and Exit after it if there was no error. A thread may enter again.
func Enter() error {
	poll()
	limit := callers.limit.Load()
	if limit == nil {
		return nil
	}
	if limit.Main != nil {
		if main, err := limit.Main(); err != nil || main {
			return err
		}
		return status.New(status.Communication, "MPI was initialised with %s, so only the thread that did may make this "+
			"call; initialise it with MPI_THREAD_MULTIPLE", limit.Level)
	}
	thread := int64(unix.Gettid())
	if callers.owner.Load() != thread && !callers.owner.CompareAndSwap(0, thread) {
		return status.New(status.Communication, "another thread is in a call, and MPI was initialised with %s; let the "+
			"threads take turns, or initialise it with MPI_THREAD_MULTIPLE", limit.Level)
	}
	callers.depth++
	return nil
}

// Exit ends what Enter began.
func Exit() {
	if limit := callers.limit.Load(); limit == nil || limit.Main != nil || callers.owner.Load() != int64(unix.Gettid()) {
		return
	}
	if callers.depth--; callers.depth == 0 {
		callers.owner.Store(0)
	}
}
