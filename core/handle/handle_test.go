package handle

import (
	"errors"
	"math"
	"strings"
	"testing"

	"dtl/core/status"
)

// object counts how often it was closed.
type object struct {
	closes int
	err    error
}

func (o *object) Close() error {
	o.closes++
	return o.err
}

func wantInvalid(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, status.InvalidHandle) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want an invalid handle with %q", err, text)
	}
}

func TestAcquireGivesTheObjectThatWasPut(t *testing.T) {
	table := NewTable[*object](Container)
	var put []*object
	var handles []Handle
	for range 100 {
		o := &object{}
		put, handles = append(put, o), append(handles, table.Put(o))
	}
	for i, h := range handles {
		if h <= 0 {
			t.Fatalf("handle %d is not positive", h)
		}
		ref, err := table.Acquire(h)
		if err != nil || ref.Object != put[i] {
			t.Fatalf("handle %d of object %d: %v, %v", h, i, ref.Object, err)
		}
		if err := ref.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if table.Len() != 100 {
		t.Errorf("%d handles open, want 100", table.Len())
	}
}

func TestInvalidHandles(t *testing.T) {
	vectors, contexts := NewTable[*object](Container), NewTable[*object](Context)
	open := vectors.Put(&object{})
	closed := vectors.Put(&object{})
	if err := vectors.Close(closed); err != nil {
		t.Fatal(err)
	}
	reused := vectors.Put(&object{}) // in the slot of closed
	if reused.slot() != closed.slot() {
		t.Fatalf("slot %d was not used again", closed.slot())
	}
	rows := []struct {
		name string
		h    Handle
		text string
	}{
		{"zero", 0, "the container is closed"},
		{"negative", -1, "-1 is no container handle that was ever given out"},
		{"most negative", math.MinInt64, "was ever given out"},
		{"largest", math.MaxInt64, "was ever given out"},
		{"small number", 7, "7 is no container handle that was ever given out"},
		{"open handle with the sign bit", open | math.MinInt64, "was ever given out"},
		{"slot beyond the table", pack(Container, 1, 2), "was ever given out"},
		{"last slot", pack(Container, 1, lastSlot), "was ever given out"},
		{"generation zero", pack(Container, 0, open.slot()), "was ever given out"},
		{"generation to come", pack(Container, 2, open.slot()), "was ever given out"},
		{"kind that does not exist", pack(Kind(len(kinds)), 1, 0), "was ever given out"},
		{"another kind", contexts.Put(&object{}), "a context handle where a container is wanted"},
		{"another kind with a vowel", pack(Environment, 1, 0), "an environment handle where a container is wanted"},
		{"closed, slot in use again", closed, "is closed"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			ref, err := vectors.Acquire(row.h)
			wantInvalid(t, err, row.text)
			if err := ref.Release(); err != nil {
				t.Errorf("releasing what a failed Acquire returned: %v", err)
			}
			wantInvalid(t, vectors.Close(row.h), row.text)
		})
	}
	if vectors.Len() != 2 {
		t.Errorf("%d handles open, want 2", vectors.Len())
	}
}

func TestCloseIsOnce(t *testing.T) {
	table := NewTable[*object](Context)
	failure := errors.New("the object's own")
	o := &object{err: failure}
	h := table.Put(o)
	if err := table.Close(h); err != failure {
		t.Errorf("Close returned %v, want the object's error", err)
	}
	wantInvalid(t, table.Close(h), "context handle")
	wantInvalid(t, table.Close(h), "is closed")
	if o.closes != 1 || table.Len() != 0 {
		t.Errorf("closed %d times, %d open; want 1 and 0", o.closes, table.Len())
	}
	if (*table.slots.Load())[0].object != nil {
		t.Error("the table keeps a closed object from the garbage collector")
	}
}

func TestCloseInFlight(t *testing.T) {
	table := NewTable[*object](Context)
	failure := errors.New("the object's own")
	o := &object{err: failure}
	h := table.Put(o)
	first, _ := table.Acquire(h)
	second, _ := table.Acquire(h)
	if err := table.Close(h); err != nil || o.closes != 0 {
		t.Fatalf("Close with users: %v, object closed %d times", err, o.closes)
	}
	_, err := table.Acquire(h)
	wantInvalid(t, err, "is closed")
	if other := table.Put(&object{}); other.slot() == h.slot() {
		t.Error("the slot was given out while its object is in use")
	}
	if err := first.Release(); err != nil || o.closes != 0 {
		t.Fatalf("Release before the last: %v, object closed %d times", err, o.closes)
	}
	if err := first.Release(); err != nil || o.closes != 0 {
		t.Fatalf("second Release of one Ref: %v, object closed %d times", err, o.closes)
	}
	if err := second.Release(); err != failure || o.closes != 1 {
		t.Fatalf("last Release: %v, object closed %d times", err, o.closes)
	}
}

func TestSlotReuseChangesTheGeneration(t *testing.T) {
	table := NewTable[*object](Container)
	seen := map[Handle]bool{}
	for range 1000 {
		h := table.Put(&object{})
		if seen[h] || h.slot() != 0 {
			t.Fatalf("handle %d (slot %d) given out twice, or the slot not used again", h, h.slot())
		}
		seen[h] = true
		if err := table.Close(h); err != nil {
			t.Fatal(err)
		}
	}
	for h := range seen {
		_, err := table.Acquire(h)
		wantInvalid(t, err, "is closed")
	}
}

func TestGenerationsRunOut(t *testing.T) {
	table := NewTable[*object](Container)
	if err := table.Close(table.Put(&object{})); err != nil {
		t.Fatal(err)
	}
	(*table.slots.Load())[0].state.Store((lastGeneration - 1) << stateBits) // as after so many uses
	last := table.Put(&object{})
	if last.slot() != 0 || last.generation() != lastGeneration || last.kind() != Container || last <= 0 {
		t.Fatalf("handle %#x is not the last of slot 0", int64(last))
	}
	if err := table.Close(last); err != nil {
		t.Fatal(err)
	}
	next := table.Put(&object{})
	if next.slot() != 1 || next.generation() != 1 {
		t.Errorf("slot %d, generation %d after slot 0 was retired", next.slot(), next.generation())
	}
	_, err := table.Acquire(last)
	wantInvalid(t, err, "is closed")
}

func TestLeakedUsesPanicBeforeTheyOverflow(t *testing.T) {
	table := NewTable[*object](Container)
	h := table.Put(&object{})
	(*table.slots.Load())[0].state.Store(opened(1) + userMask - 1)
	defer func() {
		if recover() == nil {
			t.Error("no panic at the most uses that a slot can count")
		}
	}()
	_, _ = table.Acquire(h)
}

func TestKinds(t *testing.T) {
	for k, want := range map[Kind]string{Environment: "environment", Context: "context", Container: "container", 0: "unknown", 200: "unknown"} {
		if k.String() != want {
			t.Errorf("kind %d is %q, want %q", k, k, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("NewTable took a kind that does not exist")
		}
	}()
	NewTable[*object](Kind(len(kinds)))
}

func TestAcquireAllocatesNothing(t *testing.T) {
	table := NewTable[*object](Container)
	h := table.Put(&object{})
	if n := testing.AllocsPerRun(1000, func() {
		ref, _ := table.Acquire(h)
		defer ref.Release()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzAcquire(f *testing.F) {
	table := NewTable[*object](Context)
	open := map[Handle]bool{}
	for i := range 64 {
		h := table.Put(&object{})
		open[h] = true
		if i%3 == 0 {
			delete(open, h)
			_ = table.Close(h)
		}
		f.Add(int64(h))
		f.Add(int64(h) + 1<<slotBits)
	}
	f.Add(int64(0))
	f.Add(int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, n int64) {
		ref, err := table.Acquire(Handle(n))
		if (err == nil) != open[Handle(n)] {
			t.Fatalf("Acquire(%d): %v; open: %v", n, err, open[Handle(n)])
		}
		if err != nil && !errors.Is(err, status.InvalidHandle) {
			t.Fatalf("Acquire(%d): %v", n, err)
		}
		_ = ref.Release()
	})
}

func BenchmarkAcquireRelease(b *testing.B) {
	table := NewTable[*object](Context)
	h := table.Put(&object{})
	b.ReportAllocs()
	for b.Loop() {
		ref, _ := table.Acquire(h)
		_ = ref.Release()
	}
}

func BenchmarkPutClose(b *testing.B) {
	table := NewTable[*object](Context)
	o := &object{}
	b.ReportAllocs()
	for b.Loop() {
		_ = table.Close(table.Put(o))
	}
}

func TestEndTellsWhatClosingReturned(t *testing.T) {
	table := NewTable[*object](Container)
	closing := errors.New("closing failed")
	for _, row := range []struct {
		name         string
		before, want error
	}{
		{"nothing failed before", nil, closing},
		{"the first error stays", errors.ErrUnsupported, errors.ErrUnsupported},
	} {
		h := table.Put(&object{err: closing})
		ref, err := table.Acquire(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.Close(h); err != nil {
			t.Fatal(err)
		}
		got := row.before
		if ref.End(&got); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}
