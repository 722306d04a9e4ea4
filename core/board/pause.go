//go:build amd64 || arm64

package board

// Pause tells the processor that this is a loop that waits for memory to change.
func Pause()
