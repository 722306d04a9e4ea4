package memory

import (
	"sync/atomic"

	"dtl/core/status"
)

// Reserve is address space that is kept for the Go runtime, which ends the process where it gets none. Somebody gives it
// back to the system when the runtime needs it; then there is no storage until it can be kept again.
type Reserve struct {
	Bytes int
	State *int32      // read atomically: 0 as long as it is kept
	Keep  func() bool // tries to keep it again, and says whether it is kept
}

var reserve atomic.Pointer[Reserve]

// SetReserve has storage refused while a reserve is not kept.
func SetReserve(r Reserve) { reserve.Store(&r) }

// CheckReserve is an error while the reserve is not kept: for those who are about to make what lasts.
func CheckReserve() error {
	r := reserve.Load()
	if r == nil || atomic.LoadInt32(r.State) == 0 || r.Keep() {
		return nil
	}
	return status.New(status.OutOfMemory, "the process has less than %d bytes of address space left, which are kept for "+
		"what must not fail", r.Bytes)
}
