package algorithm

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTasksAreDoneOnce also has workers that never come, and fewer tasks than workers.
func TestTasksAreDoneOnce(t *testing.T) {
	for _, tasks := range []int{0, 1, 2, 3, 7, 61, 5000} {
		for workers := 1; workers <= 5; workers++ {
			for here := 1; here <= workers; here++ {
				all, done := newWorkloads(tasks, workers), make([]atomic.Int64, tasks)
				var some sync.WaitGroup
				for w := range here {
					some.Go(func() {
						for task, ok := all.next(w); ok; task, ok = all.next(w) {
							done[task].Add(1)
						}
					})
				}
				some.Wait()
				for task := range done {
					assert.EqualValues(t, 1, done[task].Load(), "task %d of %d, %d of %d workers", task, tasks, here, workers)
				}
			}
		}
	}
}

// TestOneWorkerBegins has a worker go through its own tasks from front to back, and through another's from the back.
func TestOneWorkerBegins(t *testing.T) {
	all, order := newWorkloads(6, 2), []int(nil)
	for task, ok := all.next(1); ok; task, ok = all.next(1) {
		order = append(order, task)
	}
	assert.Equal(t, []int{3, 4, 5, 2, 1, 0}, order)
}
