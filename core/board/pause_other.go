//go:build !amd64 && !arm64

package board

// Pause does nothing: this processor has no instruction for a loop that waits.
func Pause() {}
