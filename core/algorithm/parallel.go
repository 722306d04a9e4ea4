package algorithm

import (
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/container"
	"dtl/core/kernel/radix"
	"dtl/core/memory"
)

// threads is on how many this process computes of parts that are not sequential; 0 is 1.
var threads atomic.Int64

// SetThreads says on how many threads this process computes where containers are not sequential; less than 1 is 1.
func SetThreads(n int64) { threads.Store(n) }

// Threads returns on how many threads Parallel calls a function at most.
func Threads() int64 { return int64(max(1, workers(threads.Load()).Size)) }

// Parallel calls do for each of [0, tasks), on the threads that this process computes on, and returns when all have ended.
func Parallel(tasks int, do func(task int)) { workers(threads.Load()).Each(tasks, do) }

// SuggestedThreads returns on how many threads this process had best compute where nobody says.
func SuggestedThreads() (int64, error) {
	p, err := backend.As[backend.ExecutorProvider](backend.Local)
	if err != nil {
		return 0, err
	}
	return int64(p.Executor().SuggestedParallelism()), nil
}

// pieceSize is how many elements of a part are one task. It does not depend on the number of threads, so that results
// do not, either.
const pieceSize = 1 << 17

// piece is some elements of a part: the first of them is its n-th.
type piece struct {
	memory.Span
	first int64
}

// pieces divides a part. It returns none where that is not worth it: that depends on nothing but the part's elements,
// so that one thread and several, and so that sequential parts and others, have the same results.
func pieces(p container.Part) (all []piece) {
	if held(p) < 2*pieceSize*int64(p.Type().Size()) {
		return nil
	}
	runs, n := 0, int64(0)
	p.Runs(func(run memory.Span) bool {
		runs++
		for at := 0; at < run.Count; at += pieceSize {
			all = append(all, piece{run.Slice(at, min(at+pieceSize, run.Count)), n + int64(at)})
		}
		n += int64(run.Count)
		return int64(runs) <= 64+n/pieceSize
	})
	if int64(runs) > 64+n/pieceSize {
		return nil // of many short runs
	}
	return all
}

// workersFor returns the workers that compute of a part.
func workersFor(p container.Part) radix.Workers {
	if !p.Parallel() {
		return radix.Workers{}
	}
	return workers(threads.Load())
}

// grain is the number of indices for which an executor starts one more thread: it need not wake more than there are tasks.
const grain = 1024

// workers returns at most so many of the executor's workers; for one, that is the caller alone.
func workers(threads int64) radix.Workers {
	if threads <= 1 {
		return radix.Workers{}
	}
	p, err := backend.As[backend.ExecutorProvider](backend.Local)
	if err != nil {
		return radix.Workers{}
	}
	executor := p.Executor()
	size := int(min(threads, int64(executor.MaxParallelism())))
	return radix.Workers{Size: size, Run: func(tasks int, do func(task int)) {
		useful := max(1, min(size, tasks))
		all := newWorkloads(tasks, useful)
		var here atomic.Int64
		_ = executor.ParallelFor(useful*grain, func(int, int) { // it refuses no such loop
			worker := int(here.Add(1)) - 1
			if worker >= useful {
				return
			}
			for task, ok := all.next(worker); ok; task, ok = all.next(worker) {
				do(task)
			}
		})
	}}
}
