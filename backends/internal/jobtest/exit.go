package jobtest

// #include <stdlib.h>
import "C"

import (
	"testing"
	"time"
)

// Exit ends the process through C's exit, as Python does: os.Exit skips the handlers of C.
func Exit(code int) { C.exit(C.int(code)) }

// EndRank1 has rank 1 mark that it is leaving, and end its process, while the others wait for it.
func EndRank1(t *testing.T, world interface {
	Rank() int
	Barrier() error
}, end func()) {
	t.Helper()
	if world.Rank() == 1 {
		Mark(t, "leaving")
		end()
	}
	_ = world.Barrier()
	time.Sleep(time.Minute) // longer than the job may take: its end ends this rank
}
