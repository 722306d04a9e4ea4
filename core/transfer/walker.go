package transfer

import (
	"unsafe"

	"dtl/core/kernel/move"
	"dtl/core/memory"
)

// walker goes through a pair's stream and says where it lies in memory.
type walker struct {
	axes []axis // the dimensions that are kept, the last fastest
	unit int64
	off  int64    // bytes of the present unit that have passed
	at   [2]int64 // where the present index of all axes but the last lies
	base [2]int64
	put  Combine // writes to the destination; nil copies
	seen reached
}

// reached counts how many bytes of memory the system has mapped about for a walk since pages could be given back.
type reached struct {
	end   [2]int64 // of the last stretch
	bytes int64
}

// mapped is about how many bytes the system maps where a page of a file is touched.
const mapped = 128 << 10

// pass counts a stretch that was copied, with what lies between it and the one before, and lets pages be given back.
func (r *reached) pass(s stretch) {
	var most int64
	for side, end := range r.end {
		within := s.stride[side] * (s.count - 1)
		most = max(most, min(abs(s.at[side]-end), mapped)+abs(within)+s.unit)
		r.end[side] = s.at[side] + within + s.unit
	}
	if r.bytes += most; r.bytes >= memory.Piece {
		r.bytes = 0
		memory.Ease()
	}
}

// write writes units to the destination.
func (w *walker) write(dst unsafe.Pointer, dstStride int, src unsafe.Pointer, srcStride, count, size int) {
	if w.put == nil {
		move.CopyStrided(dst, dstStride, src, srcStride, count, size)
	} else {
		w.put(dst, dstStride, src, srcStride, count, size)
	}
}

// axis is a dimension as the walker goes along it.
type axis struct {
	lazy   *intersection // of the first dimension, which can have as many pieces as elements, and is walked once
	list   []piece       // of the others
	next   int           // in list
	stride [2]int64
	now    piece
	done   int64    // indices of now that have passed
	at     [2]int64 // where the present one lies
}

// walk starts at the beginning of the stream. strides are those of both sides' memory; of a side that is not asked
// for, nil.
func (q *pair) walk(g grain, strides [2][]int64) *walker {
	w := &walker{axes: make([]axis, g.kept), unit: g.unit, base: g.base, at: g.base}
	for d := range w.axes {
		a := &w.axes[d]
		for s, side := range strides {
			if side != nil {
				a.stride[s] = side[d]
			}
		}
		m := q.plan.dims[d].intersection(q.coordinates(d))
		if d == 0 {
			a.lazy = m
			m.cycle.wide = d == g.kept-1 && a.follows(g.unit, strides)
		} else {
			a.list = m.all()
		}
		a.load()
	}
	w.place()
	return w
}

// follows reports whether neighbours along the axis are a unit apart.
func (a *axis) follows(unit int64, strides [2][]int64) bool {
	for s, side := range strides {
		if side != nil && a.stride[s] != unit {
			return false
		}
	}
	return true
}

// load goes on to the next piece.
func (a *axis) load() bool {
	ok := false
	if a.lazy != nil {
		ok = a.lazy.next(&a.now)
	} else if ok = a.next < len(a.list); ok {
		a.now = a.list[a.next]
		a.next++
	}
	a.done = 0
	a.at[0], a.at[1] = a.now.local[0]*a.stride[0], a.now.local[1]*a.stride[1]
	return ok
}

// advance goes n indices on, at most to the end of the piece and from there to the next.
func (a *axis) advance(n int64) bool {
	a.done += n
	if a.done == a.now.count {
		return a.load()
	}
	a.at[0] += n * a.now.step[0] * a.stride[0]
	a.at[1] += n * a.now.step[1] * a.stride[1]
	return true
}

// place works out where all axes but the last stand.
func (w *walker) place() {
	w.at = w.base
	for d := range len(w.axes) - 1 {
		for s := range w.at {
			w.at[s] += w.axes[d].at[s]
		}
	}
}

// advance goes n units on.
func (w *walker) advance(n int64) {
	last := len(w.axes) - 1
	if last < 0 || w.axes[last].advance(n) {
		return
	}
	for d := last - 1; d >= 0; d-- {
		if w.axes[d].advance(1) {
			for inner := d + 1; inner <= last; inner++ {
				w.axes[inner].next = 0
				w.axes[inner].load()
			}
			w.place()
			return
		}
	}
}

// stretch is count units of the stream, each unit bytes, a stride apart on each side.
type stretch struct {
	at, stride  [2]int64
	unit, count int64
}

// next returns what comes next and can be said at once, at most limit bytes of it, and goes past it.
func (w *walker) next(limit int64) stretch {
	s := stretch{at: [2]int64{w.at[0] + w.off, w.at[1] + w.off}, count: 1}
	unit, last := w.unit, len(w.axes)-1
	if last >= 0 {
		a := &w.axes[last]
		s.at[0] += a.at[0]
		s.at[1] += a.at[1]
		unit *= a.now.width
		if w.off == 0 && limit >= unit {
			s.unit, s.count = unit, a.now.count-a.done
			if s.count*unit > limit {
				s.count = limit / unit
			}
			s.stride = [2]int64{a.now.step[0] * a.stride[0], a.now.step[1] * a.stride[1]}
			w.advance(s.count)
			return s
		}
	}
	s.unit = min(unit-w.off, limit)
	if w.off += s.unit; w.off == unit {
		w.off = 0
		w.advance(1)
	}
	return s
}

// side returns how many bytes from here on lie side by side on both sides.
func (w *walker) side() int64 {
	unit, last := w.unit, len(w.axes)-1
	if last >= 0 {
		a := &w.axes[last]
		unit *= a.now.width
		if a.now.step[0]*a.stride[0] == unit && a.now.step[1]*a.stride[1] == unit {
			return (a.now.count-a.done)*unit - w.off
		}
	}
	return unit - w.off
}

// skip goes past n bytes and returns where they began.
func (w *walker) skip(n int64) [2]int64 {
	var begin [2]int64
	for passed := int64(0); passed < n; {
		s := w.next(n - passed)
		if passed == 0 {
			begin = s.at
		}
		passed += s.unit * s.count
	}
	return begin
}

// pack copies the next n bytes of the stream from the source's memory to buffer.
func (w *walker) pack(buffer, memory unsafe.Pointer, n int64) {
	for at := int64(0); at < n; {
		s := w.next(n - at)
		move.CopyStrided(unsafe.Add(buffer, at), int(s.unit),
			unsafe.Add(memory, s.at[0]), int(s.stride[0]), int(s.count), int(s.unit))
		w.seen.pass(s)
		at += s.unit * s.count
	}
}

// unpack copies the next n bytes of the stream from buffer to the destination's memory.
func (w *walker) unpack(memory, buffer unsafe.Pointer, n int64) {
	for at := int64(0); at < n; {
		s := w.next(n - at)
		w.write(unsafe.Add(memory, s.at[1]), int(s.stride[1]),
			unsafe.Add(buffer, at), int(s.unit), int(s.count), int(s.unit))
		w.seen.pass(s)
		at += s.unit * s.count
	}
}

// copy copies the next n bytes of the stream from the source's memory to the destination's.
func (w *walker) copy(dst, src unsafe.Pointer, n int64) {
	for done := int64(0); done < n; {
		s := w.next(n - done)
		w.write(unsafe.Add(dst, s.at[1]), int(s.stride[1]),
			unsafe.Add(src, s.at[0]), int(s.stride[0]), int(s.count), int(s.unit))
		w.seen.pass(s)
		done += s.unit * s.count
	}
}
