// Package goroutine tells goroutines apart.
//
// A call from C runs on the goroutine that belongs to its thread, and so does one that is made from within it, such as by
// a signal handler that runs while it waits. So what a goroutine holds is what its thread's call holds.
package goroutine
