package gpu

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dtl/backends/internal/gpu/gputest"
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// named returns the driver's name of a function, by CUDA's.
func (d driver) named(name string) string {
	return d.api.symbols()[slices.Index(vendor.symbols(), name)]
}

// forbid has calls of functions fail, by CUDA's names: whoever makes one hears of it.
func (d driver) forbid(names ...string) {
	var all []string
	for _, name := range names {
		all = append(all, d.named(name)+":1:719")
	}
	d.fail(strings.Join(all, ","))
}

// waits are the functions that wait for a device, or may.
var waits = []string{"cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize", "cuMemFree_v2"}

// plus queues the sum of two spans of int64 in new memory.
func plus(t *testing.T, q backend.Queue, a, b memory.Span) (memory.Span, *memory.Storage) {
	t.Helper()
	sum, storage := span(t, q.Memory(), a.Count, a.Type)
	must(t, q.Elementwise("add", sum, a.Type, nil, [3]backend.Operand{{Span: a}, {Span: b}}))
	return sum, storage
}

func TestALoopOfResultsDoesNotWait(t *testing.T) { onEach(t, testALoopOfResultsDoesNotWait) }

func testALoopOfResultsDoesNotWait(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	ones, _ := span(t, q.Memory(), 1000, dtype.Int64)
	must(t, q.Fill(ones, []byte{1, 0, 0, 0, 0, 0, 0, 0}))
	sum, storage := plus(t, q, ones, ones)
	next, second := plus(t, q, sum, ones)
	storage.Release()
	sum, storage = next, second
	had := d.outstanding(blocks)
	d.forbid(append(waits, "cuMemAlloc_v2", "cuEventQuery", "cuEventRecord", "cuEventCreate")...)
	for range 100 {
		next, second := plus(t, q, sum, ones)
		storage.Release() // before the device has read it
		sum, storage = next, second
	}
	d.fail("")
	if n := d.outstanding(blocks); n != had {
		t.Errorf("%d blocks after 100 results, %d before", n, had)
	}
	if d.outstanding(queued) < 100 {
		t.Error("something has waited for the device")
	}
	got := make([]int64, 1000)
	must(t, q.Copy(memory.Of(dtype.Int64, got), sum))
	if got[0] != 103 || got[999] != 103 {
		t.Errorf("the sum is %d and %d, want 103", got[0], got[999])
	}
}

// TestMemoryOfAnotherQueue frees memory on which a queue still works.
func TestMemoryOfAnotherQueue(t *testing.T) { onEach(t, testMemoryOfAnotherQueue) }

func testMemoryOfAnotherQueue(t *testing.T, d driver) {
	on := d.device(0)
	first, second := queueOf(t, on), queueOf(t, on)
	there, storage := span(t, first.Memory(), 1000, dtype.Uint8)
	for range 20 {
		must(t, first.Fill(there, []byte{1}))
	}
	storage.Release()
	d.forbid(waits...)
	mine, other := span(t, second.Memory(), 1000, dtype.Uint8)
	if mine.Addr == there.Addr {
		t.Error("a queue got memory on which another one still works")
	}
	for tries := 0; mine.Addr != there.Addr; tries++ { // each asks for the event that was recorded
		if tries == 100 {
			t.Fatal("memory on which nothing works any more is not used again")
		}
		other.Share() // or it would be the next
		mine, other = span(t, second.Memory(), 1000, dtype.Uint8)
	}
	d.fail("")
	if n := d.outstanding(queued); n != 0 {
		t.Errorf("the memory was used again with %d operations before it", n)
	}
}

// TestErrorsAreForgotten asks a stream that is not done, and then for the last error of this thread, as a library does after a kernel.
func TestErrorsAreForgotten(t *testing.T) {
	d := newDriver(t, amd)
	on := d.device(0)
	q := queueOf(t, on)
	there, _ := span(t, q.Memory(), 1000, dtype.Uint8)
	last, err := d.Symbol("hipGetLastError")
	must(t, err)
	must(t, on.Within(func() error {
		for range 3 {
			must(t, q.Fill(there, []byte{1}))
		}
		if done, err := q.Done(); done || err != nil {
			t.Errorf("%v, %v", done, err)
		}
		if rc := gputest.CallNumber(last, 0); rc != 0 {
			t.Errorf("another library is told error %d", rc)
		}
		return nil
	}))
}

// TestMemoryThatOthersWorkOn has a stream that the allocator does not know work on memory that is given back.
func TestMemoryThatOthersWorkOn(t *testing.T) { onEach(t, testMemoryThatOthersWorkOn) }

func testMemoryThatOthersWorkOn(t *testing.T, d driver) {
	on := d.device(0)
	q, others := queueOf(t, on), queueOf(t, on)
	there, storage := span(t, q.Memory(), 1000, dtype.Uint8)
	must(t, q.Synchronize())
	storage.Share()
	for range 20 {
		must(t, others.Fill(there, []byte{1}))
	}
	storage.Release()
	if on.recordsAll() {
		d.forbid(waits...)
	}
	mine, _ := span(t, q.Memory(), 1000, dtype.Uint8)
	d.fail("")
	if on.recordsAll() == (mine.Addr == there.Addr) {
		t.Errorf("that the driver records an event of all streams is %v, and that the memory was used again, %v", on.recordsAll(),
			mine.Addr == there.Addr)
	}
	must(t, q.Fill(mine, []byte{2}))
	must(t, others.Synchronize())
	got := make([]byte, 1000)
	must(t, q.Copy(memory.Of(dtype.Uint8, got), mine))
	if got[0] != 2 || got[999] != 2 {
		t.Errorf("read %d and %d, which others wrote, want 2", got[0], got[999])
	}
	again, _ := span(t, q.Memory(), 1000, dtype.Uint8)
	if on.recordsAll() && again.Addr != there.Addr {
		t.Error("memory on which nothing works any more is not used again")
	}
}

// TestAFullDeviceWaits has no room for a block but in memory on which a queue still works.
func TestAFullDeviceWaits(t *testing.T) { onEach(t, testAFullDeviceWaits) }

func testAFullDeviceWaits(t *testing.T, d driver) {
	on := d.device(0)
	first, second := queueOf(t, on), queueOf(t, on)
	there, storage := span(t, first.Memory(), 40<<20, dtype.Uint8)
	for range 20 {
		must(t, first.Fill(there, []byte{1}))
	}
	storage.Release()
	d.forbid("cuMemFree_v2")
	mine, other := span(t, second.Memory(), 40<<20, dtype.Uint8)
	d.fail("")
	if mine.Addr != there.Addr || d.outstanding(queued) != 0 {
		t.Errorf("%d operations are queued, and that the memory was used again is %v", d.outstanding(queued), mine.Addr == there.Addr)
	}
	other.Release()
	if _, storage = span(t, second.Memory(), 60<<20, dtype.Uint8); storage.Size() != 60<<20 { // what is kept makes room
		t.Error("no memory")
	}
	if _, err := memory.NewScratch(first.Memory(), 30<<20, 64); !errors.Is(err, status.OutOfMemory) {
		t.Errorf("got %v, want out of memory", err)
	}
}
