package algorithm

import (
	"dtl/core/container"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

// Elements of files that are more than the limit of memory are sorted in two passes: runs that fit are sorted in memory, and written to
// other files; then all runs are merged at once, a chunk of the result after the other. (Knuth, The Art of Computer Programming, 5.4.1.)

// externalShare is the part of the limit that a run takes, of which two are in memory, beside the pages of files.
const externalShare = 16

// chunkOf returns how many elements of a part on disk are sorted in memory at a time; 0: all of them are sorted where they are.
func chunkOf(p container.Part) int {
	size := int64(p.Type().Size())
	chunk := memory.Limit() / externalShare / size
	if p.Placement() != container.OnDisk || chunk == 0 || size > 8 || held(p) <= 2*chunk*size {
		return 0
	}
	return int(chunk)
}

// external is a sort of elements in files.
type external struct {
	order   radix.Order
	workers radix.Workers
	room    memory.Span // in memory, for two chunks
	chunk   int
}

// sort sorts elements, with files for as many.
func (x *external) sort(mine, files memory.Span) {
	var runs []memory.Span
	for at := 0; at < mine.Count; at += x.chunk {
		end := min(at+x.chunk, mine.Count)
		run := x.room.Slice(0, end-at)
		memory.Copy(run, mine.Slice(at, end))
		radix.Sort(run, x.room.Slice(x.chunk, x.chunk+run.Count), x.order, x.workers)
		memory.Copy(files.Slice(at, end), run)
		runs = append(runs, files.Slice(at, end))
		memory.Ease()
	}
	x.mergeAll(mine, runs)
}

// mergeAll merges sorted runs.
func (x *external) mergeAll(into memory.Span, runs []memory.Span) {
	for at := 0; at < into.Count; {
		at += x.merge(into.Slice(at, into.Count), runs)
		memory.Ease()
	}
}

// merge writes the next chunk of the result, takes its elements from the runs, and returns how many these are.
func (x *external) merge(into memory.Span, runs []memory.Span) int {
	n := min(x.chunk, into.Count)
	counts, at := x.next(n, runs), 0
	for i, count := range counts {
		memory.Copy(x.room.Slice(at, at+count), runs[i].Slice(0, count))
		runs[i] = runs[i].Slice(count, runs[i].Count)
		at += count
		memory.Ease()
	}
	merged := x.room.Slice(x.chunk, x.chunk+n)
	radix.Merge(merged, x.room.Slice(0, n), counts, x.order, x.workers)
	memory.Copy(into, merged)
	return n
}

// next returns of how many elements of each run the first n of all consist. Of equal ones, those of earlier runs come first.
func (x *external) next(n int, runs []memory.Span) []int {
	from, to := make([]int, len(runs)), make([]int, len(runs)) // of each run, how many these are at least and at most
	for i, run := range runs {
		to[i] = min(n, run.Count)
	}
	upTo := func(key uint64, also bool) (counts []int, total int) {
		for i, run := range runs {
			counts = append(counts, from[i]+radix.Search(run.Slice(from[i], to[i]), x.order, key, also))
			total += counts[i]
			memory.Ease() // each run has pages of its own
		}
		return counts, total
	}
	lo, hi := uint64(0), ^uint64(0) // the key of the last of them is in [lo, hi]
	for lo < hi {
		middle := lo + (hi-lo)/2
		if counts, total := upTo(middle, true); total >= n {
			hi, to = middle, counts
		} else {
			lo, from = middle+1, counts
		}
	}
	counts, total := upTo(lo, false)
	equal, _ := upTo(lo, true)
	for i := range counts {
		more := min(equal[i]-counts[i], n-total)
		counts[i] += more
		total += more
	}
	return counts
}
