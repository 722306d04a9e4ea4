package backend_test

import (
	"testing"

	"dtl/backends/cpu"
	"dtl/core/backend"
	"dtl/core/backend/backendtest"
	"dtl/core/memory"
	"dtl/core/status"
)

// small is a space with room for so many bytes at once.
type small struct {
	*cpu.Host
	room int64
}

func (s small) Allocate(size, alignment int) (memory.Block, error) {
	if current, _ := s.InUse(); size > 0 && (int64(size) > s.room || current+int64(size) > s.room) {
		return memory.Block{}, status.New(status.OutOfMemory, "%d bytes do not fit", size)
	}
	return s.Host.Allocate(size, alignment)
}

func TestOverflow(t *testing.T) {
	first, second := small{cpu.NewHost(), 1 << 16}, cpu.NewHost()
	backendtest.MemorySpace(t, backend.Overflow(first, second))
	for name, space := range map[string]backend.MemorySpace{"first": first, "second": second} {
		if current, peak := space.InUse(); current != 0 || peak == 0 {
			t.Errorf("%s: %d bytes in use, %d at most; want none left, and some used", name, current, peak)
		}
	}
}
