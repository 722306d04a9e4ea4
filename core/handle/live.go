package handle

import (
	"cmp"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Open describes a handle that is open.
type Open struct {
	Handle  Handle
	Kind    Kind
	Born    time.Duration // when it was put, as Now has it
	Where   string        // the place in the program that made it; "" unless places are kept
	Holding bool          // whether only a close lets go what it holds; see Holder
	inner   bool          // whether programs know nothing of it; see Insider
}

// Holder is what the objects of a table may also be. Holds reports whether an object that is left open keeps something
// that nothing but its close lets go, such as a communicator or an operation under way. It may be called at any time, also
// of an object that is being closed, with the table's lock held.
type Holder interface {
	Holds() bool
}

// Insider is what the objects of a table may also be. Inner reports whether an object is a part of what another handle
// stands for, so that a program knows nothing of it: Live does not list it. It may be called at any time, as Holds may.
type Insider interface {
	Inner() bool
}

// tables are all that there are, each as a function that appends its open handles.
var tables struct {
	mu   sync.Mutex
	list []func([]Open) []Open
}

// register makes Live ask a table.
func (t *Table[T]) register() {
	tables.mu.Lock()
	defer tables.mu.Unlock()
	tables.list = append(tables.list, t.appendOpen)
}

// Live returns the open handles of all tables that programs know of, the oldest first.
func Live() []Open {
	tables.mu.Lock()
	list := slices.Clone(tables.list)
	tables.mu.Unlock()
	var all []Open
	for _, appendOpen := range list {
		all = appendOpen(all)
	}
	all = slices.DeleteFunc(all, func(o Open) bool { return o.inner })
	slices.SortStableFunc(all, func(a, b Open) int { return cmp.Compare(a.Born, b.Born) })
	return all
}

// Handles returns the open handles, in no order.
func (t *Table[T]) Handles() []Handle {
	all := t.appendOpen(nil)
	handles := make([]Handle, len(all))
	for i, o := range all {
		handles[i] = o.Handle
	}
	return handles
}

// appendOpen appends the open handles. What it reads of a slot changes under the lock only.
func (t *Table[T]) appendOpen(all []Open) []Open {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range *t.slots.Load() {
		state := s.state.Load()
		if state&openFlag == 0 {
			continue
		}
		h := pack(t.kind, state>>stateBits, s.index)
		holder, ok := io.Closer(s.object).(Holder)
		insider, in := io.Closer(s.object).(Insider)
		all = append(all, Open{h, t.kind, s.born, s.where, ok && holder.Holds(), in && insider.Inner()})
	}
	return all
}

// places names the place in the program around that the calling goroutine serves, where places are kept.
var places atomic.Pointer[func() string]

// KeepPlaces has Put ask for the place of each handle from now on, and remember it; nil ends that.
func KeepPlaces(where func() string) {
	if where == nil {
		places.Store(nil)
		return
	}
	places.Store(&where)
}

// place returns the place to remember of a handle that is made now.
func place() string {
	if where := places.Load(); where != nil {
		return (*where)()
	}
	return ""
}

var start = time.Now()

// Now returns how long ago this package was loaded: the clock of handles.
func Now() time.Duration { return time.Since(start) }
