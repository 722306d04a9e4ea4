package container

import (
	"unsafe"

	"dtl/core/comm"
	"dtl/core/dtype"
	"dtl/core/memory"
	"dtl/core/partition"
	"dtl/core/status"
)

// batch is how many elements one exchange moves at most: what is needed for them stays in the cache, and temporary
// memory does not grow with the lists.
const batch = 1 << 16

// indices are global indices as a caller gave them: of elements in C order, negative ones counted from the end.
type indices struct {
	given []int64
	size  int64 // of the container
}

// newIndices refuses what no list of indices is, and indices outside the container.
func newIndices(a comm.Array, size int64) (indices, error) {
	if a.Type != dtype.Int64 {
		return indices{}, status.New(status.InvalidType, "indices have dtype %s; they must be int64", a.Type)
	}
	given := memory.As[int64](a.Span)
	for _, i := range given {
		if i >= size || i < -size {
			return indices{}, status.New(status.OutOfBounds, "index %d outside [%d, %d)", i, -size, size)
		}
	}
	return indices{given: given, size: size}, nil
}

// batch returns the n-th batch, as it was given.
func (x indices) batch(n int) []int64 {
	lo := min(n*batch, len(x.given))
	return x.given[lo:min(lo+batch, len(x.given))]
}

// part copies the n-th batch to into, counted from the start.
func (x indices) part(n int, into []int64) []int64 {
	from := x.batch(n)
	into = into[:len(from)]
	for k, i := range from {
		into[k] = x.fromStart(i)
	}
	return into
}

// fromStart counts an index from the start. The caller's memory may have changed since it was checked, so what is outside now is wrapped
// inside: a wrong element then, but no crash.
func (x indices) fromStart(i int64) int64 {
	i += i >> 63 & x.size
	if uint64(i) >= uint64(x.size) {
		return 0
	}
	return i
}

// batches returns how many parts n elements have.
func batches(n int) int { return (n + batch - 1) / batch }

// locator says where elements are.
type locator struct {
	layout  partition.Layout
	rank    int
	strides []int64
	within  *stretch
}

// stretch is a range of indices in C order whose elements lie in this rank's part at equal distances, in bytes.
type stretch struct{ first, count, apart int64 }

func newLocator(s *state) *locator {
	return &locator{layout: s.layout, rank: s.rank, strides: s.strides, within: stretchOf(s)}
}

// stretchOf returns the range of indices that this rank has; nil if they are no range.
func stretchOf(s *state) *stretch {
	dims := s.layout.Dims()
	if dims == 0 {
		return nil
	}
	inner := int64(1)
	for d := dims - 1; d > 0; d-- {
		if n := s.layout.Shape()[d]; s.shape[d] != n || s.strides[d-1] != n*s.strides[d] {
			return nil
		}
		inner *= s.shape[d]
	}
	runs := s.layout.Dim(0).From(s.layout.Coordinate(s.rank, 0), 0)
	all, ok := runs.Next()
	if !ok {
		return &stretch{}
	}
	if _, more := runs.Next(); more || all.Step != 1 || all.Local != 0 {
		return nil
	}
	return &stretch{all.Global * inner, all.Count * inner, s.strides[dims-1]}
}

// offset returns where an index of the range lies, and something negative for another index.
func (s *stretch) offset(global int64) int64 {
	local := global - s.first
	outside := (local | (s.count - 1 - local)) >> 63 // all ones, else zero
	return local*s.apart | outside
}

// owners sets owners[i] to the rank that holds globals[i].
func (l *locator) owners(globals []int64, owners []int32) {
	dims := l.layout.Dims()
	if dims == 1 {
		l.layout.Dim(0).Owners(globals, owners)
		return
	}
	shape, coordinates := l.layout.Shape(), make([]int, dims)
	for i, g := range globals {
		for d := dims - 1; d >= 0; d-- {
			coordinates[d] = l.layout.Dim(d).Owner(g % shape[d])
			g /= shape[d]
		}
		owners[i] = int32(l.layout.Rank(coordinates))
	}
}

// offsets sets offsets[i] to where globals[i] lies in this rank's part, in bytes from its first element, or to
// something negative where it does not.
func (l *locator) offsets(globals, offsets []int64) {
	if l.within != nil {
		within := *l.within
		offsets = offsets[:len(globals)]
		for i, g := range globals {
			offsets[i] = within.offset(g)
		}
		return
	}
	dims := l.layout.Dims()
	if dims == 1 {
		l.layout.Dim(0).Locate(l.rank, globals, offsets)
		for i := range globals {
			offsets[i] *= l.strides[0]
		}
		return
	}
	shape := l.layout.Shape()
	for i, g := range globals {
		at := int64(0)
		for d := dims - 1; d >= 0; d-- {
			p, where := l.layout.Dim(d), l.layout.Coordinate(l.rank, d)
			if at >= 0 && p.Holds(where, g%shape[d]) {
				at += p.Before(where, g%shape[d]) * l.strides[d]
			} else {
				at = -1
			}
			g /= shape[d]
		}
		offsets[i] = at
	}
}

// workspace is memory outside the Go heap for what an exchange sends and receives.
type workspace struct {
	storage *memory.Storage
	used    int
}

func newWorkspace(from memory.Allocator, bytes int) (*workspace, error) {
	storage, err := memory.NewScratch(from, bytes, memory.Alignment)
	if err != nil {
		return nil, err
	}
	return &workspace{storage: storage}, nil
}

// take returns the next n bytes, as elements of a type.
func (w *workspace) take(n int, t dtype.Type) memory.Span {
	s := memory.Span{Addr: unsafe.Add(w.storage.Addr(), w.used), Count: n, Type: t}
	w.used += (n*t.Size() + memory.Alignment - 1) &^ (memory.Alignment - 1)
	return s
}

func (w *workspace) release() {
	if w != nil {
		w.storage.Release()
	}
}

// streams returns each rank's elements of a span that holds them in rank order.
func streams(s memory.Span, counts []int) []memory.Span {
	all := make([]memory.Span, len(counts))
	at := 0
	for rank, n := range counts {
		all[rank] = s.Slice(at, at+n)
		at += n
	}
	return all
}

// starts returns where each rank's elements start.
func starts(counts []int) []int {
	all := make([]int, len(counts))
	for rank := 1; rank < len(all); rank++ {
		all[rank] = all[rank-1] + counts[rank-1]
	}
	return all
}

// tally returns how often each rank occurs.
func tally(owners []int32, ranks int) []int {
	counts := make([]int, ranks)
	for _, rank := range owners {
		counts[rank]++
	}
	return counts
}
