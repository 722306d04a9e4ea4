package algorithm

import (
	"fmt"
	"slices"

	"dtl/core/comm"
	"dtl/core/comm/wire"
	"dtl/core/container"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/histogram"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
	"dtl/core/status"
)

// Histogram writes to out how many elements lie in each bin between ascending edges, which are the same on every rank: as
// histogram.Bins says. With weights, a container of float64 that is laid out as c is, out is of float64 and has their sums; else
// it is of int64. uniform says that the edges are about equally far apart. Collective.
func Histogram(c, weights container.Container, edges, out memory.Span, uniform bool) error {
	call := comm.Call{
		Op: "histogram", Same: []int64{wire.Fingerprint(edges), truth(uniform), truth(weights != nil)},
		Text: func() string {
			return fmt.Sprintf("%d edges, fingerprint %x ", edges.Count, uint64(wire.Fingerprint(edges)))
		},
	}
	call = also(call, weights)
	var bins *histogram.Bins
	check := func(p container.Part) error {
		if edges.Type != dtype.Float64 || edges.Count < 2 || out.Count != edges.Count-1 || out.Type != tableType(weights) {
			return status.New(status.InvalidArgument, "%d of %s for the bins between %d edges of %s",
				out.Count, out.Type, edges.Count, edges.Type)
		}
		if !slices.IsSorted(memory.As[float64](edges)) {
			return status.New(status.InvalidArgument, "`bins` must increase monotonically, when an array")
		}
		bins = histogram.NewBins(append([]float64(nil), memory.As[float64](edges)...), uniform, weights != nil)
		if p.Placement() == container.OnDevice {
			return p.Bins(bins.Counts, bins.Edges())
		}
		if all := pieces(p); all != nil && weights == nil && edges.Count <= pieceSize {
			return binPieces(all, bins, workersFor(p))
		}
		return weighted(p, weights, bins.Add)
	}
	return on(unweighted(c, weights), call, check, func(over *comm.Comm, p container.Part) error {
		return table(over, p, bins.Counts, bins.Sums, out)
	})
}

// Bincount returns how often each number from the lowest on occurs in a container of integers, up to the greatest of them, and at least
// length of them; with weights as in Histogram, their sums. None may be less than the lowest, which is 0 on devices. Collective.
func Bincount(c, weights container.Container, lowest, length int64) (r comm.Result, err error) {
	call := comm.Call{Op: "bincount", Same: []int64{length, truth(weights != nil), lowest}, Text: func() string {
		return fmt.Sprint("minlength ", length, " ")
	}}
	call = also(call, weights)
	const limit = 1 << 28
	tally := histogram.NewTally(weights != nil, lowest, limit)
	c = unweighted(c, weights)
	all, err := Share(c, call, func(p container.Part) (found comm.Shared, err error) {
		if length < 0 || length > limit {
			return found, status.New(status.InvalidArgument, "minlength %d outside [0, %d]", length, limit)
		}
		if err = histogram.Countable(p.Type()); err == nil { // of no elements, too
			err = tallyPart(p, weights, tally)
		}
		found[0] = max(length, tally.Length())
		return found, err
	})
	if err != nil {
		return r, err
	}
	n := int64(0)
	for _, found := range all {
		n = max(n, found[0])
	}
	storage, mine := memory.NewStorage(c.Context().Memory(), 8*int(n), 64)
	err = on(c, call, func(container.Part) error { return mine }, func(over *comm.Comm, p container.Part) error {
		out := memory.Span{Addr: storage.Addr(), Count: int(n), Type: tableType(weights)}
		r = comm.Result{Array: comm.Array{Span: out, Shape: []int64{n}}, Storage: storage}
		return table(over, p, tally.Counts, tally.Sums, out)
	})
	if err != nil && storage != nil {
		storage.Release()
		return comm.Result{}, err
	}
	return r, err
}

// unweighted returns a container whose part is used on its device where there are no weights.
func unweighted(c, weights container.Container) container.Container {
	if weights != nil {
		return c
	}
	return container.OnItsDevice(c)
}

// tableType is the type of a table of counts, or of sums of weights.
func tableType(weights container.Container) dtype.Type {
	if weights != nil {
		return dtype.Float64
	}
	return dtype.Int64
}

// weighted calls f with the runs of a part and of its weights, if there are any.
func weighted(p container.Part, weights container.Container, f func(run, weights memory.Span) error) (err error) {
	if weights == nil {
		p.Runs(func(run memory.Span) bool {
			err = f(run, memory.Span{})
			return err == nil
		})
		return err
	}
	q, err := weights.Use()
	if err != nil {
		return err
	}
	defer q.Done()
	if !p.Layout().Equal(q.Layout()) || q.Type() != dtype.Float64 {
		return status.New(status.InvalidArgument, "%s with weights in %s: they must be laid out alike", p, q)
	}
	return pairs(p, q, f)
}

// table adds up the ranks' tables in out, which may be longer. Of a replicated container, each has it all.
func table(over *comm.Comm, p container.Part, counts []int64, sums []float64, out memory.Span) error {
	mine := memory.Of(dtype.Int64, counts)
	if sums != nil {
		mine = memory.Of(dtype.Float64, sums)
	}
	clear(memory.As[uint64](out))
	memory.Copy(out, mine)
	if p.Layout().Replicated() {
		return nil
	}
	return over.Allreduce(out, out, kernel.Sum)
}

// byWorkers calls f with each piece, and with the number of the one of n workers that has it.
func byWorkers(by radix.Workers, all []piece, n int, f func(worker int, run memory.Span) error) error {
	failed := make([]error, n)
	by.Each(n, func(worker int) {
		for i := worker; i < len(all) && failed[worker] == nil; i += n {
			all[i].Read(func(run memory.Span) { failed[worker] = f(worker, run) })
			memory.Ease()
		}
	})
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// binPieces adds the pieces of a part to bins: each worker has bins of its own.
func binPieces(all []piece, bins *histogram.Bins, by radix.Workers) error {
	own := make([]*histogram.Bins, max(1, by.Size))
	for i := range own {
		own[i] = bins.Empty()
	}
	err := byWorkers(by, all, len(own), func(worker int, run memory.Span) error { return own[worker].Add(run, memory.Span{}) })
	for _, b := range own {
		for i, n := range b.Counts {
			bins.Counts[i] += n
		}
	}
	return err
}

// tallyPart counts the elements of a part. Each worker has a table of its own.
func tallyPart(p container.Part, weights container.Container, tally *histogram.Tally) error {
	if p.Placement() == container.OnDevice {
		return tallyOnDevice(p, tally)
	}
	all := pieces(p)
	if all == nil || weights != nil {
		return weighted(p, weights, tally.Add)
	}
	by := workersFor(p)
	own := make([]*histogram.Tally, max(1, by.Size))
	for i := range own {
		own[i] = tally.Empty()
	}
	err := byWorkers(by, all, len(own), func(worker int, run memory.Span) error { return own[worker].Add(run, memory.Span{}) })
	for _, t := range own {
		tally.Merge(t)
	}
	return err
}
