package algorithm

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/fold"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/status"
)

// Dot returns the sum of the products of two containers' elements, which are laid out alike and of one type: what
// fold.Dot says. With conjugate, a's complex elements are conjugated. Collective.
func Dot(a, b container.Container, conjugate bool) (fold.Number, error) {
	op := product(conjugate)
	var folding *fold.Folding
	var layout partition.Layout
	call := also(comm.Call{Op: op, Text: func() string { return "" }}, b)
	all, err := Share(container.OnItsDevice(a), call, func(p container.Part) (found comm.Shared, err error) {
		mine, err := beside(p, container.OnItsDevice(b), func(q container.Part) (mine fold.Partial, err error) {
			if folding, err = fold.DotFolding(p.Type()); err == nil {
				err = dotParts(&mine, p, q, folding, conjugate, a.Context().Memory())
			}
			return mine, err
		})
		layout = p.Layout()
		return comm.Shared(mine), err
	})
	if err != nil {
		return fold.Number{}, err
	}
	total := fold.Partial(all[0])
	if !layout.Replicated() {
		for _, found := range all[1:] {
			other := fold.Partial(found)
			folding.Merge(&total, &other)
		}
	}
	n, err := folding.Finish(&total, layout.GlobalSize())
	return n, status.In(op, err)
}

// dotParts adds the products of two parts, piece by piece.
func dotParts(mine *fold.Partial, p, q container.Part, folding *fold.Folding, conjugate bool, host memory.Allocator) error {
	if p.Placement() == container.OnDevice {
		return dotOnDevice(mine, p, q, conjugate, host)
	}
	x, y := pieces(p), pieces(q)
	if len(x) == 0 || len(x) != len(y) {
		return pairs(p, q, func(x, y memory.Span) error { return fold.Dot(mine, x, y, conjugate) })
	}
	partials, failed := make([]fold.Partial, len(x)), make([]error, len(x))
	workersFor(p).Each(len(x), func(i int) {
		failed[i] = fold.Dot(&partials[i], x[i].Span, y[i].Span, conjugate)
		memory.Ease()
	})
	for i := range partials {
		folding.Merge(mine, &partials[i])
		if failed[i] != nil {
			return failed[i]
		}
	}
	return nil
}

// product returns the name that callers have for a product of two containers.
func product(conjugate bool) string {
	if conjugate {
		return "vdot"
	}
	return "dot"
}

// truth is 1 for true.
func truth(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// also adds another container, if there is one, to what all ranks pass alike.
func also(call comm.Call, other container.Container) comm.Call {
	if other != nil {
		call, _ = container.Beside(call, other) // where that fails, so does the call itself
	}
	return call
}

// beside calls f with the part of a container that is laid out as p is, and of its type.
func beside(p container.Part, other container.Container, f func(container.Part) (fold.Partial, error)) (fold.Partial, error) {
	q, err := other.Use()
	if err != nil {
		return fold.Partial{}, err
	}
	defer q.Done()
	if !p.Layout().Equal(q.Layout()) || p.Type() != q.Type() {
		return fold.Partial{}, status.New(status.InvalidArgument, "%s and %s: they must be laid out alike, of one dtype", p, q)
	}
	if err := p.CheckBeside(q); err != nil {
		return fold.Partial{}, err
	}
	return f(q)
}

// pairs calls f with runs of two parts of one shape, side by side. None is longer than those of files are, so that sums have the same
// bits wherever the elements are.
func pairs(p, q container.Part, f func(x, y memory.Span) error) error {
	var others []memory.Span
	q.Runs(func(run memory.Span) bool {
		others = append(others, run)
		return true
	})
	var err error
	p.Runs(func(run memory.Span) bool {
		for run.Count > 0 && err == nil {
			n := min(run.Count, others[0].Count, memory.Piece/run.Type.Size())
			err = f(run.Slice(0, n), others[0].Slice(0, n))
			run, others[0] = run.Slice(n, run.Count), others[0].Slice(n, others[0].Count)
			if others[0].Count == 0 {
				others = others[1:]
			}
		}
		return err == nil
	})
	return err
}

// Exact is Fold of FoldSum, FoldMean and FoldSquares by way of an exact sum, rounded once: the same bits for any number
// of ranks and any layout. With another container b, it is Dot. Collective.
func Exact(a, b container.Container, f fold.Kind, conjugate bool) (n fold.Number, err error) {
	op := f.String()
	if b != nil {
		op = product(conjugate)
	}
	var words []int64
	call := comm.Call{Op: op, Same: []int64{truth(conjugate), -1}, Text: func() string { return "reproducible " }}
	call = also(call, b)
	check := func(p container.Part) (err error) {
		if b == nil {
			words, err = exactWords(p, p, f, conjugate)
			return err
		}
		_, err = beside(p, b, func(q container.Part) (_ fold.Partial, err error) {
			words, err = exactWords(p, q, fold.Squares, conjugate)
			return fold.Partial{}, err
		})
		return err
	}
	err = on(a, call, check, func(over *comm.Comm, p container.Part) error {
		span := memory.Of(dtype.Int64, words)
		if !p.Layout().Replicated() {
			if err := over.Allreduce(span, span, kernel.Sum); err != nil {
				return err
			}
		}
		divisor := 1.0
		if f == fold.Mean {
			divisor = float64(p.Layout().GlobalSize())
		}
		n = roundedWords(p, words, divisor, f == fold.Sum)
		return nil
	})
	return n, err
}

// exactWords returns the exact sum of this rank's part, or of products; of complex elements, the imaginary parts' too.
func exactWords(p, q container.Part, f fold.Kind, conjugate bool) (words []int64, err error) {
	for _, imaginary := range []bool{false, true}[:1+truth(p.Type().Complex())] {
		e := fold.NewExact()
		if f == fold.Squares {
			err = pairs(p, q, func(x, y memory.Span) error { return e.AddProducts(x, y, conjugate, imaginary) })
		} else {
			p.Runs(func(run memory.Span) bool {
				err = e.Add(run, imaginary)
				return err == nil
			})
		}
		words = append(words, e.Words()[:]...)
	}
	return words, err
}

// roundedWords returns the number that words are, rounded to the type's own precision if own is true.
func roundedWords(p container.Part, words []int64, divisor float64, own bool) fold.Number {
	precision, least := 53, 0
	if own && (p.Type() == dtype.Float32 || p.Type() == dtype.Complex64) {
		precision, least = 24, 925
	}
	round := func(k int) float64 {
		at := unsafe.Pointer(&words[k*fold.ExactWords])
		return fold.RoundExact((*[fold.ExactWords]int64)(at), precision, least) / divisor
	}
	if p.Type().Complex() {
		return fold.Complex(round(0), round(1))
	}
	return fold.Real(round(0))
}
