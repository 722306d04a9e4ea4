package radix

import (
	"math/bits"
	"sync"
	"unsafe"

	"dtl/core/dtype"
)

// spread is radix for many items: they are distributed to buckets, each of some neighbouring cells that fit the cache
// together, and each bucket is sorted by itself and written to where it belongs in a.
func spread[T item](a, tmp []T, differ uint64, workers Workers) {
	plain := NewOrder(dtype.Uint64, false)
	s := newSpreading(a, tmp, newCells(a, &plain, differ), workers, copyItems[T])
	workers.over(len(a), s.parts, func(part, lo, hi int) {
		count, rows, row, rest := s.counts[part], &s.cells.rows, s.cells.row, s.cells.rest
		for i := range a[lo:hi] {
			count[cellOf(rows, row, rest, word(&a[lo+i]))]++
		}
	})
	s.choose()
	workers.over(len(a), s.parts, s.distribute)
	s.sortBuckets()
}

// spreadKeys does what spread does, by the keys of elements. They become keys when they are distributed, and elements again, where
// there is an order, when they are written there.
func spreadKeys[T words](a, tmp []T, o *Order, workers Workers, elements *Order) Signs {
	s := newSpreading(a, tmp, sampledCells(a, o), workers, writer[T](elements))
	lost, found := make(Signs, s.parts), make([]found, s.parts)
	count := func(part, lo, hi int) {
		found[part], lost[part] = countKeys(a[lo:hi], o, s.cells, s.counts[part])
	}
	workers.over(len(a), s.parts, count)
	differ, sorted := merged(found)
	if sorted {
		if elements == nil {
			workers.over(len(a), s.parts, func(_, lo, hi int) { toKeys(a[lo:hi], o) })
		}
		return lost
	}
	if uint(bits.Len64(differ)) > s.cells.top {
		s.use(newCells(a, o, differ))
		workers.over(len(a), s.parts, count)
	}
	s.choose()
	workers.over(len(a), s.parts, func(part, lo, hi int) { distributeKeys(s, part, a[lo:hi], o) })
	s.sortBuckets()
	return lost
}

// surveyParts does what survey does, with many items, in parts.
func surveyParts[T item](a []T, parts int, workers Workers) (differ uint64, sorted bool) {
	all := make([]found, parts)
	workers.over(len(a), parts, func(part, lo, hi int) {
		f := &all[part]
		f.differ, f.sorted = survey(a[lo:hi])
		f.differ |= word(&a[lo]) ^ word(&a[0])
		f.sorted = f.sorted && (lo == 0 || word(&a[lo-1]) <= word(&a[lo]))
	})
	sorted = true
	for _, f := range all {
		differ |= f.differ
		sorted = sorted && f.sorted
	}
	return differ, sorted
}

// spreading is one spread.
type spreading[T item] struct {
	a, tmp  []T
	cells   *cells
	write   func(dst, src []T)
	parts   int
	workers Workers
	counts  [][]uint32 // of each part: how many items each cell has
	bucket  []uint16   // of each cell
	starts  []int      // of each bucket, and the end of the last
	next    [][]int    // of each part: where the next item of each bucket goes
	cache   sync.Pool  // of memory to sort a bucket in
}

func newSpreading[T item](a, tmp []T, cells *cells, workers Workers, write func(dst, src []T)) *spreading[T] {
	s := &spreading[T]{a: a, tmp: tmp[:len(a)], write: write, parts: workers.parts(len(a)), workers: workers}
	s.cache.New = func() any {
		memory := make([]T, 2*cached/int(unsafe.Sizeof(a[0])))
		return &memory
	}
	s.use(cells)
	return s
}

// use takes cells, none of which has been counted.
func (s *spreading[T]) use(c *cells) {
	s.cells, s.counts = c, make([][]uint32, s.parts)
	for part := range s.counts {
		s.counts[part] = make([]uint32, c.n)
	}
}

// choose makes the buckets, and says where each part's items go.
func (s *spreading[T]) choose() {
	s.bucket = make([]uint16, s.cells.n)
	room := max(len(s.a)>>9, cached/2/int(unsafe.Sizeof(s.a[0])))
	here, at, id := 0, 0, -1
	for cell := range s.cells.n {
		n := 0
		for _, count := range s.counts {
			n += int(count[cell])
		}
		if n > 0 && (id < 0 || here+n > room) {
			s.starts = append(s.starts, at)
			here, id = 0, id+1
		}
		s.bucket[cell] = uint16(max(id, 0))
		here += n
		at += n
	}
	s.starts = append(s.starts, at)
	s.arrange()
}

// arrange sets where each part's items of each bucket start: those of the first part come first.
func (s *spreading[T]) arrange() {
	buckets := len(s.starts) - 1
	at := append([]int{}, s.starts[:buckets]...)
	s.next = make([][]int, s.parts)
	for part, count := range s.counts {
		s.next[part] = append([]int{}, at...)
		for cell := range s.cells.n {
			at[s.bucket[cell]] += int(count[cell])
		}
	}
}

func (s *spreading[T]) distribute(part, lo, hi int) {
	next, bucket, a, tmp := s.next[part], s.bucket, s.a[lo:hi], s.tmp
	rows, row, rest := &s.cells.rows, s.cells.row, s.cells.rest
	for i := range a {
		b := bucket[cellOf(rows, row, rest, word(&a[i]))]
		at := next[b]
		next[b] = at + 1
		tmp[at] = a[i]
	}
}

// distributeKeys does what distribute does, by the keys of elements.
func distributeKeys[T words](s *spreading[T], part int, a []T, o *Order) {
	order, next, bucket, tmp := *o, s.next[part], s.bucket, s.tmp
	rows, row, rest := &s.cells.rows, s.cells.row, s.cells.rest
	for _, v := range a {
		k := order.key(uint64(v))
		b := bucket[cellOf(rows, row, rest, k)]
		at := next[b]
		next[b] = at + 1
		tmp[at] = T(k)
	}
}

// sortBuckets sorts each bucket of tmp to where it is in a: large ones with all workers, the others side by side.
func (s *spreading[T]) sortBuckets() {
	buckets := len(s.starts) - 1
	large := max(len(s.a)/4, cached)
	for b := range buckets {
		if lo, hi := s.starts[b], s.starts[b+1]; hi-lo > large {
			radix(s.tmp[lo:hi], s.a[lo:hi], s.workers)
			s.workers.over(hi-lo, s.workers.parts(hi-lo), func(_, from, to int) { s.write(s.a[lo+from:lo+to], s.tmp[lo+from:lo+to]) })
		}
	}
	s.workers.Each(buckets, func(b int) {
		if lo, hi := s.starts[b], s.starts[b+1]; hi-lo <= large {
			s.sortBucket(s.tmp[lo:hi], s.a[lo:hi])
		}
	})
}

// sortBucket sorts a bucket to another place.
func (s *spreading[T]) sortBucket(from, to []T) {
	n := len(from)
	if n <= few || n*int(unsafe.Sizeof(from[0])) > cached {
		radix(from, to, Workers{})
		s.write(to, from)
		return
	}
	memory := s.cache.Get().(*[]T)
	half := len(*memory) / 2
	s.write(to, inCache(from, (*memory)[:half], (*memory)[half:]))
	s.cache.Put(memory)
}
