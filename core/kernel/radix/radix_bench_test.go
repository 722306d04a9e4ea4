package radix

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/memory"
)

// testWorkers is so many goroutines.
func testWorkers(n int) Workers {
	return Workers{Size: n, Run: func(tasks int, do func(int)) {
		var next atomic.Int64
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				for t := int(next.Add(1)) - 1; t < tasks; t = int(next.Add(1)) - 1 {
					do(t)
				}
			})
		}
		wg.Wait()
	}}
}

// huge returns memory on huge pages, as a container's is.
func huge[T any](n int) []T {
	var zero T
	at, err := syscall.Mmap(-1, 0, n*int(unsafe.Sizeof(zero)), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	_ = syscall.Madvise(at, 14)
	return unsafe.Slice((*T)(unsafe.Pointer(&at[0])), n)
}

func BenchmarkRadix(b *testing.B) {
	const n = 8_000_000
	given, a, tmp := huge[uint64](n), huge[uint64](n), huge[uint64](n)
	o := NewOrder(1, false)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range given {
		given[i] = o.key(math.Float64bits(r.NormFloat64()))
	}
	for _, workers := range []Workers{{}, testWorkers(2)} {
		b.Run("keys", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				copy(a, given)
				b.StartTimer()
				radix(a, tmp, workers)
			}
		})
	}
	pg, pa, pt := huge[[2]uint64](n), huge[[2]uint64](n), huge[[2]uint64](n)
	for i := range pg {
		pg[i] = [2]uint64{given[i], uint64(i)}
	}
	for _, workers := range []Workers{{}, testWorkers(2)} {
		b.Run("pairs", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				copy(pa, pg)
				b.StartTimer()
				radix(pa, pt, workers)
			}
		})
	}
}

func BenchmarkSortFloats(b *testing.B) {
	const n = 8_000_000
	given, a, tmp := huge[float64](n), huge[float64](n), huge[float64](n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range given {
		given[i] = r.NormFloat64()
	}
	for _, workers := range []Workers{{}, testWorkers(2)} {
		b.Run("floats", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				copy(a, given)
				b.StartTimer()
				Sort(memory.Of(dtype.Float64, a), memory.Of(dtype.Float64, tmp), NewOrder(dtype.Float64, false), workers)
			}
		})
	}
}
