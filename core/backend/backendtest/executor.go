package backendtest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"dtl/core/backend"
	"dtl/core/status"
)

// Executor checks an executor that divides loops. Nobody else may use it meanwhile.
func Executor(t *testing.T, exec backend.ParallelExecutor) {
	if exec.Name() == "" {
		t.Error("no name")
	}
	if n := exec.MaxParallelism(); n < 1 {
		t.Errorf("parallelism %d, want at least 1", n)
	}
	if n := exec.SuggestedParallelism(); n < 1 || n > exec.MaxParallelism() {
		t.Errorf("suggested parallelism %d outside [1, %d]", n, exec.MaxParallelism())
	}
	for name, body := range map[string]func(*testing.T, backend.ParallelExecutor){
		"ranges cover each index once": coverOnce,
		"returns when all have":        returnsLast,
		"loops in loops":               nested,
		"panic of a body":              panicked,
		"loops at once":                loopsAtOnce,
		"not too many bodies":          bounded,
		"bad arguments":                badLoops,
		"execute and synchronize":      executed,
	} {
		t.Run(name, func(t *testing.T) { body(t, exec) })
	}
}

func coverOnce(t *testing.T, exec backend.ParallelExecutor) {
	for _, n := range []int{0, 1, 2, 7, 1023, 4096, 100_003} {
		visits := make([]atomic.Int32, n)
		err := exec.ParallelFor(n, func(lo, hi int) {
			if lo >= hi {
				t.Errorf("n=%d: range [%d, %d)", n, lo, hi)
			}
			for i := lo; i < hi; i++ {
				visits[i].Add(1)
			}
		})
		if err != nil {
			t.Errorf("n=%d: %v", n, err)
		}
		for i := range visits {
			if v := visits[i].Load(); v != 1 {
				t.Fatalf("n=%d: index %d visited %d times", n, i, v)
			}
		}
	}
}

// returnsLast makes one body slow; now and then it is not the caller's.
func returnsLast(t *testing.T, exec backend.ParallelExecutor) {
	const n = 10_000
	for i := range 100 {
		var ended atomic.Int64
		err := exec.ParallelFor(n, func(lo, hi int) {
			for range 20 { // so that the others get their turn
				runtime.Gosched()
			}
			if hi == n {
				for range 2000 {
					runtime.Gosched()
				}
			}
			ended.Add(int64(hi - lo))
		})
		if err != nil || ended.Load() != n {
			t.Fatalf("loop %d returned after %d of %d indices: %v", i, ended.Load(), n, err)
		}
	}
}

func nested(t *testing.T, exec backend.ParallelExecutor) {
	const n = 20_000
	var sum atomic.Int64
	var loops atomic.Int64
	err := exec.ParallelFor(n, func(lo, hi int) {
		loops.Add(1)
		if err := exec.ParallelFor(n, func(lo, hi int) {
			if err := exec.ParallelFor(hi-lo, func(lo, hi int) { sum.Add(int64(hi - lo)) }); err != nil {
				t.Error(err)
			}
		}); err != nil {
			t.Error(err)
		}
	})
	if want := n * loops.Load(); err != nil || sum.Load() != want {
		t.Errorf("%d indices, want %d; %v", sum.Load(), want, err)
	}
}

func panicked(t *testing.T, exec backend.ParallelExecutor) {
	cause := errors.New("the body's own value")
	for _, n := range []int{1, 100_000} {
		var running atomic.Int32
		func() {
			defer func() {
				if v := recover(); v != any(cause) {
					t.Errorf("n=%d: recovered %v, want %v", n, v, cause)
				}
				if still := running.Load(); still != 0 {
					t.Errorf("n=%d: %d bodies run on", n, still)
				}
			}()
			err := exec.ParallelFor(n, func(lo, hi int) {
				running.Add(1)
				defer running.Add(-1)
				if hi == n {
					panic(cause)
				}
			})
			t.Errorf("n=%d: ParallelFor returned %v", n, err)
		}()
	}
	coverOnce(t, exec) // and it still works
}

func loopsAtOnce(t *testing.T, exec backend.ParallelExecutor) {
	var all sync.WaitGroup
	var sum atomic.Int64
	const loops, n = 20, 50_000
	for range loops {
		all.Go(func() {
			if err := exec.ParallelFor(n, func(lo, hi int) { sum.Add(int64(hi - lo)) }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if sum.Load() != loops*n {
		t.Errorf("%d indices, want %d", sum.Load(), loops*n)
	}
}

func bounded(t *testing.T, exec backend.ParallelExecutor) {
	var now, most atomic.Int64
	err := exec.ParallelFor(200_000, func(lo, hi int) {
		at := now.Add(1)
		defer now.Add(-1)
		for seen := most.Load(); at > seen && !most.CompareAndSwap(seen, at); seen = most.Load() {
		}
	})
	if limit := int64(exec.MaxParallelism()); err != nil || most.Load() > limit {
		t.Errorf("%d bodies at once, want at most %d; %v", most.Load(), limit, err)
	}
}

func badLoops(t *testing.T, exec backend.ParallelExecutor) {
	if err := exec.ParallelFor(-1, func(lo, hi int) { t.Error("called") }); !errors.Is(err, status.InvalidArgument) {
		t.Errorf("n=-1: %v, want invalid argument", err)
	}
	if err := exec.ParallelFor(5, nil); !errors.Is(err, status.InvalidArgument) {
		t.Errorf("no body: %v, want invalid argument", err)
	}
	if err := exec.Execute(nil); !errors.Is(err, status.InvalidArgument) {
		t.Errorf("no function: %v, want invalid argument", err)
	}
}

func executed(t *testing.T, exec backend.ParallelExecutor) {
	if err := exec.Synchronize(); err != nil {
		t.Errorf("nothing was started: %v", err)
	}
	var done atomic.Int32
	for range 50 {
		if err := exec.Execute(func() { done.Add(1) }); err != nil {
			t.Error(err)
		}
	}
	if err := exec.Synchronize(); err != nil || done.Load() != 50 {
		t.Errorf("%d of 50 ended: %v", done.Load(), err)
	}
	if err := exec.Execute(func() { panic("of the function") }); err != nil {
		t.Error(err)
	}
	if err := exec.Synchronize(); err == nil {
		t.Error("a panic was not reported")
	}
	if err := exec.Synchronize(); err != nil {
		t.Errorf("a panic was reported twice: %v", err)
	}
}
