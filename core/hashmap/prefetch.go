package hashmap

import (
	"unsafe"

	"dtl/core/memory"
)

// Prefetch reads the segments where the keys of one of so many equal ranges of hashes lie, from front to back, if a batch of
// n keys is going to look at about every second cache line of them anyway. Memory is several times as fast that way, and
// the batch then finds them in the cache.
func (t *Table) Prefetch(of, ranges, n int) {
	first := t.indexOf(of, ranges)
	last := max(t.indexOf(of+1, ranges), first+1)
	bytes := 0
	t.between(first, last, func(s *segment) { bytes += s.bytes(&t.layout) })
	if bytes > 2*memory.Alignment*n {
		return
	}
	t.between(first, last, func(s *segment) {
		words := unsafe.Slice((*control)(s.base), s.bytes(&t.layout)/int(unsafe.Sizeof(t.at.warm)))
		for i := 0; i < len(words); i += memory.Alignment / int(unsafe.Sizeof(t.at.warm)) {
			t.at.warm |= words[i]
		}
	})
}

// indexOf returns the first entry of the directory of which no hash is in an earlier range.
func (t *Table) indexOf(of, ranges int) int {
	n := uint64(ranges)
	least := (uint64(of)<<32 + n - 1) / n // of the hash's upper half
	if least == 1<<32 {
		return len(t.directory)
	}
	return int(least << 32 >> t.shift)
}

// between calls f with every segment of some entries of the directory.
func (t *Table) between(first, last int, f func(*segment)) {
	for i := first; i < last; {
		s := t.directory[i]
		n := len(t.directory) >> s.depth
		i = i&^(n-1) + n
		f(s)
	}
}

// bytes returns how many a segment has.
func (s *segment) bytes(l *layout) int { return int(s.mask+1) * l.stride }
