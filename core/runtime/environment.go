package runtime

import (
	"sync"
	"time"

	"dtl/core/handle"
)

// environments are the open ones: how many, and since when there is any, as handle.Now has it.
var environments struct {
	mu    sync.Mutex
	n     int64
	since time.Duration
}

// Environment says that somebody uses the library. Backends start at first need and stop at exit, so an
// Environment holds nothing but its place in the count.
type Environment struct{ closed bool }

// Open returns an environment, which the caller closes.
func Open() *Environment {
	environments.mu.Lock()
	defer environments.mu.Unlock()
	if environments.n == 0 {
		environments.since = handle.Now()
	}
	environments.n++
	return &Environment{}
}

// Close takes the environment out of the count. A second Close does nothing.
func (e *Environment) Close() error {
	environments.mu.Lock()
	defer environments.mu.Unlock()
	if !e.closed {
		e.closed = true
		environments.n--
	}
	return nil
}

// References returns how many environments are open.
func References() int64 {
	environments.mu.Lock()
	defer environments.mu.Unlock()
	return environments.n
}

// Since returns since when there has been an environment without a gap, as handle.Now has it; where there is none, the
// begin of the last such time.
func Since() time.Duration {
	environments.mu.Lock()
	defer environments.mu.Unlock()
	return environments.since
}
