package gpu

/*
#include <stdlib.h>
#include "driver.h"
*/
import "C"

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"dtl/backends/internal/dl"
	"dtl/core/backend"
	"dtl/core/status"
)

// table holds a driver's functions. It is never freed.
type table struct {
	api     API
	library *dl.Library
	c       *C.gpu_table
}

// described returns the description of a driver.
func (api API) described() *C.gpu_driver {
	name := C.CString(api.Name)
	defer C.free(unsafe.Pointer(name))
	return C.gpu_driver_of(name)
}

// symbols returns the driver's names of the functions, in the table's order: "" of one that it has not.
func (api API) symbols() (names []string) {
	driver := api.described()
	for i := C.int(0); C.gpu_symbol(driver, i) != nil; i++ {
		names = append(names, C.GoString(C.gpu_symbol(driver, i)))
	}
	return names
}

// newTable finds every function, or says which one is missing.
func newTable(api API, library *dl.Library) (*table, error) {
	t := &table{api, library, (*C.gpu_table)(C.calloc(1, C.sizeof_gpu_table))}
	t.c.driver = api.described()
	for i, name := range api.symbols() {
		if name == "" {
			continue
		}
		function, err := library.Symbol(name)
		if err != nil && i >= int(C.gpu_required()) {
			continue
		}
		if err != nil {
			C.free(unsafe.Pointer(t.c))
			return nil, status.New(status.BackendUnavailable, "%s found (%s), which is too old: it has no %s",
				api.Driver, library.Path(), name)
		}
		C.gpu_set(t.c, C.int(i), function)
	}
	return t, nil
}

// The driver's errors that something follows from, which are the same for both vendors.
const (
	outOfMemory   = 2
	deinitialized = 4 // the process ends
	noDevice      = 100
	noBinary      = 209 // which runs on the device
	newerText     = 222 // than the driver's compiler
	notFound      = 500
	notReady      = 600
)

// explain says what an error of the driver's is.
func (t *table) explain(result int) string {
	reason := fmt.Sprintf("error %d", result)
	if function, err := t.library.Symbol(t.api.ErrorText); err == nil {
		reason = fmt.Sprintf("%s (%s)", reason, text(function, result))
	}
	return reason
}

// nameOf returns what the vendor calls a device, which is not used for it.
func (t *table) nameOf(number int) (string, error) {
	var name [128]C.char
	if rc := C.gpu_name(t.c, C.int(number), &name[0]); rc != 0 {
		return "", status.New(status.BackendUnavailable, "GPU %d has no name: %s", number, t.explain(int(rc)))
	}
	return C.GoString(&name[0]), nil
}

// version returns the driver's, and its file.
func (t *table) version() string {
	number, of := int(C.gpu_version(t.c)), t.api.Version
	return fmt.Sprintf("%s, %s %d.%d, in %s", t.api.Driver, of.Name, number/of.Major, number%of.Major/of.Minor, t.library.Path())
}

// address is one in the memory of a device.
type address = C.gpu_address

// driven is a device as the driver knows it.
type driven struct {
	*table
	c *C.gpu_device
}

// open begins to use a device.
func (t *table) open(number int) (driven, error) {
	d := driven{t, (*C.gpu_device)(C.calloc(1, C.sizeof_gpu_device))}
	if rc := C.gpu_open(t.c, C.int(number), d.c); rc != 0 {
		C.free(unsafe.Pointer(d.c))
		return driven{}, status.New(status.BackendUnavailable, "GPU %d cannot be used: %s", number, t.explain(int(rc)))
	}
	if err := checkChip(d.architecture()); err != nil {
		name := d.name()
		C.free(unsafe.Pointer(d.c))
		return driven{}, status.New(status.BackendUnavailable, "GPU %d (%s) cannot be used: %w", number, name, err)
	}
	return d, nil
}

// check makes an error of what a call returned.
func (d driven) check(what string, result C.int) error {
	if result == 0 {
		return nil
	}
	after := ""
	if lasts(int(result)) {
		after = "; a kernel that was queued before has failed, of DTL or of another library, and this process can use the GPU no more"
	}
	return status.New(status.Backend, "GPU %d: %s failed: %s%s", int(d.c.number), what, d.explain(int(result)), after)
}

// lasts reports whether a driver returns an error of a kernel from every later call, too: an illegal address, a time limit, an assertion,
// and those from a stack that overflowed to a failure of no known reason.
func lasts(result int) bool {
	return result == 700 || result == 702 || result == 710 || result >= 714 && result <= 719
}

// ended checks the result of a call that gives something back, as check does, and ignores that the driver has ended already, as it may have at the end of the process.
func (d driven) ended(what string, result C.int) error {
	if result == deinitialized {
		return nil
	}
	return d.check(what, result)
}

func (d driven) uuid() [16]byte { return *(*[16]byte)(unsafe.Pointer(&d.c.uuid)) }

func (d driven) name() string { return C.GoString(&d.c.name[0]) }

// architecture returns what code the device runs; "" where the driver compiles.
func (d driven) architecture() string { return C.GoString(&d.c.architecture[0]) }

func (d driven) hasManaged() bool { return d.c.managed != 0 }

// sharesManaged reports whether the host may touch managed memory while the device works.
func (d driven) sharesManaged() bool { return d.c.concurrent != 0 }

// info returns how many bytes of the device's memory are free, and how many it has.
func (d driven) info() (left, total int64, err error) {
	var l, t C.size_t
	err = d.check("asking for its memory", C.gpu_memory_info(d.c, &l, &t))
	return int64(l), int64(t), err
}

// alloc returns memory, or says that there is not enough.
func (d driven) alloc(size int, managed bool) (at unsafe.Pointer, full bool, err error) {
	var a address
	kind := C.int(0)
	if managed {
		kind = 1
	}
	rc := C.gpu_alloc(d.c, C.size_t(size), kind, &a)
	if rc == outOfMemory {
		return nil, true, nil
	}
	if err = d.check("allocating", rc); err != nil {
		if a != 0 { // what failed came after it
			C.gpu_release(d.c, a)
		}
		return nil, false, err
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&a)), false, nil // it is not Go's, and never followed where it is a device's
}

func (d driven) release(at unsafe.Pointer) error {
	return d.ended("freeing", C.gpu_release(d.c, address(uintptr(at))))
}

// pin returns memory of the host that the device copies from and to by itself.
func (d driven) pin(size int) (at unsafe.Pointer, err error) {
	rc := C.gpu_host_alloc(d.c, C.size_t(size), &at)
	if rc == outOfMemory {
		return nil, status.New(status.OutOfMemory, "%d bytes cannot be pinned for GPU %d", size, int(d.c.number))
	}
	if err = d.check("pinning memory", rc); err != nil && at != nil {
		C.gpu_host_release(d.c, at)
		at = nil
	}
	return at, err
}

func (d driven) unpin(at unsafe.Pointer) error {
	return d.ended("unpinning memory", C.gpu_host_release(d.c, at))
}

// synchronize waits for all that any library has queued on the device.
func (d driven) synchronize() error { return d.check("waiting for its work", C.gpu_synchronize(d.c)) }

// stream is a driver's stream, and event one of its events. They are no pointers for Go: what others made may be small numbers.
type (
	stream uintptr
	event  uintptr
)

func (d driven) newStream() (stream, error) {
	var s C.gpu_stream
	err := d.check("making a stream", C.gpu_stream_create(d.c, &s))
	return stream(s), err
}

func (d driven) wait(s stream) error {
	return d.check("waiting for a stream", C.gpu_stream_synchronize(d.c, C.gpu_stream(s)))
}

// done reports whether all is done that is queued on a stream.
func (d driven) done(s stream) (bool, error) {
	rc := C.gpu_stream_query(d.c, C.gpu_stream(s))
	if rc == notReady {
		return false, nil
	}
	return rc == 0, d.check("asking about a stream", rc)
}

// within calls f in a thread of the system on which the device is current.
func (d driven) within(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var outer C.int
	if rc := C.gpu_enter(d.c, &outer); rc != 0 {
		return d.check("making it current", rc)
	}
	err := f()
	return cmp.Or(err, d.ended("making another one current", C.gpu_leave(d.c, outer, 0)))
}

// current returns what does so in C.
func (d driven) current() backend.Current {
	return backend.Current{Device: unsafe.Pointer(d.c), Enter: C.gpu_enter, Leave: C.gpu_leave}
}

func (d driven) newEvent() (event, error) {
	var e C.gpu_event
	err := d.check("making an event", C.gpu_event_create(d.c, &e))
	if err != nil && e != 0 { // what failed came after it
		_ = d.dropEvent(event(e))
		e = 0
	}
	return event(e), err
}

func (d driven) dropEvent(e event) error {
	return d.ended("giving an event back", C.gpu_event_destroy(d.c, C.gpu_event(e)))
}

// eventDone reports whether a device has come to an event.
func (d driven) eventDone(e event) (bool, error) {
	rc := C.gpu_event_query(d.c, C.gpu_event(e))
	if rc == notReady {
		return false, nil
	}
	return rc == 0, d.check("asking about an event", rc)
}

// recordsAll reports whether the driver can have an event come after what is queued on all streams.
func (d driven) recordsAll() bool { return C.gpu_records_all(d.c) != 0 }

// record has an event come after what is queued on a stream by now; on every stream, whoever made it, instead of anyStream.
func (d driven) record(e event, s stream) error {
	if s == anyStream {
		return d.check("recording an event of all streams", C.gpu_event_record_all(d.c, C.gpu_event(e)))
	}
	return d.check("recording an event", C.gpu_event_record(d.c, C.gpu_event(e), C.gpu_stream(s)))
}

func (d driven) waitEvent(e event) error {
	return d.check("waiting for an event", C.gpu_event_synchronize(d.c, C.gpu_event(e)))
}

// copy queues a copy, and the recording of an event after it unless that is 0.
func (d driven) copy(s stream, to, from unsafe.Pointer, n int, then event) error {
	return d.check("copying", C.gpu_copy(d.c, C.gpu_stream(s), address(uintptr(to)), address(uintptr(from)), C.size_t(n),
		C.gpu_event(then)))
}

// fill queues n items of 1, 2 or 4 bytes.
func (d driven) fill(s stream, to unsafe.Pointer, value uint32, item, n int) error {
	return d.check("filling", C.gpu_fill(d.c, C.gpu_stream(s), address(uintptr(to)), C.uint(value), C.int(item), C.size_t(n)))
}

// invalidValue is the driver's error of an argument that it does not know.
const invalidValue = 1

// locate returns which device the memory at an address belongs to, and whether it is managed.
func (d driven) locate(at uintptr) (number int, managed bool, err error) {
	var n, is C.int
	rc := C.gpu_locate(d.c, address(at), &n, &is)
	if rc == invalidValue || rc == 0 && n < 0 {
		return 0, false, status.New(status.InvalidArgument, "address %#x is in no memory of a GPU", at)
	}
	return int(n), is != 0, d.check("asking where memory is", rc)
}

// lends returns nil if the driver has what lend and borrow call.
func (t *table) lends() error {
	if C.gpu_lends(t.c) == 0 {
		names := t.api.symbols()[C.gpu_required():][:2] // lend and borrow
		return status.New(status.Unsupported, "%s lacks %s", t.api.Driver, strings.Join(names, " or "))
	}
	return nil
}

// lend returns what another process of the machine needs to reach memory that begins at an address.
func (d driven) lend(at unsafe.Pointer) ([]byte, error) {
	if err := d.lends(); err != nil {
		return nil, err
	}
	var key C.gpu_key
	if err := d.check("lending memory to other processes", C.gpu_lend(d.c, address(uintptr(at)), &key)); err != nil {
		return nil, err
	}
	return C.GoBytes(unsafe.Pointer(&key), C.int(unsafe.Sizeof(key))), nil
}

// borrow returns where the device finds memory that another process lends.
func (d driven) borrow(key []byte) (unsafe.Pointer, error) {
	var a address
	given := *(*C.gpu_key)(unsafe.Pointer(&key[0]))
	err := d.check("reaching another process's memory", C.gpu_borrow(d.c, &given, &a))
	return *(*unsafe.Pointer)(unsafe.Pointer(&a)), err
}

// order makes one stream wait: what is queued on after from now on runs when all is done that before has by now.
func (d driven) order(before, after stream) error {
	return d.check("ordering streams", C.gpu_order(d.c, C.gpu_stream(before), C.gpu_stream(after)))
}

// load loads kernels: a text that ends in a zero, or a code object, of which HIP keeps the address.
func (d driven) load(image []byte) (module uintptr, err error) {
	at := unsafe.Pointer(&image[0])
	if d.architecture() != "" {
		at = C.CBytes(image) // it is never freed, as the module is not
	}
	var m C.uintptr_t
	rc := C.gpu_load(d.c, at, &m)
	if (rc == noBinary || rc == newerText) && d.architecture() == "" {
		return 0, status.New(status.BackendUnavailable, "GPU %d (%s) does not run DTL's kernels: %s; they need compute capability 7.0 "+
			"and a driver of CUDA 10.1, or later ones", int(d.c.number), d.name(), d.explain(int(rc)))
	}
	return uintptr(m), d.check("loading kernels", rc)
}

// function returns a kernel of a module, and whether there is one of the name.
func (d driven) function(module uintptr, name string) (function uintptr, known bool, err error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	var f C.uintptr_t
	rc := C.gpu_function(d.c, C.uintptr_t(module), c, &f)
	if rc == notFound {
		return 0, false, nil
	}
	return uintptr(f), true, d.check("looking for a kernel", rc)
}

// launch queues a kernel, whose argument is a structure of words.
func (d driven) launch(s stream, function uintptr, blocks, threads int, words []uint64) error {
	return d.check("starting a kernel", C.gpu_launch(d.c, C.gpu_stream(s), C.uintptr_t(function), C.uint(blocks), C.uint(threads),
		unsafe.Pointer(&words[0])))
}
