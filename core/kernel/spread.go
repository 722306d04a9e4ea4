package kernel

import "unsafe"

// spread is radix for many items: they are dealt out to buckets, each of some neighbouring cells that fit the cache
// together, and each bucket is sorted by itself and taken home: written to where it belongs in a.
func spread[T item](a, tmp []T, differ uint64, crew Crew, home func(dst, src []T)) {
	parts := crew.parts(len(a))
	s := spreading[T]{a: a, tmp: tmp[:len(a)], cells: newCells(a, differ), home: home, parts: parts, crew: crew}
	s.count()
	s.choose()
	crew.over(len(a), parts, s.deal)
	s.sortBuckets()
}

// surveyParts is survey of many items.
func surveyParts[T item](a []T, parts int, crew Crew) (differ uint64, sorted bool) {
	all := make([]found, parts)
	crew.over(len(a), parts, func(part, lo, hi int) {
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
	a, tmp []T
	cells  *cells
	home   func(dst, src []T)
	parts  int
	crew   Crew
	counts [][]uint32 // of each part: how many items each cell has
	bucket []uint16   // of each cell
	starts []int      // of each bucket, and the end of the last
	next   [][]int    // of each part: where the next item of each bucket goes
}

func (s *spreading[T]) count() {
	s.counts = make([][]uint32, s.parts)
	s.crew.over(len(s.a), s.parts, func(part, lo, hi int) {
		count, cells, a := make([]uint32, s.cells.n), s.cells, s.a[lo:hi]
		for i := range a {
			count[cells.of(word(&a[i]))]++
		}
		s.counts[part] = count
	})
}

// choose makes the buckets, and says where each part's items go.
func (s *spreading[T]) choose() {
	s.bucket = make([]uint16, s.cells.n)
	room := max(len(s.a)>>8, cached/2/int(unsafe.Sizeof(s.a[0])))
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

func (s *spreading[T]) deal(part, lo, hi int) {
	next, cells, bucket, a, tmp := s.next[part], s.cells, s.bucket, s.a[lo:hi], s.tmp
	for i := range a {
		b := bucket[cells.of(word(&a[i]))]
		at := next[b]
		next[b] = at + 1
		tmp[at] = a[i]
	}
}

// sortBuckets sorts each bucket of tmp to where it is in a: large ones with the whole crew, the others side by side.
func (s *spreading[T]) sortBuckets() {
	buckets := len(s.starts) - 1
	large := max(len(s.a)/4, cached)
	for b := range buckets {
		if lo, hi := s.starts[b], s.starts[b+1]; hi-lo > large {
			radix(s.tmp[lo:hi], s.a[lo:hi], s.crew)
			s.crew.over(hi-lo, s.crew.parts(hi-lo), func(_, from, to int) { s.home(s.a[lo+from:lo+to], s.tmp[lo+from:lo+to]) })
		}
	}
	s.crew.each(buckets, func(b int) {
		if lo, hi := s.starts[b], s.starts[b+1]; hi-lo <= large {
			s.sortBucket(s.tmp[lo:hi], s.a[lo:hi])
		}
	})
}

// sortBucket sorts a bucket to another place.
func (s *spreading[T]) sortBucket(from, to []T) {
	if n := len(from); n > few && n*int(unsafe.Sizeof(from[0])) <= cached {
		if differ, sorted := survey(from); !sorted && !inCache(from, to, differ) {
			s.home(to, to)
			return
		}
	} else {
		radix(from, to, Crew{})
	}
	s.home(to, from)
}
