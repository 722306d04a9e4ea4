package algorithm

import (
	"sort"

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
	var runs []*sortedRun
	for at := 0; at < mine.Count; at += x.chunk {
		end := min(at+x.chunk, mine.Count)
		run := x.room.Slice(0, end-at)
		memory.Copy(run, mine.Slice(at, end))
		radix.Sort(run, x.room.Slice(x.chunk, x.chunk+run.Count), x.order, x.workers)
		memory.Copy(files.Slice(at, end), run)
		runs = append(runs, x.run(files.Slice(at, end), run))
		memory.Ease()
	}
	x.mergeRuns(mine, runs)
}

// mergeAll merges sorted elements.
func (x *external) mergeAll(into memory.Span, all []memory.Span) {
	runs := make([]*sortedRun, len(all))
	for i, elements := range all {
		runs[i] = x.run(elements, elements)
	}
	x.mergeRuns(into, runs)
}

func (x *external) mergeRuns(into memory.Span, runs []*sortedRun) {
	for at := 0; at < into.Count; {
		at += x.merge(into.Slice(at, into.Count), runs)
		memory.Ease()
	}
}

// merge writes the next chunk of the result, takes its elements from the runs, and returns how many these are.
func (x *external) merge(into memory.Span, runs []*sortedRun) int {
	n := min(x.chunk, into.Count)
	counts, at := x.next(n, runs), 0
	for i, count := range counts {
		run := runs[i]
		memory.Copy(x.room.Slice(at, at+count), run.elements.Slice(run.taken, run.taken+count))
		run.taken += count
		at += count
		memory.Ease()
	}
	chunk := x.room.Slice(0, n)
	radix.Sort(chunk, x.room.Slice(x.chunk, x.chunk+n), x.order, x.workers) // of many runs, that takes less time than to merge them
	memory.Copy(into, chunk)
	return n
}

// next returns of how many elements of each run the first n of all that are left consist. Of equal ones, those of earlier runs come first.
func (x *external) next(n int, runs []*sortedRun) []int {
	from, to := make([]int, len(runs)), make([]int, len(runs)) // of each run, how many these are at least and at most
	for i, run := range runs {
		to[i] = min(n, run.elements.Count-run.taken)
	}
	upTo := func(key uint64, also bool) (counts []int, total int) {
		for i, run := range runs {
			count := 0
			if from[i] < to[i] {
				count = run.search(&x.order, key, also) - run.taken
			}
			counts = append(counts, min(max(count, from[i]), to[i]))
			total += counts[i]
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

// sortedRun is sorted elements in a file.
type sortedRun struct {
	elements memory.Span
	taken    int      // how many of the first have been merged
	every    int      // how many elements there are from mark to mark
	marks    []uint64 // the keys of the first element of each block
	block    memory.Span
	number   int // of the block that was read last
}

// blockBytes is how much of a run a search reads. Of those of all runs, a sort has as many in memory as the run has.
const blockBytes = 8 << 10

// run returns sorted elements, of which some are the same.
func (x *external) run(elements, same memory.Span) *sortedRun {
	size := elements.Type.Size()
	every := max(min(blockBytes/size, x.chunk/64), 16)
	r := &sortedRun{elements: elements, every: every, number: -1}
	r.block = memory.Scratch(memory.Span{Count: every, Type: elements.Type})
	for at := 0; at < elements.Count; at += every {
		r.marks = append(r.marks, x.order.Key(same, at))
		if at%(every<<6) == 0 {
			memory.Ease()
		}
	}
	return r
}

// search returns how many elements have keys less than one, or, with also, not greater.
func (r *sortedRun) search(order *radix.Order, key uint64, also bool) int {
	blocks := sort.Search(len(r.marks), func(i int) bool { return r.marks[i] > key || r.marks[i] == key && !also })
	if blocks == 0 {
		return 0
	}
	at := (blocks - 1) * r.every
	return at + radix.Search(r.read(blocks-1, at), *order, key, also)
}

// read returns a block, which begins at an element.
func (r *sortedRun) read(number, at int) memory.Span {
	block := r.block.Slice(0, min(r.every, r.elements.Count-at))
	if r.number != number {
		of := r.elements.Slice(at, at+block.Count)
		done := memory.ByCalls(block.Addr, of.Addr, of.Bytes())
		memory.Copy(block.Raw().Slice(done, block.Bytes()), of.Raw().Slice(done, of.Bytes()))
		r.number = number
		memory.Ease()
	}
	return block
}
