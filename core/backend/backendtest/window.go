package backendtest

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"dtl/core/backend"
	"dtl/core/dtype"
	"dtl/core/kernel"
	"dtl/core/memory"
	"dtl/core/status"
)

// windowSuites are the parts of Window, in their order.
var windowSuites = []struct {
	name string
	body func(r *rank, p backend.WindowProvider)
}{
	{"parts of any length", putAndGet},
	{"no elements", putNothing},
	{"odd offsets", oddOffsets},
	{"offsets beyond 4 GiB", farOffsets},
	{"flush locally", flushLocally},
	{"flush", flushed},
	{"two windows", twoWindows},
	{"close ends what was begun", closeEnds},
	{"a window outlives its communicator", outlives},
	{"accumulate", accumulate},
	{"sums wrap around", wrapAround},
	{"replace and leave", replaceAndLeave},
	{"fetch and op", fetchAndOp},
	{"NaN and the zeros in windows", nansInWindows},
	{"operators that a type lacks", lackingInWindows},
	{"compare and swap", compareAndSwap},
	{"tickets", tickets},
	{"totals", totals},
	{"compare and swap beside sums", swapsBesideSums},
	{"memory of the library's", libraryMemory},
	{"words", words},
	{"a byte beside swaps", byteBesideSwaps},
}

// Window checks a communicator's windows against the contract of the interface.
func Window(t *testing.T, run Run) {
	WindowIn(t, run, func(backend.ReducingCommunicator) memory.Allocator { return nil })
}

// WindowIn is Window of memory that an allocator of each rank hands out, for windows that are others there.
func WindowIn(t *testing.T, run Run, from func(c backend.ReducingCommunicator) memory.Allocator) {
	for _, suite := range windowSuites {
		t.Run(suite.name, func(t *testing.T) {
			run(t, func(t *testing.T, c backend.ReducingCommunicator) {
				r := &rank{T: t, c: c, from: from(c)}
				defer r.free()
				suite.body(r, c.(backend.WindowProvider))
				r.ok("barrier", c.Barrier())
			})
		})
	}
}

// opened is a window over a buffer of each rank.
type opened struct {
	backend.Window
	r    *rank
	part buffer
}

// expose opens part, and returns when every rank has.
func (r *rank) expose(p backend.WindowProvider, part buffer) opened {
	r.Helper()
	w, err := p.Expose(part.Span)
	if err != nil {
		r.Fatalf("rank %d of %d: expose: %v", r.c.Rank(), r.c.Size(), err)
	}
	return opened{w, r, part}
}

// meet returns when what every rank began has happened, and this one sees it.
func (o opened) meet() {
	o.r.Helper()
	o.r.ok("flush", o.Flush(backend.Every))
	o.r.ok("barrier", o.r.c.Barrier())
	o.r.ok("sync", o.Sync())
}

// close closes the window, and checks that nobody wrote beside it.
func (o opened) close() {
	o.r.Helper()
	o.r.ok("close", o.Close())
	o.part.guarded(o.r, "window")
}

// putAndGet has every rank put a block to each rank, whose part has as many elements a block as its number: none on
// rank 0. All of it is then read back.
func putAndGet(r *rank, p backend.WindowProvider) {
	me, ranks := r.c.Rank(), r.c.Size()
	for _, t := range dtype.All() {
		for _, unit := range []int{1, 50, 5000} {
			if unit > 1 && t != dtype.Float64 {
				continue
			}
			w := r.expose(p, r.room(t, me*unit*ranks))
			for target := range ranks {
				block := r.filled(t, target*unit, uint64(me))
				r.ok("put", w.Put(block.Span, target, int64(me*block.Bytes())))
				r.ok("flush", w.FlushLocal(target))
			}
			w.meet()
			w.part.holds(r, "what was put", r.seeds(0)...)
			for target := range ranks {
				all := r.room(t, target*unit*ranks)
				r.ok("get", w.Get(all.Span, target, 0))
				r.ok("flush", w.FlushLocal(target))
				all.holds(r, "what is there", r.seeds(0)...)
			}
			w.close()
		}
	}
}

// putNothing reaches for no elements, everywhere.
func putNothing(r *rank, p backend.WindowProvider) {
	none := memory.Span{Type: dtype.Float64}
	w := r.expose(p, r.filled(dtype.Float64, r.c.Rank(), 7))
	for target := range r.c.Size() {
		end := int64(8 * target)
		r.ok("put", w.Put(none, target, end))
		r.ok("get", w.Get(none, target, end))
		r.ok("accumulate", w.Accumulate(none, target, end, kernel.Sum))
		r.ok("fetch", w.FetchAndOp(none, none, target, end, kernel.Sum))
		r.ok("flush", w.Flush(target))
		r.ok("flush", w.FlushLocal(target))
	}
	w.meet()
	w.part.holds(r, "untouched", 7)
	w.close()
	empty := r.expose(p, r.room(dtype.Int8, 0))
	empty.meet()
	empty.close()
}

// oddOffsets puts bytes that are aligned to nothing.
func oddOffsets(r *rank, p backend.WindowProvider) {
	const n = 7
	w := r.expose(p, r.room(dtype.Uint8, n*r.c.Size()))
	r.ok("put", w.Put(r.filled(dtype.Uint8, n, uint64(r.c.Rank())).Span, r.next(), int64(n*r.c.Rank())))
	w.meet()
	back := r.room(dtype.Uint8, n)
	r.ok("get", w.Get(back.Span, r.next(), int64(n*r.c.Rank())))
	r.ok("flush", w.FlushLocal(r.next()))
	back.holds(r, "seven bytes", uint64(r.c.Rank()))
	w.close()
}

// farOffsets reaches beyond what 32 bits hold. Nobody touches the memory before it.
func farOffsets(r *rank, p backend.WindowProvider) {
	const size, at = 5 << 30, 1<<32 + 24
	all, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		r.Fatal(err)
	}
	mem := memory.Span{Addr: all, Count: size, Type: dtype.Uint8}
	w, err := p.Expose(mem)
	r.ok("expose", err)
	o := opened{Window: w, r: r}
	r.ok("put", w.Put(r.filled(dtype.Int64, 3, uint64(r.c.Rank())).Span, r.next(), at))
	o.meet()
	there := memory.Span{Addr: unsafe.Add(all, at), Count: 3, Type: dtype.Int64}
	want := r.filled(dtype.Int64, 3, uint64(r.previous()))
	for i, v := range memory.As[int64](there) {
		got(r, "element that was put", v, memory.As[int64](want.Span)[i])
	}
	r.ok("barrier", r.c.Barrier())
	r.ok("accumulate", w.Accumulate(memory.Of(dtype.Int64, r.pinned(1)), r.next(), at+8, kernel.Sum))
	o.meet()
	got(r, "sum", memory.As[int64](there)[1], memory.As[int64](want.Span)[1]+1)
	back, old := r.room(dtype.Int64, 3), r.room(dtype.Int64, 1)
	r.ok("get", w.Get(back.Span, r.previous(), at))
	r.ok("fetch", w.FetchAndOp(old.Span, old.Span, r.previous(), at+8, kernel.NoOp))
	r.ok("flush", w.Flush(r.previous()))
	got(r, "fetched", memory.As[int64](old.Span)[0], memory.As[int64](back.Span)[1])
	r.ok("close", w.Close())
	r.ok("unmap", unix.MunmapPtr(all, size))
}

// pinned returns a value that C code may be given.
func (r *rank) pinned(v int64) []int64 {
	one := []int64{v}
	r.pins.Pin(&one[0])
	return one
}

// flushLocally uses one buffer for what goes to different places.
func flushLocally(r *rank, p backend.WindowProvider) {
	const n = 3000
	w := r.expose(p, r.room(dtype.Int32, 4*n))
	from := r.room(dtype.Int32, n)
	for block := range 4 {
		pattern(from.elements(), dtype.Int32, uint64(block))
		r.ok("put", w.Put(from.Span, r.next(), int64(block*from.Bytes())))
		target := r.next()
		if block%2 == 1 {
			target = backend.Every
		}
		r.ok("flush", w.FlushLocal(target))
	}
	w.meet()
	w.part.holds(r, "blocks", 0, 1, 2, 3)
	w.close()
}

// flushed tells the target by message that something was put there.
func flushed(r *rank, p backend.WindowProvider) {
	w := r.expose(p, r.room(dtype.Float64, 500))
	for round := range uint64(10) {
		r.ok("put", w.Put(r.filled(dtype.Float64, 500, round+uint64(r.c.Rank())).Span, r.next(), 0))
		r.ok("flush", w.Flush(r.next()))
		sent := r.isend(r.room(dtype.Uint8, 0), r.next(), 3)
		r.take(r.room(dtype.Uint8, 0).Span, r.previous(), 3)
		sent()
		r.ok("sync", w.Sync())
		w.part.holds(r, "what was put before the message", round+uint64(r.previous()))
		r.ok("barrier", r.c.Barrier())
	}
	w.close()
}

// twoWindows are apart, although offsets are the same.
func twoWindows(r *rank, p backend.WindowProvider) {
	a, b := r.expose(p, r.room(dtype.Int16, 40)), r.expose(p, r.room(dtype.Int16, 40))
	r.ok("put", a.Put(r.filled(dtype.Int16, 40, 1).Span, r.next(), 0))
	r.ok("put", b.Put(r.filled(dtype.Int16, 40, 2).Span, r.next(), 0))
	a.meet()
	a.part.holds(r, "first window", 1)
	a.close()
	b.meet()
	b.part.holds(r, "second window", 2)
	b.close()
}

// closeEnds flushes nothing.
func closeEnds(r *rank, p backend.WindowProvider) {
	for _, n := range []int{1, large} {
		w := r.expose(p, r.room(dtype.Int64, n*r.c.Size()))
		for target := range r.c.Size() {
			r.ok("put", w.Put(r.filled(dtype.Int64, n, uint64(r.c.Rank())).Span, target, int64(8*n*r.c.Rank())))
		}
		w.close()
		w.part.holds(r, "what was put", r.seeds(0)...)
		r.ok("second close", w.Close())
	}
}

func outlives(r *rank, p backend.WindowProvider) {
	d, err := r.c.Dup()
	r.ok("dup", err)
	w := r.expose(d.(backend.WindowProvider), r.room(dtype.Int8, 3))
	r.ok("close of the communicator", d.Close())
	r.ok("put", w.Put(r.filled(dtype.Int8, 3, 5).Span, r.next(), 0))
	w.meet()
	w.part.holds(r, "what was put", 5)
	w.close()
}

// libraryMemory has every rank write to the next one's part, of another length than its own, where the library allocates parts: it sees
// what is put there, and others get what it has written.
func libraryMemory(r *rank, p backend.WindowProvider) {
	own, ok := p.(backend.AllocatingProvider)
	if !ok {
		return
	}
	me, next := r.c.Rank(), r.next()
	w, part, err := own.Allocate(8*(me+2), false)
	r.ok("allocate", err)
	mine := memory.As[uint64](memory.Span{Addr: part.Addr, Count: me + 2, Type: dtype.Uint64})
	for at, value := range mine {
		got(r, fmt.Sprint("element ", at), value, 0)
	}
	r.ok("barrier", r.c.Barrier())
	mine[0] = uint64(me + 7)
	number, found := r.zeros(dtype.Uint64, 1), r.zeros(dtype.Uint64, 1)
	memory.As[uint64](number.Span)[0] = uint64(me + 1)
	r.ok("put", w.Put(number.Span, next, int64(8*(next+1))))
	r.ok("flush", w.Flush(next))
	r.ok("sync", w.Sync())
	r.ok("barrier", r.c.Barrier())
	r.ok("sync", w.Sync())
	r.ok("get", w.Get(found.Span, next, 0))
	r.ok("flush", w.Flush(next))
	got(r, "what the next rank has written", memory.As[uint64](found.Span)[0], uint64(next+7))
	got(r, "what the rank before has put", mine[me+1], uint64((me-1+r.c.Size())%r.c.Size()+1))
	r.ok("barrier", r.c.Barrier())
	r.ok("close", w.Close())
}

// words has all ranks count in the word of each rank, which the backend has the memory for, and which is 0 at first: by swaps
// and by sums.
func words(r *rank, p backend.WindowProvider) {
	own, ok := p.(backend.AllocatingProvider)
	if !ok {
		return
	}
	w, _, err := own.Allocate(8, true)
	r.ok("allocate a word", err)
	now, next, found := r.zeros(dtype.Uint64, 1), r.zeros(dtype.Uint64, 1), r.zeros(dtype.Uint64, 1)
	value := func(b buffer) *uint64 { return &memory.As[uint64](b.Span)[0] }
	for target := range r.c.Size() {
		*value(next) = 1
		for range turns {
			r.ok("fetch and op", w.FetchAndOp(next.Span, found.Span, target, 0, kernel.Sum))
		}
		for done := 0; done < turns; *value(now) = *value(found) {
			*value(next) = *value(now) + 1
			r.ok("compare and swap", w.CompareAndSwap(now.Span, next.Span, found.Span, target, 0))
			if *value(found) == *value(now) {
				done++
			}
		}
		*value(now) = 0
	}
	r.ok("barrier", r.c.Barrier())
	for target := range r.c.Size() {
		r.ok("fetch", w.FetchAndOp(found.Span, found.Span, target, 0, kernel.NoOp))
		got(r, "total", *value(found), uint64(2*turns*r.c.Size()))
	}
	r.ok("barrier", r.c.Barrier())
	r.ok("close", w.Close())
}

// byteBesideSwaps has all ranks take turns by a word, where that is what the library is good for: who swaps its number in has the
// turn, and puts a byte over it, for which it does not wait. Meanwhile the swaps of the others fail.
func byteBesideSwaps(r *rank, p backend.WindowProvider) {
	own, ok := p.(backend.AllocatingProvider)
	if !ok {
		return
	}
	w, _, err := own.Allocate(8, true)
	r.ok("allocate a word", err)
	defer func() { r.ok("close", w.Close()) }()
	if beside, ok := w.(backend.LockingWindow); !ok || !beside.PutsBesideSwaps() {
		return
	}
	count := r.expose(p, r.zeros(dtype.Int64, 1))
	free, mine, found, now := r.zeros(dtype.Uint64, 1), r.zeros(dtype.Uint64, 1), r.zeros(dtype.Uint64, 1), r.zeros(dtype.Int64, 1)
	at := r.c.Rank() % 8
	mine.elements()[at] = byte(1 + r.c.Rank())
	nothing := r.zeros(dtype.Uint8, 1)
	for target := range r.c.Size() {
		for done := 0; done < turns; {
			r.ok("compare and swap", w.CompareAndSwap(free.Span, mine.Span, found.Span, target, 0))
			if memory.As[uint64](found.Span)[0] != 0 {
				r.advance() // who has the turn may need this rank to go on
				continue
			}
			done++
			r.ok("get", count.Get(now.Span, target, 0))
			r.ok("flush", count.Flush(target))
			memory.As[int64](now.Span)[0]++
			r.ok("put", count.Put(now.Span, target, 0))
			r.ok("flush", count.Flush(target))
			r.ok("put a byte", w.Put(nothing.Span, target, int64(at)))
		}
	}
	count.meet()
	got(r, "turns", memory.As[int64](count.part.Span)[0], int64(turns*r.c.Size()))
	count.close()
}

// advance goes on with what other ranks ask of this one.
func (r *rank) advance() {
	if a, ok := r.c.(backend.Advancer); ok {
		r.ok("advance", a.Advance())
	}
}

// has reports whether an operation that some windows lack is there: else err says that it is not.
func (r *rank) has(what string, err error) bool {
	r.Helper()
	if errors.Is(err, status.Unsupported) {
		return false
	}
	r.ok(what, err)
	return true
}
