package gpu

import (
	"bytes"
	"testing"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// TestACopyWithoutAnEvent has a copy queued from or to pinned memory, and no event after it, and then has that memory used again.
func TestACopyWithoutAnEvent(t *testing.T) { onEach(t, testACopyWithoutAnEvent) }

func testACopyWithoutAnEvent(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	there, _ := span(t, q.Memory(), 1000, dtype.Uint8)
	other, _ := span(t, q.Memory(), 1000, dtype.Uint8)
	ones, twos := bytes.Repeat([]byte{1}, 1000), bytes.Repeat([]byte{2}, 1000)
	must(t, q.Fill(there, []byte{3}))
	for name, call := range map[string]func() error{
		"download": func() error { return q.Copy(memory.Of(dtype.Uint8, make([]byte, 1000)), there) },
		"upload":   func() error { return q.Copy(there, memory.Of(dtype.Uint8, ones)) },
	} {
		d.forbid("cuEventRecord")
		if err := call(); err == nil {
			t.Errorf("%s: nobody heard of it", name)
		}
		d.fail("")
		must(t, q.Copy(other, memory.Of(dtype.Uint8, twos)))
		got := make([]byte, 1000)
		must(t, q.Copy(memory.Of(dtype.Uint8, got), other))
		if !bytes.Equal(got, twos) {
			t.Errorf("after a failed %s, %d was copied, want 2", name, got[0])
		}
		d.forbid("cuEventRecord")
		_ = call()
		d.forbid("cuCtxSynchronize") // and the memory stays
		if _, err := d.Trim(); err == nil || d.outstanding(pinned) == 0 {
			t.Errorf("%s: pinned memory was given back, and nobody knows whether it is in use", name)
		}
		d.fail("")
		if _, err := d.Trim(); err != nil || d.outstanding(pinned) != 0 {
			t.Errorf("%s: %v, and %d pinned blocks are left", name, err, d.outstanding(pinned))
		}
	}
}
