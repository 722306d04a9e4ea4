package container

import (
	"dtl/core/backend"
	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
	"dtl/core/status"
)

// LineFold is how the elements of a part are folded along dimensions.
type LineFold struct {
	Fold    fold.Kind
	Along   []bool  // for each dimension, whether it goes
	Divisor float64 // of Mean, and of Moment: what the sum is divided by
	Root    bool    // of Moment: its root
	All     bool    // of Truths: whether all are, not whether any is
}

// FoldLines has a device fold this rank's part of a container along dimensions, each line of at least one element to one of the part of
// another container on the device, which is in the same order. Local.
func FoldLines(to, from Container, how LineFold) error {
	p, q, err := lookBoth(to, from)
	if err != nil {
		return err
	}
	defer p.Done()
	defer q.Done()
	if p.Placement() != OnDevice || !p.sideBySide() {
		return status.New(status.Unsupported, "what a GPU folds is written where it is, not %s", p.storage.Place())
	}
	if err := p.sameDevice(q.state); err != nil {
		return err
	}
	return q.flat(false, func(from *state) error {
		return p.with(func() error { return from.foldLines(p.home, p.span(), how) }, from)
	})
}

// FoldLinesTo is FoldLines with an array of the host's for the results.
func FoldLinesTo(to comm.Array, from Container, how LineFold) error {
	q, err := from.Look()
	if err != nil {
		return err
	}
	defer q.Done()
	if q.Placement() != OnDevice {
		return status.New(status.Unsupported, "the elements are %s, where this call folds nothing", q.storage.Place())
	}
	storage, err := q.home.blank(to.Bytes())
	if err != nil {
		return err
	}
	defer storage.Release()
	there := storage.Bytes()
	there.Type, there.Count = to.Type, to.Count
	if err := q.flat(false, func(from *state) error { return from.foldLines(q.home, there, how) }); err != nil {
		return err
	}
	return q.home.queue.Copy(to.Span, there)
}

// foldLines folds a part with a queue of its device.
func (s *state) foldLines(with home, to memory.Span, how LineFold) error {
	made, err := s.lines(to.Type, how)
	if err != nil {
		return err
	}
	if how.Fold != fold.Moment {
		return with.queue.Lines(made, to, s.span(), memory.Span{})
	}
	mean := how
	mean.Fold, mean.Root, mean.Divisor = fold.Mean, false, float64(made.Extents[1]*made.Extents[3])
	first, err := s.lines(dtype.Float64, mean)
	if err != nil {
		return err
	}
	storage, err := with.blank(to.Count * dtype.Float64.Size())
	if err != nil {
		return err
	}
	defer storage.Release()
	means := storage.Bytes()
	means.Type, means.Count = dtype.Float64, to.Count
	if err := with.queue.Lines(first, means, s.span(), memory.Span{}); err != nil {
		return err
	}
	return with.queue.Lines(made, to, s.span(), means)
}

// lines returns how a device makes results of a type, or why it does not.
func (s *state) lines(result dtype.Type, how LineFold) (made backend.Lines, err error) {
	device, ok := how.Fold.Device(s.typ)
	if !ok || s.home.queue == nil {
		return made, status.New(status.Unsupported, "GPUs have no %s of %s along dimensions", how.Fold, s.typ)
	}
	made = backend.Lines{Name: device.Name, Type: s.typ, Merge: device.Merge, Divisor: 1}
	wanted := how.Fold.Result(s.typ)
	floating := result == dtype.Float64 || result == dtype.Float32
	switch how.Fold {
	case fold.Sum, fold.Prod:
		made.Result, ok = backend.LineCount, result == wanted
		if wanted == dtype.Float64 || wanted == dtype.Float32 {
			made.Result, ok = backend.LineNumber, floating
		}
	case fold.Mean, fold.Moment:
		made.Result, ok, made.Divisor = backend.LineNumber, floating, how.Divisor
		if how.Root {
			made.Result = backend.LineRoot
		}
	case fold.Min, fold.Max:
		made.Result, ok = backend.LineValue, result == wanted
	case fold.ArgMin, fold.ArgMax:
		made.Result, ok = backend.LinePlace, result == wanted
	case fold.Truths:
		made.Result, ok = backend.LineSome, result == dtype.Bool
		if how.All {
			made.Result = backend.LineNoneZero
		}
	default:
		ok = false
	}
	if !ok {
		return made, status.New(status.Unsupported, "GPUs write no %s along dimensions as %s", how.Fold, result)
	}
	made.Extents, err = extents(s.shape, how.Along)
	return made, err
}

// extents returns the extents of at most four groups of dimensions, of which the second and the fourth go.
func extents(shape []int64, along []bool) (x [4]int64, err error) {
	if len(along) != len(shape) {
		return x, status.New(status.Internal, "%d dimensions, not %d", len(shape), len(along))
	}
	x, group := [4]int64{1, 1, 1, 1}, 0
	for d, goes := range along {
		if goes != (group%2 == 1) {
			group++
		}
		if group == len(x) {
			return x, status.New(status.Unsupported, "GPUs fold no more than two groups of dimensions between others")
		}
		x[group] *= shape[d]
	}
	return x, nil
}
