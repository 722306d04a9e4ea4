//go:build amd64 || arm64

package goroutine

// ID returns a number that is the calling goroutine's as long as it runs, and no other's: the address of what the
// runtime knows of it, which never moves. It is never 0 or 1.
func ID() uint64
