package gpu

import (
	"errors"
	"testing"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
)

// TestInOrder has a queue work on memory of another one, which works on it before and after.
func TestInOrder(t *testing.T) { onEach(t, testInOrder) }

func testInOrder(t *testing.T, d driver) {
	t.Setenv("DTL_FAKE_GPU_COUNT", "2")
	on, failed := d.device(0), errors.New("in the middle")
	q, same, far := queueOf(t, on), queueOf(t, on), queueOf(t, d.device(1))
	for name, row := range map[string]struct {
		other     backend.Queue
		failing   string
		nth       string
		fails     error
		wantHeard bool
	}{
		"two queues":                      {other: same},
		"work that fails":                 {other: same, fails: failed, wantHeard: true},
		"no order before":                 {other: same, failing: "cuStreamWaitEvent", nth: "1", wantHeard: true},
		"no order after":                  {other: same, failing: "cuStreamWaitEvent", nth: "2"},
		"work that fails and no order":    {other: same, failing: "cuEventRecord", nth: "2", fails: failed, wantHeard: true},
		"two devices":                     {other: far},
		"two devices and work that fails": {other: far, fails: failed, wantHeard: true},
	} {
		t.Run(name, func(t *testing.T) {
			there, storage := span(t, row.other.Memory(), 1000, dtype.Uint8)
			mine, _ := span(t, q.Memory(), 1000, dtype.Uint8)
			must(t, row.other.Fill(there, []byte{1}))
			if row.failing != "" {
				d.fail(d.named(row.failing) + ":" + row.nth + ":719")
			}
			called := false
			err := backend.InOrder(q, []backend.Queue{row.other}, func() error {
				called = true
				must(t, q.Copy(mine, there))
				return row.fails
			})
			d.fail("")
			if (err != nil) != row.wantHeard || row.fails != nil && !errors.Is(err, row.fails) {
				t.Errorf("got %v", err)
			}
			storage.Release()
			next, second := span(t, row.other.Memory(), 1000, dtype.Uint8)
			defer second.Release()
			must(t, row.other.Fill(next, []byte{9}))
			must(t, row.other.Synchronize())
			got := make([]byte, 1000)
			must(t, q.Copy(memory.Of(dtype.Uint8, got), mine))
			if called && got[0] != 1 {
				t.Errorf("read %d of memory that was given back and used again, want 1", got[0])
			}
		})
	}
}
