package runtime

import "sync/atomic"

// environments counts the open ones.
var environments atomic.Int64

// Environment says that somebody uses the library. Backends start at first need and stop at exit, so an
// Environment holds nothing but its place in the count.
type Environment struct{ closed atomic.Bool }

// Open returns an environment, which the caller closes.
func Open() *Environment {
	environments.Add(1)
	return &Environment{}
}

// Close takes the environment out of the count. A second Close does nothing.
func (e *Environment) Close() error {
	if !e.closed.Swap(true) {
		environments.Add(-1)
	}
	return nil
}

// References returns how many environments are open.
func References() int64 { return environments.Load() }
