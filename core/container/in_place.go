package container

import (
	"math"
	"unsafe"

	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel/move"
	"dtl/core/memory"
	"dtl/core/status"
)

// inPlace returns a container's part for calls that reach its elements by take and put alone, which leave them where they are.
func inPlace(c Container) (Part, error) {
	p, err := c.Look()
	if err != nil || p.Placement() == OnDevice {
		return p, err
	}
	return ofHost(p, err)
}

// take copies the elements at offsets in bytes to memory of the host, side by side, as move.Take does.
func (s *state) take(dst unsafe.Pointer, offsets []int64) error {
	size := s.typ.Size()
	if s.Placement() != OnDevice {
		move.Take(dst, s.addr, offsets, size)
		return nil
	}
	places := make([]int64, 0, len(offsets))
	for _, at := range offsets {
		if at >= 0 {
			places = append(places, at/int64(size))
		}
	}
	out := memory.Span{Addr: dst, Count: len(places), Type: s.typ}
	return s.home.queue.Take(out, s.span(), placesOf(places, size))
}

// gather copies the elements at offsets in bytes to memory of the host, each to its own place. That of a negative offset gets anything.
// There is one that is not negative.
func (s *state) gather(dst unsafe.Pointer, offsets []int64) error {
	size := s.typ.Size()
	if s.Placement() != OnDevice {
		s.eased(offsets, func(from, to int) { move.Gather(unsafe.Add(dst, from*size), s.addr, offsets[from:to], size) })
		return nil
	}
	packed, places := make([]byte, (len(offsets)+1)*size), make([]int64, 0, len(offsets))
	for i, at := range offsets {
		if at >= 0 {
			places = append(places, int64(i*size))
		}
	}
	err := s.take(unsafe.Pointer(&packed[0]), offsets)
	if err == nil {
		move.Put(dst, places, unsafe.Pointer(&packed[0]), size)
	}
	return err
}

// shareMapped is the part of the limit that elements side by side may take which a loop reaches in any order without a look.
const shareMapped = 64

// eased calls f with ranges of offsets, and lets pages be given back between them where elements are on disk and memory is limited: the system
// maps some pages around each element that is far from the one before it, and of a large folio in its cache 2 MiB.
func (s *state) eased(offsets []int64, f func(from, to int)) {
	if s.Placement() != OnDisk || memory.Limit() == 0 || reach(offsets) <= max(memory.Piece, memory.Limit()/shareMapped) {
		f(0, len(offsets))
		return
	}
	const most, page = 8, 4 << 10 // how many elements that are far, and from how many bytes on
	start, far, last := 0, 0, int64(0)
	for i, at := range offsets {
		if at < 0 {
			continue
		}
		if apart := at - last; apart > page || apart < -page {
			far++
		}
		last = at
		if far == most {
			f(start, i+1)
			memory.Ease()
			start, far = i+1, 0
		}
	}
	if start < len(offsets) {
		f(start, len(offsets))
	}
}

// reach returns how many bytes lie between the first and the last of the offsets that are not negative.
func reach(offsets []int64) int64 {
	least, most := int64(math.MaxInt64), int64(0)
	for _, at := range offsets {
		least, most = min(least, at&math.MaxInt64), max(most, at)
	}
	return most - least
}

// put copies elements, which lie side by side on the host, to offsets in bytes, as move.Put does.
func (s *state) put(offsets []int64, src unsafe.Pointer) error {
	size := s.typ.Size()
	if s.Placement() != OnDevice {
		s.eased(offsets, func(from, to int) { move.Put(s.addr, offsets[from:to], unsafe.Add(src, from*size), size) })
		return nil
	}
	places, from := lastOfEach(offsets, size)
	packed := make([]byte, (len(places)+1)*size)
	move.Take(unsafe.Pointer(&packed[0]), src, from, size)
	values := memory.Span{Addr: unsafe.Pointer(&packed[0]), Count: len(places), Type: s.typ}
	return s.home.queue.Put(s.span(), values, placesOf(places, size))
}

// putOne copies one element to offsets in bytes.
func (s *state) putOne(offsets []int64, src unsafe.Pointer) error {
	size := s.typ.Size()
	if s.Placement() != OnDevice {
		for i := range offsets {
			move.Put(s.addr, offsets[i:i+1], src, size)
		}
		return nil
	}
	places, _ := lastOfEach(offsets, size)
	return s.home.queue.Put(s.span(), memory.Span{Addr: src, Count: 1, Type: s.typ}, placesOf(places, size))
}

func placesOf(places []int64, size int) backend.Places {
	return backend.Places{At: memory.Of(dtype.Int64, places), Size: size, Scale: size}
}

// settled ends a call whose elements a device has moved: what failed on one rank is an error on every rank. Elsewhere nothing can have
// failed. Collective.
func (s *state) settled(c *comm.Comm, op string, failed error) error {
	if s.Placement() != OnDevice {
		return nil
	}
	call := comm.Call{Op: op, Text: func() string { return "its end" }}
	return c.Agree(executed(s.Named(call)), failed)
}

// lastOfEach returns the places that offsets stand for, each once, and for each where the last value for it lies: threads of a device
// write in no order. Negative offsets are left out.
func lastOfEach(offsets []int64, size int) (places, from []int64) {
	places, from = make([]int64, 0, len(offsets)), make([]int64, 0, len(offsets))
	ascending := true
	for i, at := range offsets {
		if at < 0 {
			continue
		}
		place := at / int64(size)
		ascending = ascending && (len(places) == 0 || place > places[len(places)-1])
		places, from = append(places, place), append(from, int64(i*size))
	}
	if ascending {
		return places, from
	}
	last := make(map[int64]int, len(places))
	for i, place := range places {
		last[place] = i
	}
	n := 0
	for i, place := range places {
		if last[place] == i {
			places[n], from[n] = place, from[i]
			n++
		}
	}
	return places[:n], from[:n]
}

// TakePart writes to this rank's part of a container the elements of another's on the same device, by their places in that part in C
// order, of which there is one for each element. Local.
func TakePart(to, from Container, places comm.Array) error {
	p, q, err := lookBoth(to, from)
	if err != nil {
		return err
	}
	defer p.Done()
	defer q.Done()
	if p.home.queue == nil {
		return p.notThere()
	}
	if err := p.sameDevice(q.state); err != nil {
		return err
	}
	if n := product(p.shape); p.typ != q.typ || int64(places.Count) != n {
		return status.New(status.InvalidArgument, "%d places of elements of %s for %d of %s", places.Count, q.typ, n, p.typ)
	}
	at, err := q.localPlaces(places)
	if err != nil {
		return err
	}
	return p.with(func() error {
		return p.flat(true, func(out *state) error { return p.home.queue.Take(out.span(), q.span(), placesOf(at, p.typ.Size())) })
	}, q.state)
}

// PutPart writes values, one or one a place, to this rank's part of a container on a device, by their places there in C order. Where a
// place occurs twice, the last value stays. Local.
func PutPart(to Container, places, values comm.Array) error {
	p, err := to.Look()
	if err != nil {
		return err
	}
	defer p.Done()
	if err := checkValues(values, p.typ, places.Count); err != nil {
		return err
	}
	at, err := p.localPlaces(places)
	if err != nil || len(at) == 0 {
		return err
	}
	for i := range at {
		at[i] *= int64(p.typ.Size())
	}
	if values.Count == 1 {
		return p.putOne(at, values.Addr)
	}
	return p.put(at, values.Addr)
}

// notThere is the error of a part that is not on a device.
func (s *state) notThere() error {
	return status.New(status.Unsupported, "the elements are %s, where this call does nothing", s.storage.Place())
}

// localPlaces returns places in a part in C order as how many elements from the first one they lie in memory.
func (s *state) localPlaces(places comm.Array) ([]int64, error) {
	if places.Type != dtype.Int64 {
		return nil, status.New(status.InvalidType, "places have dtype %s; they must be int64", places.Type)
	}
	n, size := product(s.shape), int64(s.typ.Size())
	at := append([]int64{}, memory.As[int64](places.Span)...)
	for i, place := range at {
		if place < 0 || place >= n {
			return nil, status.New(status.OutOfBounds, "place %d outside [0, %d)", place, n)
		}
		if s.sideBySide() {
			continue
		}
		at[i] = 0
		for d := len(s.shape) - 1; d >= 0; d-- {
			at[i] += place % s.shape[d] * s.strides[d] / size
			place /= s.shape[d]
		}
	}
	return at, nil
}

// Truths returns where this rank's part of a container of bool on a device is true, as an array there: places in C order, counted from
// base on. Local.
func Truths(of Container, base int64) (comm.Result, error) {
	p, err := of.Look()
	if err != nil {
		return comm.Result{}, err
	}
	defer p.Done()
	found, n, err := p.truths(base)
	if err != nil {
		return comm.Result{}, err
	}
	return p.made(found, dtype.Int64, []int64{int64(n)}), nil
}

func (s *state) truths(base int64) (found *memory.Storage, n int, err error) {
	if s.home.queue == nil {
		return nil, 0, s.notThere()
	}
	if s.typ != dtype.Bool {
		return nil, 0, status.New(status.InvalidType, "a container of %s is no mask", s.typ)
	}
	err = s.flat(false, func(flat *state) error {
		found, n, err = s.home.queue.Truths(flat.span(), base)
		return err
	})
	return found, n, err
}

// made returns what was made on the part's device as a result, which has it from then on.
func (s *state) made(storage *memory.Storage, t dtype.Type, shape []int64) comm.Result {
	span := memory.Span{Addr: storage.Addr(), Count: int(product(shape)), Type: t, Place: storage.Place()}
	return comm.Result{
		Array: comm.Array{Span: span, Shape: shape}, Strides: cOrder(shape, t.Size()), Storage: storage, Queue: s.home.queue,
	}
}

// masked is a part on a device, with where a mask beside it is true.
type masked struct {
	part, mask Part
	found      *memory.Storage
	count      int
	rest       []int64 // the extents of a row, which the mask chooses as a whole
	row        int     // its bytes
}

// masking calls f with a part and where a mask is true, and has the part's queue work on both.
func masking(of, mask Container, f func(*masked) error) (err error) {
	m := &masked{}
	if m.part, err = of.Look(); err != nil {
		return err
	}
	defer m.part.Done()
	if m.mask, err = mask.Look(); err != nil {
		return err
	}
	defer m.mask.Done()
	if m.part.home.queue == nil {
		return m.part.notThere()
	}
	if err = m.part.sameDevice(m.mask.state); err != nil {
		return err
	}
	m.rest = m.part.shape[min(len(m.mask.shape), len(m.part.shape)):]
	if product(m.mask.shape)*product(m.rest) != product(m.part.shape) {
		return status.New(status.InvalidArgument, "a mask of %s for elements of %s", tuple(m.mask.shape), tuple(m.part.shape))
	}
	m.row = int(product(m.rest)) * m.part.typ.Size()
	if m.found, m.count, err = m.mask.truths(0); err != nil {
		return err
	}
	defer m.found.Release()
	return m.part.with(func() error { return f(m) }, m.mask.state)
}

// places returns where the rows lie that the mask chooses.
func (m *masked) places() backend.Places {
	at := memory.Span{Addr: m.found.Addr(), Count: m.count, Type: dtype.Int64, Place: m.found.Place()}
	return backend.Places{At: at, Size: m.row, Scale: m.row}
}

// Choose returns the elements of this rank's part, or its rows, where that of a mask is true, as an array on the device that both are
// on. A mask of fewer dimensions has those of the rows. Local.
func Choose(of, mask Container) (made comm.Result, err error) {
	err = masking(of, mask, func(m *masked) error {
		out, err := m.part.home.blank(m.count * m.row)
		if err != nil {
			return err
		}
		made = m.part.made(out, m.part.typ, append([]int64{int64(m.count)}, m.rest...))
		return m.part.flat(false, func(from *state) error { return m.part.home.queue.Take(made.Span, from.span(), m.places()) })
	})
	if err != nil {
		if made.Storage != nil {
			made.Storage.Release()
		}
		return comm.Result{}, err
	}
	return made, nil
}

// PutWhere writes values to the elements of this rank's part on a device, or to its rows, where that of a mask on it is true: one
// element or row, which goes to all, or one for each. They are the host's, or, where from is not nil, those of its part on the
// device. Local.
func PutWhere(to, mask, from Container, values comm.Array) error {
	return masking(to, mask, func(m *masked) error {
		if from == nil {
			return m.put(values.Span)
		}
		q, err := from.Look()
		if err != nil {
			return err
		}
		defer q.Done()
		if err = m.part.sameDevice(q.state); err != nil {
			return err
		}
		return q.flat(false, func(given *state) error {
			return m.part.with(func() error { return m.put(given.span()) }, given)
		})
	})
}

// put writes values where the mask is true.
func (m *masked) put(given memory.Span) error {
	if m.count == 0 || m.row == 0 {
		return nil
	}
	if n := given.Bytes() / m.row; given.Type != m.part.typ || given.Bytes()%m.row != 0 || n != 1 && n != m.count {
		return status.New(status.InvalidArgument, "%d values of %s for the %d of %s that the mask selects", n, given.Type, m.count,
			m.part.typ)
	}
	return m.part.flat(true, func(to *state) error { return m.part.home.queue.Put(to.span(), given, m.places()) })
}
