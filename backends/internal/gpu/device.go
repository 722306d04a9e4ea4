package gpu

import (
	"cmp"
	"sync"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// device is a GPU that this process uses, until it ends: its primary context belongs to every library of the process.
type device struct {
	driven
	beside  func() []*device // those of the process that are in use
	number  int
	own     *space
	managed *space
	stage   stage
	kernels kernels

	mu      sync.Mutex
	streams []stream // that nobody has
}

var _ backend.Device = (*device)(nil)

func newDevice(n int, d driven, beside func() []*device) *device {
	made := &device{driven: d, number: n, beside: beside}
	made.own = newSpace(made, memory.OnDevice(n))
	made.managed = newSpace(made, memory.ManagedBy(n))
	made.stage.on = d
	return made
}

// Backend returns the name of the vendor's backend.
func (d *device) Backend() string { return d.api.Name }

// Number returns the device's number.
func (d *device) Number() int { return d.number }

// Name returns what the vendor calls it.
func (d *device) Name() string { return d.name() }

// UUID returns what tells it apart from every other one.
func (d *device) UUID() [16]byte { return d.uuid() }

// Memory returns the device's own memory.
func (d *device) Memory() backend.DeviceSpace { return d.own }

// Managed returns memory that the host reaches, too, or says that the device has none.
func (d *device) Managed() (backend.DeviceSpace, error) {
	if !d.hasManaged() {
		return nil, status.New(status.BackendUnavailable, "GPU %d (%s) has no managed memory", d.number, d.Name())
	}
	return d.managed, nil
}

// Order makes one stream wait: what is queued on after from now on runs when all is done that before has by now.
func (d *device) Order(before, after uintptr) error { return d.order(stream(before), stream(after)) }

// Within calls f with the device current, as libraries find it.
func (d *device) Within(f func() error) error { return d.within(f) }

// Current returns the functions with which C makes the device current, as Within does.
func (d *device) Current() backend.Current { return d.current() }

// Synchronize returns when all is done that this process has queued on the device.
func (d *device) Synchronize() error { return d.synchronize() }

// Locate returns which device memory belongs to, and whether it is managed.
func (d *device) Locate(at uintptr) (number int, managed bool, err error) { return d.locate(at) }

// Lend returns what another process of the machine needs to reach a block of this device's memory, from its first byte on.
func (d *device) Lend(at unsafe.Pointer) ([]byte, error) { return d.own.lend(at) }

// Borrow returns where this device finds memory that another process lends, for as long as this one lives.
func (d *device) Borrow(key []byte) (unsafe.Pointer, error) { return d.borrow(key) }

// Settle returns when the host may touch managed memory. A device that cannot share it while it works has all of it to itself then,
// whichever device it was allocated for.
func (d *device) Settle() error {
	err := d.synchronize()
	if d.sharesManaged() {
		return err
	}
	for _, other := range d.beside() {
		if other != d && !other.sharesManaged() {
			err = cmp.Or(err, other.synchronize())
		}
	}
	return err
}

// trim gives memory that is kept for later back to the driver.
func (d *device) trim() (int64, error) {
	freed, err := d.own.trim()
	more, failed := d.managed.trim()
	return freed + more, cmp.Or(err, failed, d.stage.trim())
}

// NewQueue returns a queue over a stream that nobody else uses, or a new one.
func (d *device) NewQueue() (backend.Queue, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := len(d.streams) - 1; last >= 0 {
		s := d.streams[last]
		d.streams = d.streams[:last]
		return newQueue(d, s), nil
	}
	s, err := d.newStream()
	if err != nil {
		return nil, err
	}
	return newQueue(d, s), nil
}

// put keeps a stream for the next queue. A stream is never destroyed: containers of a context that was closed go on with its
// queue, which costs the one that has the stream next nothing but an order that it did not ask for.
func (d *device) put(s stream) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams = append(d.streams, s)
}
