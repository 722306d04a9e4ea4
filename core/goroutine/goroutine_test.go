package goroutine_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"dtl/core/goroutine"
)

// grow moves the stack of the goroutine that calls it.
func grow(depth int) int {
	var room [512]int
	if depth == 0 {
		return len(room)
	}
	room[depth] = grow(depth - 1)
	return room[depth]
}

func TestGoroutinesHaveNumbersOfTheirOwn(t *testing.T) {
	const n = 16
	numbers := make([]uint64, n)
	var all, started sync.WaitGroup
	started.Add(n)
	for i := range n {
		all.Go(func() {
			numbers[i] = goroutine.ID()
			started.Done()
			started.Wait() // all are there at once
			for range 100 {
				runtime.Gosched()
			}
			grow(100)
			assert.Equal(t, numbers[i], goroutine.ID())
		})
	}
	all.Wait()
	seen := map[uint64]bool{}
	for _, number := range numbers {
		assert.Greater(t, number, uint64(1))
		seen[number] = true
	}
	assert.Len(t, seen, n)
}
