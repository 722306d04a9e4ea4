package gpu

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

const (
	digitBits   = 4
	leastPiece  = 64 // elements of a thread that sorts: it counts digits, of which there are 16
	digitCounts = 1 << digitBits
)

// sorting is one sort: the elements, and memory for as many, go to and fro, digit by digit.
type sorting struct {
	q      *queue
	keys   radix.Keys
	typ    dtype.Type
	n      int
	each   int
	counts memory.Span
	count  uintptr // the kernels
	move   uintptr
}

// Sort queues the kernels of kernels/sorts.c.
func (q *queue) Sort(s memory.Span, keys radix.Keys) error {
	return q.sort(s, keys, func(sort *sorting, tmp unsafe.Pointer) error {
		return sort.run([2]unsafe.Pointer{tmp, s.Addr}, s.Addr, [2]unsafe.Pointer{})
	})
}

// Argsort queues the kernels of kernels/sorts.c, with indices.
func (q *queue) Argsort(indices, s memory.Span, keys radix.Keys) error {
	return q.sort(s, keys, func(sort *sorting, tmp unsafe.Pointer) error {
		return q.scratch(s.Bytes()+8*s.Count, func(more memory.Block) error {
			elements := unsafe.Add(more.Addr, 8*s.Count)
			return sort.run([2]unsafe.Pointer{tmp, elements}, s.Addr, [2]unsafe.Pointer{more.Addr, indices.Addr})
		})
	})
}

// scratch calls f with memory, in which what is queued goes on when f has returned.
func (q *queue) scratch(bytes int, f func(memory.Block) error) error {
	b, err := q.own.AllocateUsed(bytes, grain)
	if err != nil {
		return err
	}
	defer q.own.Deallocate(b)
	return f(b)
}

// sort calls f with what a sort needs, and memory for all elements.
func (q *queue) sort(s memory.Span, keys radix.Keys, f func(sort *sorting, tmp unsafe.Pointer) error) (err error) {
	sort := &sorting{q: q, keys: keys, typ: carriers[s.Type.Size()], n: s.Count}
	if sort.count, err = sort.kernel("count_digits"); err != nil {
		return err
	}
	if sort.move, err = sort.kernel("move_digits"); err != nil || s.Count == 0 {
		return err
	}
	sort.each = max(leastPiece, (s.Count+mostThreads-1)/mostThreads)
	pieces := (s.Count + sort.each - 1) / sort.each
	return q.scratch(8*pieces*digitCounts, func(counts memory.Block) error {
		sort.counts = memory.Span{Addr: counts.Addr, Count: pieces * digitCounts, Type: dtype.Uint64, Place: counts.Place}
		return q.scratch(s.Bytes(), func(tmp memory.Block) error { return f(sort, tmp.Addr) })
	})
}

func (s *sorting) kernel(what string) (uintptr, error) {
	return s.q.on.kernels.named(s.q.on.driven, "sorts", what+"_"+s.typ.String())
}

// run sorts the elements at an address, by turns into two others; there is an even number of digits. Indices go along where they are
// asked for.
func (s *sorting) run(turns [2]unsafe.Pointer, from unsafe.Pointer, indices [2]unsafe.Pointer) error {
	var fromIndex unsafe.Pointer
	for shift := 0; shift < 8*s.typ.Size(); shift += digitBits {
		turn := shift / digitBits % 2
		if err := s.pass(turns[turn], from, indices[turn], fromIndex, uint64(shift)); err != nil {
			return err
		}
		from, fromIndex = turns[turn], indices[turn]
	}
	return nil
}

// Search queues the kernel of kernels/sorts.c that finds where keys belong.
func (q *queue) Search(counts []int64, wanted []uint64, sorted memory.Span, keys radix.Keys) error {
	f, err := q.on.kernels.named(q.on.driven, "sorts", "search_keys_"+carriers[sorted.Type.Size()].String())
	if err != nil || len(wanted) == 0 {
		return err
	}
	return q.onDevice(memory.Of(dtype.Uint64, wanted), func(from unsafe.Pointer) error {
		return q.toward(memory.Of(dtype.Int64, counts), func(to unsafe.Pointer) error {
			words := []uint64{word(to), word(from), uint64(len(counts)), word(sorted.Addr), uint64(sorted.Count)}
			return q.each(f, len(counts), append(words, wordsOf(keys)...)...)
		})
	})
}

// wordsOf returns keys as kernels take them.
func wordsOf(o radix.Keys) []uint64 {
	return []uint64{o.Top, o.Flip, o.Sign, o.Zero, o.Turn, o.Add, o.Full, o.Most}
}

// pass sorts by one digit.
func (s *sorting) pass(to, from, toIndex, fromIndex unsafe.Pointer, shift uint64) error {
	words := append([]uint64{
		word(to), word(from), word(toIndex), word(fromIndex), word(s.counts.Addr), uint64(s.n), uint64(s.each), shift,
	}, wordsOf(s.keys)...)
	blocks := (s.counts.Count/digitCounts + blockThreads - 1) / blockThreads
	if err := s.q.on.launch(s.q.stream, s.count, blocks, blockThreads, words); err != nil {
		return err
	}
	if _, err := s.q.before(s.counts); err != nil {
		return err
	}
	return s.q.on.launch(s.q.stream, s.move, blocks, blockThreads, words)
}
