package comm

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"dtl/core/backend"
	"dtl/core/comm/agreement"
	"dtl/core/progress"
	"dtl/core/watchdog"
)

// until waits for what another goroutine does.
func until(yes func() bool) {
	for !yes() {
		runtime.Gosched()
	}
}

// native is a request of a library that C could ask, which forgets it when it is complete.
type native struct {
	backend.Request
	tests  atomic.Int32 // after which it is complete
	number uint64
	over   atomic.Bool
}

func (n *native) Test() (backend.Status, bool, error) {
	if n.tests.Add(-1) < 0 {
		n.over.Store(true)
	}
	return backend.Status{}, n.over.Load(), nil
}

func (n *native) Native() (number uint64, peek uintptr) {
	if n.over.Load() {
		return 0, 0
	}
	return n.number, 1
}

// stages waits for one after the other.
type stages struct {
	backendTask
	left []*native
}

func (s *stages) begin() (backend.Request, error) { return s.next(backend.Status{}, nil) }

func (s *stages) next(backend.Status, error) (backend.Request, error) {
	if len(s.left) == 0 {
		return nil, nil
	}
	n := s.left[0]
	s.left = s.left[1:]
	return n, nil
}

func staged(t *testing.T, tests ...int32) (*Request, []*native) {
	task := &stages{}
	for i, n := range tests {
		task.left = append(task.left, &native{number: uint64(i + 1)})
		task.left[i].tests.Store(n)
	}
	all := task.left
	r, err := (&Comm{group: watchdog.NewGroup(0, 1, false, nil)}).begin("staged", task, agreement.Start{})
	if err != nil {
		t.Fatal(err)
	}
	return r, all
}

func TestPeekShowsWhatIsWaitedFor(t *testing.T) {
	r, _ := staged(t, 1, 2)
	s := (*requestPeek)(r.OpenPeek(7))
	if s == nil || s.owner != 7 || s.native != 1 || s.test != 1 || s.turn != 0 {
		t.Fatalf("opened %+v", s)
	}
	for i, want := range []uint64{1, 2, 2, 0} {
		if over := r.Test(); s.native != want || over != (want == 0) {
			t.Errorf("test %d: %d waited for, over: %v", i, s.native, over)
		}
	}
	if again := (*requestPeek)(r.OpenPeek(7)); again != s {
		t.Error("opened another")
	}
	if _, err := r.Wait(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil || s.owner != 0 || s.native != 0 || s.turn != 0 {
		t.Errorf("closed with %v: %+v", err, s)
	}
	if r.OpenPeek(7) != nil {
		t.Error("opened after the end")
	}
}

func TestPeekIsRefused(t *testing.T) {
	r, _ := staged(t, 1)
	r.comm.engine.Mode = progress.ByCalls
	if r.OpenPeek(7) != nil {
		t.Error("where every call goes on with others")
	}
	r.comm.engine.Mode = progress.ByWaiting
	r.waiters.Add(1)
	r.lock()
	if r.OpenPeek(7) != nil {
		t.Error("while somebody waits")
	}
	r.unlock()
}

// TestPeekIsNotUsedMeanwhile has goroutines look as C does, beside some that test: what they see is not forgotten.
func TestPeekIsNotUsedMeanwhile(t *testing.T) {
	r, all := staged(t, 2000, 0, 2000)
	s := (*requestPeek)(r.OpenPeek(7))
	var looking sync.WaitGroup
	for range 2 {
		looking.Go(func() {
			for !r.Test() {
			}
		})
		looking.Go(func() {
			for atomic.LoadInt64(&s.owner) == 7 {
				if !atomic.CompareAndSwapUint32(&s.turn, 0, 1) {
					continue
				}
				if n := s.native; n != 0 && all[n-1].over.Load() {
					t.Errorf("%d is over", n)
				}
				s.leave()
			}
		})
	}
	until(r.Test)
	if _, err := r.Wait(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	looking.Wait()
}
