// Package goroutine tells goroutines apart.
//
// A call from C runs on the goroutine that belongs to its thread. So does a call that is made within it, for example
// by a signal handler that runs while it waits. So what belongs to the goroutine belongs to the call of that thread.
package goroutine
