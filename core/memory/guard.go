package memory

import (
	"sync/atomic"

	"dtl/core/status"
)

// Guard has pages of mapped files read as zero that their file does not have any more, and says so.
type Guard struct {
	Watch   func(at, size uintptr) int // -1: there are too many
	Renew   func()                     // before elements are used: others in the process may have taken its signal
	Unwatch func(number int)
	Broken  func(number int) bool
	Break   func(number int) // somebody was told that pages are missing
	Count   *int32           // read atomically: of how many mappings pages were missing of which nobody was told
}

var (
	guard    atomic.Pointer[Guard]
	reported atomic.Int32
)

// SetGuard says who looks after mapped files.
func SetGuard(g Guard) { guard.Store(&g) }

// Guarded returns who looks after mapped files; nil: nobody.
func Guarded() *Guard { return guard.Load() }

// CheckFiles is an error, once, after elements of a mapped file could not be read: what was computed of them is wrong.
func CheckFiles() error {
	g := guard.Load()
	if g == nil {
		return nil
	}
	now := atomic.LoadInt32(g.Count)
	if now == reported.Load() || reported.Swap(now) == now {
		return nil
	}
	return status.New(status.File, "a file whose elements are mapped has become shorter, or cannot be read any more; what was "+
		"computed of it since is wrong")
}
