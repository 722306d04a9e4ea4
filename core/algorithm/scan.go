package algorithm

import (
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/kernel/radix"
	"dtl/core/kernel/scan"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/status"
)

var scanNames = [...]string{kernel.Sum: "cumsum", kernel.Prod: "cumprod", kernel.Min: "cummin", kernel.Max: "cummax"}

// Scan returns a container that is divided as c is, of one dimension, and has for each element the combination of it and
// all before it, in the order of the global index; if exclusive, of all before it, and the operator's identity for the
// first. Operators are SUM, PROD, MIN and MAX. Collective: the agreement carries what each rank's part comes to, so a
// part is read twice and written once. Where the ranks do not hold one range each, all elements are moved, twice.
func Scan(c container.Container, op kernel.Op, exclusive bool) (*container.Array, error) {
	if op > kernel.Max {
		op = kernel.Max + 1 // which no type has
	}
	name := append(scanNames[:], "scan")[op]
	part, err := container.OnItsDevice(c).Use()
	if err != nil || inOrder(part.Layout(), c.Context().Size()) {
		if err == nil {
			defer part.Done() // it stays until the scan is over
		}
		s := scanning{name: name, op: op, exclusive: exclusive}
		return s.run(c)
	}
	spec := container.Spec{Family: "vector", Shape: part.Layout().Shape(), Type: part.Type()}
	part.Done()
	if _, err := scan.Of(spec.Type, op); err != nil {
		return nil, status.In(name, refuse(c, name, err))
	}
	return byBlocks(c, spec, func(blocks container.Container) (*container.Array, error) {
		s := scanning{name: name, op: op, exclusive: exclusive}
		return s.run(blocks)
	})
}

// refuse tells the other ranks why this one does not go on, if it does not.
func refuse(c container.Container, op string, why error) error {
	over, err := c.Context().Comm()
	if err != nil {
		return err
	}
	return over.Agree(comm.Call{Op: op}, why)
}

// inOrder reports whether each rank has one range of the index, in rank order, or all of it.
func inOrder(l partition.Layout, ranks int) bool {
	return l.Dims() > 1 || ranks == 1 || l.Replicated() || ranged(l)
}

// byBlocks calls f with a copy of a container that is divided by blocks, and returns its result divided as the container.
func byBlocks(
	c container.Container, spec container.Spec, f func(container.Container) (*container.Array, error),
) (result *container.Array, err error) {
	blocks, err := container.Like(c.Context(), spec)
	if err != nil {
		return nil, refuse(c, "scan", err)
	}
	defer func() { _ = blocks.Close() }() // it never fails
	if err := moveAll(blocks, c); err != nil {
		return nil, err
	}
	made, err := f(blocks)
	if err != nil {
		return nil, err
	}
	defer func() { _ = made.Close() }()
	p, err := made.Use()
	if err != nil {
		return nil, err
	}
	t := p.Type()
	p.Done()
	if result, err = container.Blank(c, t); err != nil {
		return nil, refuse(c, "scan", err)
	}
	if err = moveAll(result, made); err != nil {
		_ = result.Close()
		return nil, err
	}
	return result, nil
}

// scanning is one scan of a container whose ranks have one range each, or all.
type scanning struct {
	name      string
	op        kernel.Op
	exclusive bool
	loop      *scan.Scanning
	made      *container.Array
	alone     bool // each rank has all elements
	onDevice  bool
	totals    []fold.Partial // of a part in pieces: what each comes to
	by        radix.Workers
	there     backend.Scanned // of a part that a device alone reaches
}

func (s *scanning) call() comm.Call {
	return comm.Call{Op: s.name, Same: []int64{truth(s.exclusive)}, Text: func() string {
		return map[bool]string{true: "exclusive"}[s.exclusive]
	}}
}

func (s *scanning) run(c container.Container) (*container.Array, error) {
	call := s.call()
	defer s.release()
	all, err := Share(container.OnItsDevice(c), call, func(p container.Part) (found comm.Shared, err error) {
		if n := p.Layout().Dims(); n != 1 {
			return found, status.New(status.Unsupported, "a container of %d dimensions needs an axis", n)
		}
		if s.loop, err = scan.Of(p.Type(), s.op); err != nil {
			return found, err
		}
		if s.made, err = container.Blank(c, s.result(p.Type())); err != nil {
			return found, err
		}
		s.alone = c.Context().Size() == 1 || p.Layout().Replicated()
		s.onDevice = p.Placement() == container.OnDevice
		total := fold.Partial{}
		if s.onDevice {
			err = s.totalOnDevice(&total, p)
		} else if all := pieces(p); all != nil {
			s.by = workersFor(p)
			s.total(&total, all)
		} else if !s.alone {
			p.Runs(func(run memory.Span) bool { s.loop.Total(&total, run); return true })
		}
		return comm.Shared(total), err
	})
	if err == nil {
		err = s.finish(c, all)
	}
	if err != nil && s.made != nil {
		_ = s.made.Close() // it never fails
		return nil, err
	}
	return s.made, err
}

// finish scans this rank's part from what those of the ranks before it come to. Collective where it is on a device, which may fail.
func (s *scanning) finish(c container.Container, all []comm.Shared) error {
	carry := fold.Partial{}
	if !s.alone {
		for _, found := range all[:c.Context().Rank()] {
			before := fold.Partial(found)
			s.loop.Merge(&carry, &before)
		}
	}
	err := status.In(s.name, s.write(c, &carry))
	if s.onDevice {
		return refuse(c, s.name, err)
	}
	if err != nil || s.alone || s.loop.Doubtful == nil || !s.loop.Doubtful(partials(all)) {
		return err
	}
	return s.settle(c, all, carry)
}

// settle has the ranks scan one after the other, from the first on whose end another began with something else. end is this rank's.
// Collective.
func (s *scanning) settle(c container.Container, totals []comm.Shared, end fold.Partial) error {
	me, tell := c.Context().Rank(), func() ([]comm.Shared, error) {
		return Share(container.OnItsDevice(c), s.call(), func(container.Part) (comm.Shared, error) { return comm.Shared(end), nil })
	}
	ends, err := tell()
	if err != nil {
		return err
	}
	begin, rank := fold.Partial{}, 0
	for ; rank < len(ends); rank++ {
		total, end := fold.Partial(totals[rank]), fold.Partial(ends[rank])
		if s.loop.Merge(&begin, &total); !s.loop.Follows(&begin, &end) {
			break
		}
	}
	for rank++; rank < len(ends); rank++ {
		if rank == me {
			end = fold.Partial(ends[rank-1])
			s.totals = nil // the pieces follow each other, too
			if err := s.write(c, &end); err != nil {
				return status.In(s.name, err) // the host's part is there: it never fails
			}
		}
		if ends, err = tell(); err != nil {
			return err
		}
	}
	return nil
}

func partials(all []comm.Shared) []fold.Partial {
	made := make([]fold.Partial, len(all))
	for i := range all {
		made[i] = fold.Partial(all[i])
	}
	return made
}

func (s *scanning) release() {
	if s.there != nil {
		s.there.Close()
	}
}

func (s *scanning) result(t dtype.Type) dtype.Type {
	if s.op == kernel.Min || s.op == kernel.Max {
		return t
	}
	return s.loop.Result
}

// write scans this rank's part from what the ranks before it come to.
func (s *scanning) write(c container.Container, carry *fold.Partial) error {
	from, err := container.OnItsDevice(c).Use()
	if err != nil {
		return err
	}
	defer from.Done()
	to, err := container.OnItsDevice(s.made).Use()
	if err != nil {
		return err
	}
	defer to.Done()
	if s.there != nil {
		return s.writeOnDevice(from, to, carry)
	}
	begin := *carry
	if x, y := pieces(from), pieces(to); s.totals != nil && len(x) == len(y) && s.writePieces(x, y, carry) {
		return nil
	}
	*carry = begin
	return pairs(from, to, func(x, y memory.Span) error {
		s.loop.Scan(carry, y, x, s.exclusive)
		return nil
	})
}

// total combines the elements of each piece, side by side, and those of all.
func (s *scanning) total(all *fold.Partial, of []piece) {
	s.totals = make([]fold.Partial, len(of))
	if s.alone && s.by.Size < 2 {
		return // each is added up before it is scanned, and stays in the cache between
	}
	s.by.Each(len(of), func(i int) {
		of[i].Read(func(run memory.Span) { s.loop.Total(&s.totals[i], run) })
		memory.Ease()
	})
	for i := range s.totals {
		s.loop.Merge(all, &s.totals[i])
	}
}

// writePieces is write of pieces, each from what those before it come to. It reports whether that is what all of them one after the
// other make, and sets carry to where the last has ended.
func (s *scanning) writePieces(from, to []piece, carry *fold.Partial) bool {
	begins, ends := make([]fold.Partial, len(from)), make([]fold.Partial, len(from))
	scan := func(i int) {
		s.loop.Scan(&ends[i], to[i].Span, from[i].Span, s.exclusive)
		memory.Ease()
	}
	added := !s.alone || s.by.Size > 1
	for i := range begins {
		begins[i], ends[i] = *carry, *carry
		if !added {
			s.loop.Total(&s.totals[i], from[i].Span)
			scan(i)
		}
		s.loop.Merge(carry, &s.totals[i])
	}
	if added {
		s.by.Each(len(from), scan)
	}
	*carry = ends[len(ends)-1]
	if s.loop.Doubtful == nil || !s.loop.Doubtful(append(begins[:1:1], s.totals...)) {
		return true
	}
	for i := range begins[1:] {
		if !s.loop.Follows(&begins[i+1], &ends[i]) {
			return false
		}
	}
	return true
}
