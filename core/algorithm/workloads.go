package algorithm

import "sync/atomic"

// workloads are tasks, of which each worker has a range: one thread that goes through memory from front to back is faster than several that
// take turns. A worker that has done its own takes those of others.
type workloads []workload

// workload is the range of a worker: its first task, and in the lower half where it ends.
type workload struct {
	left atomic.Uint64
	_    [56]byte // the rest of a line of the cache, which other workers write to otherwise
}

// newWorkloads divides tasks, fewer than 2^32.
func newWorkloads(tasks, workers int) workloads {
	s := make(workloads, workers)
	for w := range s {
		s[w].left.Store(uint64(w*tasks/workers)<<32 | uint64((w+1)*tasks/workers))
	}
	return s
}

// next returns a task for a worker, and false if none is left: the first of its own, else the last of another one.
func (s workloads) next(worker int) (task int, ok bool) {
	for i := range s {
		if task, ok = s[(worker+i)%len(s)].take(i == 0); ok {
			return task, true
		}
	}
	return 0, false
}

// take removes the first task, or the last.
func (s *workload) take(first bool) (task int, ok bool) {
	for {
		left := s.left.Load()
		begin, end := left>>32, left&(1<<32-1)
		if begin >= end {
			return 0, false
		}
		task, rest := int(end-1), left-1
		if first {
			task, rest = int(begin), left+1<<32
		}
		if s.left.CompareAndSwap(left, rest) {
			return task, true
		}
	}
}
