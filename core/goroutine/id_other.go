//go:build !amd64 && !arm64

package goroutine

import "golang.org/x/sys/unix"

// ID returns the number of the calling goroutine's thread, which has to be its alone, as that of a call from C is. It is
// never 0 or 1.
func ID() uint64 { return uint64(unix.Gettid()) }
