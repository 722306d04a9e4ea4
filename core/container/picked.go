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

// newPicked finds the places. The caller calls done.
func newPicked(of, places, mask Container) (x *picked, err error) {
	x = &picked{unit: 1}
	if x.masked, err = newMasked(places, mask); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			x.done()
		}
	}()
	if x.part.typ != dtype.Int64 || !x.part.sideBySide() {
		return nil, status.New(status.InvalidType, "places of %s; they must be int64, side by side", x.part.typ)
	}
	if x.other, err = of.Look(); err != nil {
		return nil, err
	}
	if err = x.part.sameDevice(x.other.state); err != nil {
		return nil, err
	}
	if err = x.part.before(x.other.state); err != nil {
		return nil, err
	}
	if x.at, err = x.part.home.blank(8 * x.count); err != nil {
		return nil, err
	}
	return x, x.part.home.queue.Take(x.chosen(), x.part.span(), x.places())
}

// chosen are the places on the device.
func (x *picked) chosen() memory.Span {
	return memory.Span{Addr: x.at.Addr(), Count: x.count, Type: dtype.Int64, Place: x.at.Place()}
}

func (x *picked) done() {
	if x.at != nil {
		x.at.Release()
	}
	if x.other.state != nil {
		_ = x.part.after(x.other.state) // what failed before is the error to report
		x.other.Done()
	}
	x.masked.done()
}

// TakeWhere writes to this rank's part of a container on a device, where a mask beside it is true, the elements of another part there whose
// places in C order a third part has, or its rows, of which there is room for one a place. The caller has checked the places. Local.
func TakeWhere(to, from, places, mask Container) error {
	x, err := newPicked(from, places, mask)
	if err != nil {
		return err
	}
	defer x.done()
	return x.beside(to, x.other.typ, true, func(out *state, values memory.Span) error {
		err := x.other.flat(false, func(from *state) error {
			return x.part.home.queue.Take(values, from.span(), x.of(x.chosen()))
		})
		if err != nil {
			return err
		}
		return x.part.home.queue.Put(out.span(), values, x.of(x.places().At))
	})
}

// PutAt writes to this rank's part of a container on a device, at places in C order that another part there has, where a mask beside that is
// true, the elements of a third part, or its rows, if it has one a place. The caller has checked the places. Of a place that occurs twice,
// one of the elements stays, if they have no more than eight bytes. Local.
func PutAt(to, values, places, mask Container) error {
	x, err := newPicked(to, places, mask)
	if err != nil {
		return err
	}
	defer x.done()
	return x.beside(values, x.other.typ, false, func(given *state, some memory.Span) error {
		if err := x.part.home.queue.Take(some, given.span(), x.of(x.places().At)); err != nil {
			return err
		}
		return x.other.flat(true, func(to *state) error {
			return x.part.home.queue.Put(to.span(), some, x.of(x.chosen()))
		})
	})
}

// size returns the bytes that are taken from a place or put there.
func (x *picked) size() int { return x.unit * x.other.typ.Size() }

// of returns the places of elements that are taken or put.
func (x *picked) of(at memory.Span) backend.Places {
	return backend.Places{At: at, Size: x.size(), Scale: x.size()}
}

// beside calls f with a part that has an element, or a row, for each place, and memory for those where the mask is true.
func (x *picked) beside(c Container, t dtype.Type, writes bool, f func(*state, memory.Span) error) error {
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
	if p.typ != t || product(p.shape) != all*int64(x.unit) {
		return status.New(status.InvalidArgument, "%d elements of %s beside %d places of elements of %s", product(p.shape), p.typ,
			all, t)
	}
	if err := x.part.before(p.state); err != nil || x.count*x.unit == 0 {
		return err
	}
	some, err := x.part.home.blank(x.count * x.size())
	if err != nil {
		return err
	}
	defer some.Release()
	values := memory.Span{Addr: some.Addr(), Count: x.count * x.unit, Type: t, Place: some.Place()}
	if err := p.flat(writes, func(flat *state) error { return f(flat, values) }); err != nil {
		return err
	}
	return x.part.after(p.state)
}
