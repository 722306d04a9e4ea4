package pydtl

import (
	"fmt"
	"strings"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/runtime"
	"dtl/core/status"
)

// mostThreads is of how many threads a context is at most: the memory in which they meet is made at once.
const mostThreads = 1024

// ContextsOfThreads returns the contexts of so many new ranks, by rank and with spaces between them. They are threads of
// this process: each context is to be used from one thread alone. Local.
func ContextsOfThreads(ranks int64) (contexts string, err error) {
	defer guard(&err)
	if ranks < 1 || ranks > mostThreads {
		return "", status.New(status.InvalidArgument, "%d ranks outside [1, %d], as threads of this process", ranks, mostThreads)
	}
	host, err := backend.As[backend.MemoryProvider](backend.Local)
	if err != nil {
		return "", err
	}
	type made struct {
		rank int
		*runtime.Context
		error
	}
	done := make(chan made)
	for rank, on := range cpu.Group(int(ranks)) {
		go func() {
			c, err := runtime.New(backend.Local, on, host.Memory(), runtime.UsualDevice)
			done <- made{rank, c, err}
		}()
	}
	handles := make([]string, ranks)
	for range handles {
		m := <-done
		if m.error != nil {
			err = m.error
			continue
		}
		handles[m.rank] = fmt.Sprint(int64(runtime.Contexts.Put(m.Context)))
	}
	return strings.Join(handles, " "), err
}

// ContextAsked reports whether another rank of a context wants to know where this one is. Local.
func ContextAsked(ctx int64) (asked bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		over, err := c.Comm()
		return err == nil && over.Asked(), nil
	})
}

// ContextAnswer tells the ranks of a context that asked where this rank is. Local.
func ContextAnswer(ctx int64, place string) (ok bool, err error) {
	defer guard(&err)
	return on(ctx, func(c *runtime.Context) (bool, error) {
		over, err := c.Comm()
		if err == nil {
			over.Answer(place)
		}
		return err == nil, nil
	})
}
