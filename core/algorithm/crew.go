package algorithm

import (
	"sync/atomic"

	"dtl/core/backend"
	"dtl/core/kernel"
)

// grain is the number of indices for which an executor surely starts one more goroutine.
const grain = 4096

// crew returns at most so many of the executor's workers; for one, that is the caller alone.
func crew(threads int64) kernel.Crew {
	if threads <= 1 {
		return kernel.Crew{}
	}
	p, err := backend.As[backend.ExecutorProvider](backend.Local)
	if err != nil {
		return kernel.Crew{}
	}
	executor := p.Executor()
	size := int(min(threads, int64(executor.MaxParallelism())))
	return kernel.Crew{Size: size, Run: func(tasks int, do func(task int)) {
		var next, here atomic.Int64
		_ = executor.ParallelFor(executor.MaxParallelism()*grain, func(int, int) { // it refuses no such loop
			if here.Add(1) > int64(size) {
				return
			}
			for task := int(next.Add(1)) - 1; task < tasks; task = int(next.Add(1)) - 1 {
				do(task)
			}
		})
	}}
}
