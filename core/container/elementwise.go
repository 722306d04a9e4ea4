package container

import (
	"unsafe"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// Operand is one of an elementwise operator's: a container, or, where that is nil, the bits of a number for all elements. First and Every say
// which of its elements go with those of the result, along each dimension of the result that the container has more than one index of:
// from the first one on, every so many; nil where all do.
type Operand struct {
	Of           Container
	Number       [2]uint64
	First, Every []int64
}

// Elementwise has a device write to each element of this rank's part of a container what an operator of NumPy's, by its name,
// makes of the operands', which are on the same device and of one type; the third is a condition, of bool. This rank's part of an operand
// has the shape of the result's, or spreads to it as in NumPy. Local.
func Elementwise(operator string, t dtype.Type, to Container, operands [3]Operand) error {
	p, err := to.Look()
	if err != nil {
		return err
	}
	defer p.Done()
	if p.home.queue == nil || p.typ != kernel.Computed(operator, t) {
		return status.New(status.Unsupported, "elements of %s %s take no results of a GPU's operator on %s", p.typ, p.storage.Place(), t)
	}
	if (operator == kernel.Where) != (operands[2].Of != nil) {
		return status.New(status.Internal, "a condition belongs to %s, not to %s", kernel.Where, operator)
	}
	return p.flat(true, func(out *state) error {
		var given [3]backend.Operand
		var others []*state
		for i, o := range operands {
			if given[i].Number = o.Number; o.Of == nil {
				continue
			}
			from, done, err := out.operand(operator, o.Of, [...]dtype.Type{t, t, dtype.Bool}[i])
			if err != nil {
				return err
			}
			defer done()
			if given[i].Span, given[i].Steps, err = from.along(out.shape, o); err != nil {
				return err
			}
			others = append(others, from)
		}
		return out.with(func() error { return out.home.queue.Elementwise(operator, out.span(), t, out.shape, given) }, others...)
	})
}

// operand returns the part of a container that an operator takes beside this one, of a type; done lets it go. Kernels that convert know of
// no steps, so they get a copy of a part with gaps.
func (s *state) operand(operator string, of Container, want dtype.Type) (from *state, done func(), err error) {
	q, err := of.Look()
	if err != nil {
		return nil, nil, err
	}
	if err = s.sameDevice(q.state); err == nil && q.typ != want {
		err = status.New(status.Unsupported, "an operand of %s for %s", q.typ, want)
	}
	from, free := q.state, func() {}
	if err == nil && kernel.Converts(operator) {
		from, free, err = from.readable()
	}
	if err != nil {
		q.Done()
		return nil, nil, err
	}
	return from, func() { free(); q.Done() }, nil
}

// along returns where the elements of a part are that go with a result of a shape, and how many elements it is from one to the next along
// each of its dimensions; nil where they lie as the result's do.
func (s *state) along(shape []int64, o Operand) (memory.Span, []int64, error) {
	from, size, spread := s.span(), int64(s.typ.Size()), !s.sideBySide() || len(s.shape) != len(shape)
	steps, missing := make([]int64, len(shape)), len(shape)-len(s.shape)
	for d, extent := range shape {
		own := d - missing
		if own < 0 || s.shape[own] == 1 {
			spread = spread || extent != 1
			continue
		}
		first, every := int64(0), int64(1)
		if o.First != nil {
			first, every = o.First[d], o.Every[d]
		}
		if last := first + (extent-1)*every; extent > 0 && (first < 0 || every < 1 || last >= s.shape[own]) || o.First == nil && extent != s.shape[own] {
			return from, nil, status.New(status.Unsupported, "an operand of shape %v does not spread to %v", s.shape, shape)
		}
		steps[d] = every * s.strides[own] / size
		from.Addr = unsafe.Add(from.Addr, first*s.strides[own])
		spread = spread || extent != s.shape[own]
	}
	if missing < 0 {
		return from, nil, status.New(status.Unsupported, "an operand of shape %v does not spread to %v", s.shape, shape)
	}
	if from.Count = int(product(shape)); spread {
		return from, steps, nil
	}
	return from, nil, nil
}

// CheckBeside refuses a part that a device alone reaches beside one that is not there.
func (p Part) CheckBeside(q Part) error {
	if p.Placement() != q.Placement() && (p.Placement() == OnDevice || q.Placement() == OnDevice) {
		return status.New(status.Unsupported, "an operand is %s, the other %s; copy one of them first, with dtl.copy",
			q.storage.Place(), p.storage.Place())
	}
	return nil
}

// Fold has a device make partials of the elements, or of two parts', which are alike: see backend.Queue. Local.
func (p Part) Fold(r backend.Reduction, with *Part) (found [][4]int64, err error) {
	if with == nil {
		return p.home.queue.Fold(r, p.span(), memory.Span{})
	}
	if err = p.beside(with.state, p.typ); err != nil {
		return nil, err
	}
	err = p.with(func() error {
		found, err = p.home.queue.Fold(r, p.span(), with.span())
		return err
	}, with.state)
	return found, err
}

// Scan has a device combine pieces of the elements: see backend.Queue. Local.
func (p Part) Scan(how backend.Scan) (backend.Scanned, error) {
	return p.home.queue.Scan(how, p.span())
}

// WriteScan has the part take the results of a scan of another one. Local.
func (p Part) WriteScan(from Part, s backend.Scanned, before [][2]int64) error {
	if err := p.beside(from.state, from.typ); err != nil {
		return err
	}
	return from.with(func() error { return s.Write(p.span(), before) }, p.state)
}

// Sort has a device sort the elements: see backend.Queue. Local.
func (p Part) Sort(keys radix.Keys) error { return p.home.queue.Sort(p.span(), keys) }

// Argsort has a device write the indices that sort another part's elements. Local.
func (p Part) Argsort(of Part, keys radix.Keys) error {
	if err := p.beside(of.state, of.typ); err != nil {
		return err
	}
	return p.with(func() error { return p.home.queue.Argsort(p.span(), of.span(), keys) }, of.state)
}

// Search has a device find where keys belong among the elements, which are sorted: see backend.Queue. Local.
func (p Part) Search(counts []int64, wanted []uint64, keys radix.Keys) error {
	return p.home.queue.Search(counts, wanted, p.span(), keys)
}

// Take has a device write the elements of another part at places, which a third one has, one for each. Local.
func (p Part) Take(from, places Part) error {
	if err := p.beside(places.state, dtype.Int64); err != nil {
		return err
	}
	if err := p.sameDevice(from.state); err != nil {
		return err
	}
	size := p.typ.Size()
	return p.with(func() error {
		return p.home.queue.Take(p.span(), from.span(), backend.Places{At: places.span(), Size: size, Scale: size})
	}, from.state, places.state)
}

// ReadAt has a device copy the elements at places to memory of the host, side by side. Local.
func (p Part) ReadAt(into memory.Span, places []int64) error {
	return p.home.queue.Take(into, p.span(), placesOf(places, p.typ.Size()))
}

// Add has a device add a number to each element, of int64. Local.
func (p Part) Add(number int64) error {
	given := [3]backend.Operand{{Span: p.span()}, {Number: [2]uint64{uint64(number)}}}
	return p.home.queue.Elementwise("add", p.span(), dtype.Int64, nil, given)
}

// Elements returns some of the elements, which are side by side, for Copy.
func (p Part) Elements(from, to int) memory.Span { return p.span().Slice(from, to) }

// Copy has a device copy elements of a part there to those of another one, or of the host, or the other way. Local.
func (p Part) Copy(to, from memory.Span) error {
	if from.Count == 0 {
		return nil
	}
	return p.home.queue.Copy(to, from)
}

// Bins has a device count the elements between edges: see backend.Queue. Local.
func (p Part) Bins(counts []int64, edges []float64) error {
	return p.home.queue.Bins(counts, p.span(), edges)
}

// Values has a device count the elements of each value: see backend.Queue. Local.
func (p Part) Values(counts []int64) error { return p.home.queue.Values(counts, p.span()) }

// beside refuses an operand that no kernel takes beside the part.
func (s *state) beside(q *state, t dtype.Type) error {
	if err := s.sameDevice(q); err != nil {
		return err
	}
	if q.typ != t || product(q.shape) != product(s.shape) || !q.sideBySide() {
		return status.New(status.Unsupported, "an operand of %d elements of %s for %d of %s, side by side", product(q.shape), q.typ,
			product(s.shape), t)
	}
	return nil
}

// sameDevice refuses an operand that is not on the part's device.
func (s *state) sameDevice(q *state) error {
	if q.home.queue == nil || q.home.queue.Device() != s.home.queue.Device() {
		return status.New(status.Unsupported, "an operand is %s, the other %s; copy one of them first, with dtl.copy",
			q.storage.Place(), s.storage.Place())
	}
	return nil
}

// with calls f, which has the part's queue work on the memory of other parts, too.
func (s *state) with(f func() error, others ...*state) error {
	queues := make([]backend.Queue, len(others))
	for i, other := range others {
		queues[i] = other.home.queue
	}
	return backend.InOrder(s.home.queue, queues, f)
}
