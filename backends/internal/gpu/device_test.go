package gpu

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"dtl/backends/internal/dl"
	"dtl/backends/internal/gpu/gputest"
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// driver is a fake driver, and what tests ask it.
type driver struct {
	t   *testing.T
	api API
	*dl.Library
	*Backend
}

// preset is an opener of one library that is open.
type preset struct{ library *dl.Library }

func (p preset) Open(...string) (*dl.Library, error)       { return p.library, nil }
func (p preset) OpenGlobal(...string) (*dl.Library, error) { return p.library, nil }
func (p preset) Loaded(string) (*dl.Library, bool)         { return p.library, true }

var amd = API{
	Name: "hip", Driver: "ROCm runtime", Libraries: []string{"libamdhip64.so.6"},
	Init: "hipInit", Count: "hipGetDeviceCount", ErrorText: "hipDrvGetErrorString",
}

func newDriver(t *testing.T, api API) driver {
	t.Helper()
	library := gputest.Driver(t, api.Name)
	return driver{t, api, library, New(api, preset{library})}
}

// onEach does a test with each vendor's driver.
func onEach(t *testing.T, test func(t *testing.T, d driver)) {
	for _, api := range []API{vendor, amd} {
		t.Run(api.Name, func(t *testing.T) { test(t, newDriver(t, api)) })
	}
}

func (d driver) device(n int) *device {
	d.t.Helper()
	made, err := d.Device(n)
	if err != nil {
		d.t.Fatal(err)
	}
	return made.(*device)
}

// fail has calls fail: symbol:n:error[,...].
func (d driver) fail(text string) {
	f, err := d.Symbol("fake_fail")
	if err != nil {
		d.t.Fatal(err)
	}
	gputest.CallText(f, text)
}

// outstanding returns how many of something there are, by the fake's numbers.
func (d driver) outstanding(what int) int {
	f, err := d.Symbol("fake_outstanding")
	if err != nil {
		d.t.Fatal(err)
	}
	return gputest.CallNumber(f, what)
}

const (
	blocks   = 0
	streams  = 2
	events   = 3
	pinned   = 4
	contexts = 5
	queued   = 6
)

// span returns new memory of a device.
func span(t *testing.T, s memory.Allocator, n int, typ dtype.Type) (memory.Span, *memory.Storage) {
	t.Helper()
	storage, err := memory.NewScratch(s, n*typ.Size(), 64)
	if err != nil {
		t.Fatal(err)
	}
	return memory.Span{Addr: storage.Addr(), Count: n, Type: typ, Place: storage.Place()}, storage
}

func queueOf(t *testing.T, d backend.Device) backend.Queue {
	t.Helper()
	q, err := d.NewQueue()
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCopiesOfAllLengths(t *testing.T) { onEach(t, testCopiesOfAllLengths) }

func testCopiesOfAllLengths(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	for _, n := range []int{0, 1, 3, 4096, piece - 1, piece, piece + 1, 2 * piece, 5*piece + 7} {
		there, storage := span(t, on.Memory(), n, dtype.Uint8)
		other, second := span(t, on.Memory(), n, dtype.Uint8)
		sent, got := make([]byte, n), make([]byte, n)
		for i := range sent {
			sent[i] = byte(i*7 + i>>8)
		}
		must(t, q.Copy(there, memory.Of(dtype.Uint8, sent)))
		want := slices.Clone(sent)
		clear(sent) // it was read already
		must(t, q.Copy(other, there))
		must(t, q.Copy(memory.Of(dtype.Uint8, got), other))
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes came back changed", n)
		}
		storage.Release()
		second.Release()
	}
	q.Close()
	if n := d.outstanding(contexts); n != 0 {
		t.Errorf("%d contexts are still current", n)
	}
}

func TestFill(t *testing.T) { onEach(t, testFill) }

func testFill(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	for _, element := range [][]byte{
		{7}, {1, 2}, {3, 3}, {1, 2, 3, 4}, {5, 6, 5, 6}, {0, 0, 0, 0, 0, 0, 0, 0}, {1, 2, 3, 4, 1, 2, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8},
		{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8},
		{1, 2, 3}, {4, 4, 4}, {0, 0, 1, 0, 0}, {1, 2, 3, 4, 1}, {1, 2, 1, 2, 1, 2}, {1, 2, 3, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 1},
	} {
		for _, n := range []int{0, 1, 2, 1000, 2*seed + 3} {
			there, storage := span(t, on.Memory(), n*len(element), dtype.Uint8)
			must(t, q.Fill(there, element))
			got := make([]byte, n*len(element))
			must(t, q.Copy(memory.Of(dtype.Uint8, got), there))
			if !bytes.Equal(got, bytes.Repeat(element, n)) {
				t.Errorf("%d elements %v were filled with something else", n, element)
			}
			storage.Release()
		}
	}
}

func TestWorkIsQueued(t *testing.T) { onEach(t, testWorkIsQueued) }

func testWorkIsQueued(t *testing.T, d driver) {
	q := queueOf(t, d.device(0))
	there, _ := span(t, d.device(0).Memory(), 1000, dtype.Uint8)
	must(t, q.Fill(there, []byte{1}))
	if d.outstanding(queued) == 0 {
		t.Error("a fill waits for the device")
	}
	must(t, q.Synchronize())
	if n := d.outstanding(queued); n != 0 {
		t.Errorf("%d operations are queued after Synchronize", n)
	}
}

func TestOrderOfTwoQueues(t *testing.T) { onEach(t, testOrderOfTwoQueues) }

func testOrderOfTwoQueues(t *testing.T, d driver) {
	on := d.device(0)
	first, second := queueOf(t, on), queueOf(t, on)
	there, _ := span(t, on.Memory(), 64, dtype.Uint8)
	read := func() byte {
		got := make([]byte, 64)
		must(t, second.Copy(memory.Of(dtype.Uint8, got), there))
		return got[0]
	}
	must(t, first.Fill(there, []byte{1}))
	if got := read(); got != 0xA5 {
		t.Errorf("read %#x before anything ordered the queues: the fake driver forgives", got)
	}
	must(t, on.Order(first.Stream(), second.Stream()))
	if got := read(); got != 1 {
		t.Errorf("read %#x after the queues were ordered, want 1", got)
	}
}

func TestMemoryIsKeptAndTrimmed(t *testing.T) { onEach(t, testMemoryIsKeptAndTrimmed) }

func testMemoryIsKeptAndTrimmed(t *testing.T, d driver) {
	on := d.device(0)
	_, storage := span(t, on.Memory(), 1000, dtype.Float64)
	at := storage.Addr()
	storage.Release()
	again, storage := span(t, on.Memory(), 999, dtype.Float64)
	if again.Addr != at {
		t.Error("memory of about the size was kept, and not used again")
	}
	storage.Release()
	if current, peak := on.Memory().InUse(); current != 0 || peak != 8000 {
		t.Errorf("%d bytes in use, at most %d", current, peak)
	}
	freed, err := d.Trim()
	if err != nil || freed < 8000 || d.outstanding(blocks) != 0 {
		t.Errorf("trimmed %d bytes, %v; %d blocks are left", freed, err, d.outstanding(blocks))
	}
}

func TestAFullDevice(t *testing.T) { onEach(t, testAFullDevice) }

func testAFullDevice(t *testing.T, d driver) {
	on := d.device(0)
	for range 3 { // what is kept of other sizes makes room
		_, storage := span(t, on.Memory(), 40<<20, dtype.Uint8)
		storage.Release()
		_, storage = span(t, on.Memory(), 30<<20, dtype.Uint8)
		storage.Release()
	}
	_, err := memory.NewStorage(on.Memory(), 65<<20, 64)
	if !errors.Is(err, status.OutOfMemory) {
		t.Fatalf("got %v, want out of memory", err)
	}
	for _, want := range []string{"on GPU 0 (Fake GPU 0)", "of 67108864 bytes left", "bytes are available"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestManagedMemory(t *testing.T) { onEach(t, testManagedMemory) }

func testManagedMemory(t *testing.T, d driver) {
	on := d.device(0)
	space, err := on.Managed()
	must(t, err)
	storage, err := memory.NewStorage(space, 4096, 64)
	must(t, err)
	all := storage.Bytes()
	if !all.Place.OfHost() || all.Place.Device() != 0 {
		t.Errorf("managed memory is %s", all.Place)
	}
	q := queueOf(t, on)
	must(t, q.Fill(all, []byte{3}))
	must(t, on.Synchronize())
	if got := memory.As[uint8](all); got[0] != 3 || got[4095] != 3 {
		t.Error("the host does not see what the device wrote")
	}
}

// everything calls every function of the driver.
func everything(on *device) error {
	storage, err := memory.NewStorage(on.Memory(), piece+8, 64)
	if err != nil {
		return err
	}
	defer storage.Release()
	managed, err := memory.NewStorage(on.managed, 4096, 64)
	if err != nil {
		return err
	}
	defer managed.Release()
	q, err := on.NewQueue()
	if err != nil {
		return err
	}
	defer q.Close()
	host := make([]byte, piece+8)
	for _, call := range []func() error{
		func() error { return q.Copy(storage.Bytes(), memory.Of(dtype.Uint8, host)) },
		func() error { return q.Fill(storage.Bytes(), []byte{1, 2, 3, 4, 5, 6, 7, 8}) },
		func() error { return q.Fill(managed.Bytes(), []byte{1, 2}) },
		func() error { return q.Fill(storage.Bytes().Slice(0, 4096), []byte{7, 8, 9, 10}) },
		func() error { return on.Order(q.Stream(), 1) },
		func() error { return located(on, storage.Bytes()) },
		func() error { return folded64(q, storage.Bytes()) },
		on.Settle,
		func() error { return negated(q, storage.Bytes()) },
		func() error { return sorted64(q, storage.Bytes()) },
		func() error { return q.Copy(memory.Of(dtype.Uint8, host), storage.Bytes()) },
		func() error { return polled(on, q) },
		func() error { return reused(on, q) },
		q.Synchronize,
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// reused frees memory of one queue, and then memory of whoever, each of which somebody else takes.
func reused(on *device, q backend.Queue) error {
	all := []memory.Allocator{q.Memory(), on.Memory(), on.Memory(), on.Memory()}
	for i, from := range all {
		storage, err := memory.NewScratch(from, (3+i/2)<<20, 64)
		if err != nil {
			return err
		}
		storage.Release()
	}
	return nil
}

// polled asks about a queue until it is done, as somebody who has the device current.
func polled(on *device, q backend.Queue) error {
	return on.Within(func() error {
		for {
			if done, err := q.Done(); done || err != nil {
				return err
			}
		}
	})
}

func located(on *device, s memory.Span) error {
	_, _, err := on.Locate(uintptr(s.Addr))
	return err
}

func folded64(q backend.Queue, s memory.Span) error {
	s.Type, s.Count = dtype.Int64, s.Bytes()/8
	_, err := q.Fold(backend.Reduction{Name: "sum", Type: s.Type, Merge: "integers"}, s, memory.Span{})
	return err
}

func sorted64(q backend.Queue, s memory.Span) error {
	s.Type, s.Count = dtype.Int64, 300
	if err := q.Bins(make([]int64, 3), s, []float64{0, 1, 2, 3}); err != nil {
		return err
	}
	return q.Sort(s, radix.KeysOf(s.Type, false, false))
}

func negated(q backend.Queue, s memory.Span) error {
	s.Type, s.Count = dtype.Int64, s.Bytes()/8
	return q.Elementwise("negative", s, s.Type, nil, [3]backend.Operand{{Span: s}})
}

// TestKernelsOfNewerDevices loads kernels of which the driver says that they do not run there.
func TestKernelsOfNewerDevices(t *testing.T) {
	for _, code := range []int{209, 222} {
		d := newDriver(t, vendor)
		there, _ := span(t, d.device(0).Memory(), 10, dtype.Int64)
		d.fail(fmt.Sprintf("cuModuleLoadDataEx:1:%d", code))
		err := negated(queueOf(t, d.device(0)), there)
		want := fmt.Sprintf("GPU 0 (Fake GPU 0) does not run DTL's kernels: error %d", code)
		if !errors.Is(err, status.BackendUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestWhatKernelsDoNotReach gives a kernel memory of the host, and of another device: the tests' driver is as strict as a machine can be.
func TestWhatKernelsDoNotReach(t *testing.T) {
	t.Setenv("DTL_FAKE_GPU_COUNT", "2")
	onEach(t, func(t *testing.T, d driver) {
		other, _ := span(t, d.device(1).Memory(), 10, dtype.Int64)
		notReached(t, d, other)
		notReached(t, newDriver(t, d.api), memory.Of(dtype.Int64, make([]int64, 10)))
	})
}

func notReached(t *testing.T, d driver, s memory.Span) {
	q := queueOf(t, d.device(0))
	there, _ := span(t, q.Memory(), s.Count, s.Type)
	must(t, q.Elementwise("negative", there, s.Type, nil, [3]backend.Operand{{Span: s}}))
	for range 2 { // it stays so
		if err := q.Synchronize(); err == nil || !strings.Contains(err.Error(), "error 700") {
			t.Errorf("got %v", err)
		}
	}
}

// TestADeviceThatHasFailed says so in each call that follows.
func TestADeviceThatHasFailed(t *testing.T) { onEach(t, testADeviceThatHasFailed) }

func testADeviceThatHasFailed(t *testing.T, d driver) {
	on := d.device(0)
	q := queueOf(t, on)
	there, _ := span(t, on.Memory(), 10, dtype.Int64)
	d.fail(d.named("cuLaunchKernel") + ":1:716+")
	defer d.fail("")
	for range 2 {
		err := negated(q, there)
		if err == nil || !strings.HasSuffix(err.Error(), "and this process can use the GPU no more") {
			t.Errorf("got %v", err)
		}
	}
	if err := on.Synchronize(); err == nil || !strings.Contains(err.Error(), "waiting for its work failed: error 716") {
		t.Errorf("got %v", err)
	}
}

// quiet are the functions whose failure nobody has to hear of, by CUDA's names: a name for an error, what is asked only for another
// error's text, what only several processes call, what only an old driver is asked, and the driver's version.
var quiet = []string{"cuGetErrorString", "cuDriverGetVersion", "cuMemGetInfo_v2", "cuMemFree_v2", "cuMemFreeHost", "cuIpcGetMemHandle",
	"cuIpcOpenMemHandle_v2", "cuMemGetAddressRange_v2"}

// unreturned are the driver's functions whose failure leaves something allocated that nobody can give back.
var unreturned = []string{"cuEventDestroy_v2", "cuCtxPopCurrent_v2", "hipEventDestroy", "hipSetDevice"}

// TestEachFailure has each call of the driver fail, one at a time, and then finds everything in order.
func TestEachFailure(t *testing.T) {
	t.Setenv("DTL_FAKE_GPU_COUNT", "2")
	onEach(t, testEachFailure)
}

func testEachFailure(t *testing.T, d driver) {
	last := newDriver(t, d.api)
	names := vendor.symbols()
	for i, symbol := range d.api.symbols() {
		if symbol == "" {
			continue
		}
		on := d
		if slices.Contains(unreturned, symbol) {
			on = last
		}
		heard := !slices.Contains(quiet, names[i]) && symbol != "cuDeviceGetUuid" && symbol != "hipGetLastError"
		for nth := 1; nth <= 3; nth++ {
			t.Run(fmt.Sprint(symbol, " ", nth), func(t *testing.T) { oneFailure(t, on, symbol, nth, heard) })
		}
	}
	for what, name := range map[int]string{blocks: "blocks", pinned: "pinned blocks", events: "events", contexts: "contexts"} {
		if n := d.outstanding(what); n != 0 {
			t.Errorf("%d %s are left", n, name)
		}
	}
}

// oneFailure has a call fail from the search for devices on, and then does all again.
func oneFailure(t *testing.T, d driver, symbol string, nth int, heard bool) {
	d.fail(fmt.Sprintf("%s:%d:719", symbol, nth))
	b := New(d.api, preset{d.Library})
	err := used(b)
	d.fail("")
	if err != nil && !strings.Contains(err.Error(), "719 (unspecified launch failure)") {
		t.Errorf("got %v, which does not say what failed", err)
	}
	if nth == 1 && err == nil && heard {
		t.Error("nobody heard of it")
	}
	if b.Probe() != nil { // a driver that did not start is not started again
		b = New(d.api, preset{d.Library})
	}
	must(t, used(b))
	on, err := b.Device(1)
	must(t, err)
	if current, _ := on.Memory().InUse(); current != 0 {
		t.Errorf("%d bytes were not given back", current)
	}
	must(t, on.(*device).end())
}

// used does everything on a backend's second device, which is current for no thread at first.
func used(b *Backend) error {
	on, err := b.Device(1)
	if err != nil {
		return err
	}
	err = everything(on.(*device))
	_, failed := b.Trim()
	return cmp.Or(err, failed)
}

// end gives back what a process keeps until it ends.
func (d *device) end() error {
	_, err := d.trim()
	for i := range d.stage.halves {
		if h := &d.stage.halves[i]; h.then != 0 {
			err = cmp.Or(err, d.dropEvent(h.then))
			h.then = 0
		}
	}
	return err
}

func TestManyThreads(t *testing.T) { onEach(t, testManyThreads) }

func testManyThreads(t *testing.T, d driver) {
	on := d.device(0)
	var all sync.WaitGroup
	for k := range 8 {
		all.Go(func() {
			q := queueOf(t, on)
			defer q.Close()
			for n := 1; n < 3*piece; n *= 5 {
				there, storage := span(t, on.Memory(), n, dtype.Uint8)
				got := make([]byte, n)
				if err := errors.Join(q.Fill(there, []byte{byte(k)}), q.Copy(memory.Of(dtype.Uint8, got), there)); err != nil {
					t.Error(err)
				}
				if got[0] != byte(k) || got[n-1] != byte(k) {
					t.Errorf("thread %d read %d and %d", k, got[0], got[n-1])
				}
				storage.Release()
			}
		})
	}
	all.Wait()
	if n := d.outstanding(streams); n > 8 {
		t.Errorf("%d streams for 8 queues", n)
	}
}

func TestTheHostDoesNotFollowADevicesPointer(t *testing.T) {
	there := memory.Span{Addr: unsafe.Pointer(t), Count: 1, Type: dtype.Uint8, Place: memory.OnDevice(2)}
	for name, call := range map[string]func(){
		"As":   func() { memory.As[uint8](there) },
		"Copy": func() { memory.Copy(memory.Of(dtype.Uint8, []byte{1}), there) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "on GPU 2") {
					t.Errorf("panic with %q", text)
				}
			}()
			call()
		})
	}
}
