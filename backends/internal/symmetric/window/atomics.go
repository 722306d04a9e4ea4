package window

import (
	"unsafe"

	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/kernel/reduce"
	"dtl/core/memory"
)

// The library has few atomic operations, here of words of 8 bytes. An element is always changed in the same way, whichever
// operation it is, so that all operations on it are atomic among themselves: one that lies in a word by a compare and swap
// of the word, with which the library's own sums and swaps go together; any other under a lock.

// word is the size of what is atomic, in bytes.
const word = 8

// update combines elements in symmetric memory. The caller holds the engine's lock.
func (w *Window) update(from, into memory.Span, target, offset int, op kernel.Op) error {
	n, size := max(from.Count, into.Count), from.Type.Size()
	for i := range n {
		var one, was memory.Span
		if from.Count > 0 {
			one = from.Slice(i, i+1)
		}
		if into.Count > 0 {
			was = into.Slice(i, i+1)
		}
		if err := w.updateOne(one, was, target, offset+i*size, op); err != nil {
			return err
		}
	}
	return nil
}

func (w *Window) updateOne(from, into memory.Span, target, offset int, op kernel.Op) error {
	at, e, there := w.parts[target].at+offset, w.active.engine, w.group.Process(target)
	if max(into.Bytes(), from.Bytes()) == word && at%word == 0 {
		switch {
		case op == kernel.NoOp:
			store(into, e.Fetch(there, at))
			return nil
		case op == kernel.Replace:
			store(into, e.Swap(there, at, *(*uint64)(from.Addr)))
			return nil
		case op == kernel.Sum && (from.Type == dtype.Int64 || from.Type == dtype.Uint64):
			store(into, e.Add(there, at, *(*uint64)(from.Addr)))
			return nil
		}
	}
	t := from.Type
	if from.Count == 0 {
		t = into.Type
	}
	if into.Count == 0 {
		into = w.element(0, t)
	}
	next := w.element(1, t)
	return w.change(into, target, offset, func(was memory.Span) (memory.Span, error) {
		memory.Copy(next, was)
		return next, reduce.Update(next, from, op)
	})
}

// element returns one of two rooms for an element.
func (w *Window) element(which int, t dtype.Type) memory.Span {
	return memory.Span{Addr: unsafe.Pointer(&w.elements[which]), Count: 1, Type: t}
}

// change replaces an element by what to makes of it, and puts the one that was there into into. The caller holds the
// engine's lock.
func (w *Window) change(into memory.Span, target, offset int, to func(was memory.Span) (memory.Span, error)) error {
	at, size := w.parts[target].at+offset, into.Type.Size()
	if size > word || at%size != 0 {
		return w.locked(target, func() error { return w.exchange(into, target, at, to) })
	}
	e, there := w.active.engine, w.group.Process(target)
	inside, first := at%word, at-at%word
	for is := e.Fetch(there, first); ; {
		var bits [word]byte
		*(*uint64)(unsafe.Pointer(&bits[0])) = is
		copy(memory.As[byte](into.Raw()), bits[inside:])
		next, err := to(into)
		if err != nil {
			return err
		}
		copy(bits[inside:inside+size], memory.As[byte](next.Raw()))
		found := e.CompareSwap(there, first, is, *(*uint64)(unsafe.Pointer(&bits[0])))
		if found == is {
			return nil
		}
		is = found
	}
}

// exchange does what change does, by a get and a put.
func (w *Window) exchange(into memory.Span, target, at int, to func(was memory.Span) (memory.Span, error)) error {
	e, there := w.active.engine, w.group.Process(target)
	e.Get(there, at, into.Addr, into.Bytes())
	next, err := to(into)
	if err != nil {
		return err
	}
	e.Put(there, at, next.Addr, next.Bytes())
	e.Quiet()
	return nil
}

// locked calls f while no other process does towards the same target. The caller holds the engine's lock, and does not
// while it waits: the process that has the target's may be stopped, and others must get on.
func (w *Window) locked(target int, f func() error) error {
	e, there, lock := w.active.engine, w.group.Process(target), w.parts[target].lock
	for look := 0; e.CompareSwap(there, lock, 0, 1) != 0; look++ {
		e.Advance()
		e.Progress()
		e.Unlock()
		e.Pause(look)
		e.Lock()
	}
	defer e.Swap(there, lock, 0)
	return f()
}

// store writes the bits of a span's only element, if there is one.
func store(s memory.Span, bits uint64) {
	if s.Count > 0 {
		*(*uint64)(s.Addr) = bits
	}
}
