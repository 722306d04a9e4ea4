package handle

import (
	"io"
	"sync"
	"sync/atomic"
)

// Table maps the handles of one kind to objects. It owns the objects: each is closed once, when its handle is
// closed and its last user has released it. All methods may be called at once from any goroutine.
type Table[T io.Closer] struct {
	kind  Kind
	open  atomic.Int64
	slots atomic.Pointer[[]*slot[T]] // grows only: a reader's slice stays right

	mu   sync.Mutex // of growing, of free, and of what the slots hold
	free []*slot[T]
}

// NewTable returns an empty table of the given kind, whose handles Live lists. It panics if there is no such kind.
func NewTable[T io.Closer](k Kind) *Table[T] {
	if !k.valid() {
		panic("handle: NewTable of an unknown kind")
	}
	t := &Table[T]{kind: k}
	t.slots.Store(new([]*slot[T]))
	t.register()
	return t
}

// Put takes ownership of an object and returns its handle, which differs from every earlier one.
func (t *Table[T]) Put(object T) Handle {
	born, where := Now(), place()
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.vacant()
	generation := s.state.Load()>>stateBits + 1
	s.object, s.born, s.where = object, born, where
	s.state.Store(opened(generation))
	t.open.Add(1)
	return pack(t.kind, generation, s.index)
}

// vacant returns a slot that nobody uses. The caller holds mu.
func (t *Table[T]) vacant() *slot[T] {
	if n := len(t.free); n > 0 {
		s := t.free[n-1]
		t.free = t.free[:n-1]
		return s
	}
	slots := *t.slots.Load()
	if len(slots) > lastSlot {
		panic("handle: out of slots")
	}
	s := &slot[T]{table: t, index: uint64(len(slots))}
	slots = append(slots, s)
	t.slots.Store(&slots)
	return s
}

// recycle empties a slot and makes it available to Put, unless its generations have run out.
func (t *Table[T]) recycle(s *slot[T]) T {
	var none T
	t.mu.Lock()
	defer t.mu.Unlock()
	object := s.object
	s.object = none
	if s.state.Load()>>stateBits < lastGeneration {
		t.free = append(t.free, s)
	}
	return object
}

// Acquire returns a use of the object that h names, which the caller releases. Until then the object is not
// closed, whatever happens to the handle. The error is status.InvalidHandle, and says whether h is of another
// kind, closed, or was never given out. It allocates nothing on success.
func (t *Table[T]) Acquire(h Handle) (Ref[T], error) {
	if s := t.find(h); s != nil && s.enter(h.generation()) {
		return Ref[T]{Object: s.object, slot: s}, nil
	}
	return Ref[T]{}, t.invalid(h)
}

// Close makes h invalid at once. If nobody uses its object, the object is closed and its error returned; else
// that falls to the last Release. Errors of the handle itself are Acquire's.
func (t *Table[T]) Close(h Handle) error {
	s := t.find(h)
	if s == nil {
		return t.invalid(h)
	}
	ok, last := s.shut(h.generation())
	if !ok {
		return t.invalid(h)
	}
	t.open.Add(-1)
	if last {
		return s.vacate()
	}
	return nil
}

// Len returns the number of open handles.
func (t *Table[T]) Len() int { return int(t.open.Load()) }

// find returns the slot that h points at, or nil if no such handle can exist.
func (t *Table[T]) find(h Handle) *slot[T] {
	slots := *t.slots.Load()
	if h.kind() != t.kind || h.slot() >= uint64(len(slots)) {
		return nil
	}
	return slots[h.slot()]
}

// invalid says why h names nothing here.
func (t *Table[T]) invalid(h Handle) error {
	if h == 0 {
		return nothing(t.kind)
	}
	if h.kind().valid() && h.kind() != t.kind {
		return wrongKind(h, t.kind)
	}
	s := t.find(h)
	if s == nil || h.generation() == 0 || h.generation() > s.state.Load()>>stateBits {
		return neverGivenOut(h, t.kind)
	}
	return isClosed(h, t.kind)
}

// Ref is one use of an object. The zero Ref is none.
type Ref[T io.Closer] struct {
	Object T
	slot   *slot[T]
}

// End is Release for a defer: its error becomes *err unless there is one.
func (r *Ref[T]) End(err *error) {
	if e := r.Release(); *err == nil {
		*err = e
	}
}

// Release ends the use; Object must not be touched afterwards. If the handle was closed meanwhile and this was
// the last use, the object is closed here and its error returned. A second Release of the same variable, or of
// the zero Ref, does nothing. A copy of a Ref is not a use of its own.
func (r *Ref[T]) Release() error {
	s := r.slot
	if s == nil {
		return nil
	}
	r.slot = nil
	return s.leave()
}
