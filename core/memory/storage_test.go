package memory_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"dtl/core/memory"
	"dtl/core/status"
)

// counting hands out Go memory, and counts what comes back.
type counting struct {
	out, back atomic.Int64
	fails     bool
}

func (c *counting) Allocate(size, alignment int) (memory.Block, error) {
	if c.fails {
		return memory.Block{}, status.New(status.OutOfMemory, "%d bytes cannot be allocated", size)
	}
	c.out.Add(1)
	words := make([]uint64, size/8+1)
	return memory.Block{Addr: unsafe.Pointer(&words[0]), Size: size}, nil
}

func (c *counting) Deallocate(memory.Block) { c.back.Add(1) }

func TestStorageReturnsWithTheLastUser(t *testing.T) {
	from := &counting{}
	s, err := memory.NewStorage(from, 100, 64)
	if err != nil || s.Size() != 100 || s.Addr() == nil || s.Users() != 1 {
		t.Fatalf("%+v: %v", s, err)
	}
	for range 3 {
		if err := s.Retain(); err != nil {
			t.Fatal(err)
		}
	}
	for users := int64(3); users >= 0; users-- {
		if from.back.Load() != 0 {
			t.Fatalf("given back with %d users left", s.Users())
		}
		s.Release()
		if s.Users() != users {
			t.Errorf("%d users, want %d", s.Users(), users)
		}
	}
	if from.back.Load() != 1 {
		t.Errorf("given back %d times", from.back.Load())
	}
}

func TestRetainAfterTheLastRelease(t *testing.T) {
	s, err := memory.NewStorage(&counting{}, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	s.Release()
	if err := s.Retain(); !errors.Is(err, status.InvalidHandle) || s.Users() != 0 {
		t.Errorf("%v, %d users: want an invalid handle, and none", err, s.Users())
	}
}

func TestReleaseTooOftenPanics(t *testing.T) {
	from := &counting{}
	s, err := memory.NewStorage(from, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	s.Release()
	defer func() {
		if recover() == nil || from.back.Load() != 1 {
			t.Errorf("no panic, or given back %d times", from.back.Load())
		}
	}()
	s.Release()
}

func TestStorageThatCannotBeAllocated(t *testing.T) {
	s, err := memory.NewStorage(&counting{fails: true}, 1<<40, 64)
	if s != nil || !errors.Is(err, status.OutOfMemory) {
		t.Errorf("%v, %v", s, err)
	}
}

// TestUsersAtOnce lets goroutines come and go while the owner leaves: a Retain either succeeds before the
// memory goes back, or fails.
func TestUsersAtOnce(t *testing.T) {
	for range 200 {
		from := &counting{}
		s, err := memory.NewStorage(from, 8, 8)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for s.Retain() == nil {
					if from.back.Load() != 0 {
						t.Error("given back while in use")
					}
					s.Release()
					if s.Users() == 0 {
						return
					}
				}
			})
		}
		s.Release()
		all.Wait()
		if from.back.Load() != 1 || s.Users() != 0 {
			t.Fatalf("given back %d times, %d users", from.back.Load(), s.Users())
		}
	}
}
