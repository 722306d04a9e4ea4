package container

import (
	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/status"
)

// picked are the elements, or rows, of a part on a device of which another part there has the places, where a mask beside those is true.
type picked struct {
	*masked // the part that has the places, as its rows
	other   Part
	at      *memory.Storage
	unit    int // the elements that go to a place: one, or a row's
}

// picking calls f with a part and the places, and has the queue of these work on both.
func picking(of, places, mask Container, f func(*picked) error) error {
	return masking(places, mask, func(m *masked) (err error) {
		x := &picked{masked: m, unit: 1}
		if x.part.typ != dtype.Int64 || !x.part.sideBySide() {
			return status.New(status.InvalidType, "places of %s; they must be int64, side by side", x.part.typ)
		}
		if x.other, err = of.Look(); err != nil {
			return err
		}
		defer x.other.Done()
		if err = x.part.sameDevice(x.other.state); err != nil {
			return err
		}
		if x.at, err = x.part.home.blank(8 * x.count); err != nil {
			return err
		}
		defer x.at.Release()
		if err = x.part.home.queue.Take(x.chosen(), x.part.span(), x.places()); err != nil {
			return err
		}
		return f(x)
	})
}

// chosen are the places on the device.
func (x *picked) chosen() memory.Span {
	return memory.Span{Addr: x.at.Addr(), Count: x.count, Type: dtype.Int64, Place: x.at.Place()}
}

// TakeWhere writes to this rank's part of a container on a device, where a mask beside it is true, the elements of another part there whose
// places in C order a third part has, or its rows, of which there is room for one a place. The caller has checked the places. Local.
func TakeWhere(to, from, places, mask Container) error {
	return picking(from, places, mask, func(x *picked) error {
		return x.beside(to, true, false, func(out, from memory.Span, values memory.Span) error {
			if err := x.part.home.queue.Take(values, from, x.of(x.chosen())); err != nil {
				return err
			}
			return x.part.home.queue.Put(out, values, x.of(x.places().At))
		})
	})
}

// PutAt writes to this rank's part of a container on a device, at places in C order that another part there has, where a mask beside that is
// true, the elements of a third part, or its rows, if it has one a place. The caller has checked the places. Of a place that occurs twice,
// one of the elements, or rows, stays, if they have 1, 2, 4 or 8 bytes. Local.
func PutAt(to, values, places, mask Container) error {
	return picking(to, places, mask, func(x *picked) error {
		return x.beside(values, false, true, func(given, to memory.Span, some memory.Span) error {
			if err := x.part.home.queue.Take(some, given, x.of(x.places().At)); err != nil {
				return err
			}
			return x.part.home.queue.Put(to, some, x.of(x.chosen()))
		})
	})
}

// size returns the bytes that are taken from a place or put there.
func (x *picked) size() int { return x.unit * x.other.typ.Size() }

// of returns the places of elements that are taken or put.
func (x *picked) of(at memory.Span) backend.Places {
	return backend.Places{At: at, Size: x.size(), Scale: x.size()}
}

// beside calls f with the elements of a part that has one, or a row, for each place, those of the picked part, and memory for those where
// the mask is true. It is said which of both f writes.
func (x *picked) beside(c Container, writes, writesOther bool, f func(beside, other, values memory.Span) error) error {
	p, err := c.Look()
	if err != nil {
		return err
	}
	defer p.Done()
	if err := x.part.sameDevice(p.state); err != nil {
		return err
	}
	all, row := product(x.part.shape), product(x.other.shape[1:])
	if product(p.shape) == all*row {
		x.unit = int(row)
	}
	if t := x.other.typ; p.typ != t || product(p.shape) != all*int64(x.unit) {
		return status.New(status.InvalidArgument, "%d elements of %s beside %d places of elements of %s", product(p.shape), p.typ,
			all, t)
	}
	if x.count*x.unit == 0 {
		return nil
	}
	some, err := x.part.home.blank(x.count * x.size())
	if err != nil {
		return err
	}
	defer some.Release()
	values := memory.Span{Addr: some.Addr(), Count: x.count * x.unit, Type: p.typ, Place: some.Place()}
	return p.flat(writes, func(beside *state) error {
		return x.other.flat(writesOther, func(other *state) error {
			return x.part.with(func() error { return f(beside.span(), other.span(), values) }, beside, other)
		})
	})
}
