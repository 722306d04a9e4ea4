package gpu

import (
	"slices"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/memory"
	"dtl/core/status"
)

// queue is a stream of a device.
type queue struct {
	on     *device
	stream stream
	own    ordered
}

var _ backend.Queue = (*queue)(nil)

func newQueue(on *device, s stream) *queue {
	q := &queue{on: on, stream: s}
	q.own = ordered{on.own, q}
	return q
}

// Device returns the one that does the work.
func (q *queue) Device() backend.Device { return q.on }

// Memory returns the device's own memory, for what this queue alone works on.
func (q *queue) Memory() backend.DeviceSpace { return &q.own }

// Stream returns the driver's number of it.
func (q *queue) Stream() uintptr { return uintptr(q.stream) }

// Synchronize returns when all is done that is queued.
func (q *queue) Synchronize() error { return q.on.wait(q.stream) }

// Done reports whether all is done that is queued. It does not wait.
func (q *queue) Done() (bool, error) { return q.on.done(q.stream) }

// Close lets others have the stream.
func (q *queue) Close() { q.on.put(q.stream) }

// Copy copies as many bytes as src has.
func (q *queue) Copy(dst, src memory.Span) error {
	n := src.Bytes()
	if dst.Bytes() < n {
		return status.New(status.Internal, "%d bytes are copied to %d", n, dst.Bytes())
	}
	switch {
	case n == 0:
		return nil
	case dst.Place == memory.Host && src.Place == memory.Host:
		memory.Copy(dst, src)
		return nil
	case src.Place == memory.Host:
		return q.on.stage.upload(q.stream, dst.Addr, src.Addr, n)
	case dst.Place == memory.Host:
		return q.on.stage.download(q.stream, dst.Addr, src.Addr, n)
	}
	return q.on.copy(q.stream, dst.Addr, src.Addr, n, 0)
}

// seed is how many bytes of a pattern come from the host; the device copies them to the rest.
const seed = 64 << 10

// Fill gives every element the value at element. The driver fills with 1, 2 or 4 bytes; where no such number of bytes repeats,
// the device copies what is filled already, twice as much each time.
func (q *queue) Fill(dst memory.Span, element []byte) error {
	n, period := dst.Bytes(), period(element)
	if n == 0 {
		return nil
	}
	if period <= 4 && period != 3 {
		value := uint32(0)
		for i, b := range element[:period] {
			value |= uint32(b) << (8 * i)
		}
		return q.on.fill(q.stream, dst.Addr, value, period, n/period)
	}
	done := min(n, seed/period*period)
	pattern := slices.Repeat(element[:period], done/period)
	if err := q.on.stage.upload(q.stream, dst.Addr, unsafe.Pointer(&pattern[0]), done); err != nil {
		return err
	}
	for done < n {
		more := min(done, n-done)
		if err := q.on.copy(q.stream, unsafe.Add(dst.Addr, done), dst.Addr, more, 0); err != nil {
			return err
		}
		done += more
	}
	return nil
}

// period returns the least power of two of bytes of which an element is a whole number of copies, or else its length.
func period(element []byte) int {
	for p := 1; p < len(element) && len(element)%p == 0; p *= 2 {
		if slices.Equal(element[p:], element[:len(element)-p]) {
			return p
		}
	}
	return len(element)
}
